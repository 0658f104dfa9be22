// A graph made ready to run for given layouts of its arguments: passes run, kernels compiled,
// launches prepared. Immutable and shared between threads.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/kernel.h"
#include "ir/passes/pipeline.h"
#include "jit/compiler.h"
#include "runtime/memory.h"

namespace lanewise::frontend {

// How an argument or a result lies in memory.
struct ArrayLayout {
  std::vector<int64_t> strides;  // bytes
  // An earlier input whose memory this one is part of, and by how many bytes its first element
  // comes later. Columns of one array share loads that way.
  int part_of = -1;
  int64_t offset = 0;
};

struct BuildOptions {
  ir::PassOptions passes = ir::PassOptions::from_environment();
  jit::Target target = jit::default_target();
};

class Executable {
 public:
  // `graph` with constant sizes. `inputs` and `outputs` give the strides of each. An output
  // without strides (empty, rank > 0) is row-major.
  static std::shared_ptr<const Executable> build(const ir::Graph& graph,
                                                 std::span<const ArrayLayout> inputs,
                                                 std::span<const ArrayLayout> outputs,
                                                 const BuildOptions& options = {});
  virtual ~Executable() = default;

  struct OutputSpec {
    DType dtype;
    std::vector<int64_t> shape;
    std::vector<int64_t> strides;  // bytes
    int64_t bytes;
    // The input whose contents this output starts with (ir::Buffer::starts_as), or -1. The
    // caller may pass that input's own memory if nobody else reads it; otherwise run() copies.
    int starts_as = -1;
    // Inputs that are read at just the element that is being written if their first element lies
    // `offset` bytes after that of this output: they may then be the same memory.
    struct Alias {
      int input;
      int64_t offset;
      friend bool operator==(const Alias&, const Alias&) = default;
    };
    std::vector<Alias> may_alias = {};
  };
  const std::vector<OutputSpec>& outputs() const { return outputs_; }

  // Runs: addresses of the first element of each input and output, bits of each scalar. Outputs
  // must not overlap inputs, except as `starts_as` allows. Called without the host's lock.
  // Throws ValueError where a check fails, before the first store to an output.
  virtual void run(const intptr_t* inputs, const uint64_t* scalars,
                   const intptr_t* outputs) const = 0;

  // Work too short to be worth releasing the host's lock.
  virtual bool is_small() const = 0;

  // The program, as users see it ("optimized"), and its kernels' code ("llvm", "asm").
  virtual const ir::Program& program() const = 0;
  virtual std::string llvm_ir() const = 0;
  virtual std::string assembly() const = 0;

 protected:
  std::vector<OutputSpec> outputs_;
};

}  // namespace lanewise::frontend
