#include "frontend/executable.h"

#include <algorithm>
#include <bit>

#include "frontend/evaluate.h"
#include "ir/passes/pipeline.h"
#include "jit/compiler.h"
#include "runtime/copy.h"
#include "runtime/launch.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

// Elements of a block, so that a few arrays of a blocked step stay in the first-level caches.
constexpr int64_t kBlockElements = 2048;

// Kernels with less work than this run while holding the host's lock.
constexpr int64_t kSmallWork = 1 << 14;

std::vector<int64_t> constant_sizes(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.value());
  return sizes;
}

std::vector<int64_t> byte_strides(const Shape& shape, DType dtype) {
  std::vector<int64_t> strides;
  for (const Dim& stride : ir::row_major_strides(shape)) {
    strides.push_back(stride.value() * size_of(dtype));
  }
  return strides;
}

int64_t byte_count(const ir::Buffer& buffer) {
  return buffer.shape.element_count().value() * size_of(buffer.dtype);
}

// One kernel for one size of its outermost loop.
struct PreparedKernel {
  std::shared_ptr<const jit::Code> code;
  runtime::Layout layout;
  runtime::PreparedLaunch launch;  // bases are offsets into the buffers
  std::vector<int> buffers;        // of each array operand
  std::vector<int64_t> block_strides;  // bytes that each operand moves with the outermost loop
  std::vector<int> scalars;
};

struct PreparedStep {
  const ir::Step* source;
  std::vector<PreparedKernel> kernels;
  // Of a blocked step: iterations of the outermost loop, of a block, and kernels for the rest.
  int64_t iterations = 0;
  int64_t block = 0;
  std::vector<PreparedKernel> last_kernels;
};

class ProgramExecutable final : public Executable {
 public:
  ProgramExecutable(ir::Graph graph, std::span<const ArrayLayout> inputs,
                    std::span<const ArrayLayout> outputs);

  void run(const intptr_t* inputs, const uint64_t* scalars,
           const intptr_t* outputs) const override;
  bool is_small() const override { return is_small_; }
  const ir::Program& program() const override { return program_; }
  std::string llvm_ir() const override { return show(jit::llvm_ir); }
  std::string assembly() const override { return show(jit::assembly); }

 private:
  void describe_outputs();
  void place_temporaries();
  std::vector<int> aliases(int buffer) const;
  const std::vector<int64_t>& strides_of(const ir::Operand& operand,
                                         std::vector<int64_t>& scratch) const;
  runtime::Nest nest_of(const ir::Kernel& kernel, int64_t outermost) const;
  PreparedKernel prepare(const ir::Kernel& kernel, int64_t outermost) const;
  PreparedStep prepare(const ir::Step& step) const;
  void run_step(const PreparedStep& step, const intptr_t* buffers,
                const uint64_t* scalars) const;
  void run_kernel(const PreparedKernel& kernel, const intptr_t* buffers, int64_t first,
                  const uint64_t* scalars) const;
  void check(const intptr_t* buffers) const;
  std::string show(std::string (*text)(const ir::Kernel&, const ir::Program&,
                                       const runtime::Layout&, jit::Target)) const;

  jit::Target target_ = jit::default_target();
  ir::Program program_;
  std::vector<std::vector<int64_t>> strides_;  // bytes, of each buffer
  std::vector<PreparedStep> steps_;
  std::vector<int64_t> temporary_offsets_;  // of each buffer in the workspace; -1 for others
  int64_t workspace_bytes_ = 0;
  bool is_small_ = true;
};

}  // namespace
}  // namespace lanewise::frontend
