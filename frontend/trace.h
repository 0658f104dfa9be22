// lw.jit: a function traced once per dtypes and shapes of its arguments, then called straight.
// The embedding language flattens arguments and results; here they are flat lists.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/array.h"
#include "frontend/executable.h"
#include "frontend/ops.h"

namespace lanewise::frontend {

// One array argument of a call: where it lies. Shape and dtype are those of the trace.
struct CallArray {
  char* data = nullptr;
  const int64_t* strides = nullptr;  // bytes
};

// A traced function: a graph of its array and scalar arguments.
class Trace {
 public:
  struct Parameter {
    std::string name;
    DType dtype;
    Shape shape;
    bool number = false;  // a Python number: a run-time scalar of its default dtype
    Weak weak = Weak::kFloat;
  };

  explicit Trace(std::string name, std::vector<Parameter> parameters);

  // What to pass to the traced Python function for parameter i.
  Argument argument(size_t i) const;
  // Ends tracing. Each result depends on arguments, captured values (evaluated here, constants of
  // the trace) or both.
  void finish(std::span<const Argument> results);

  const ir::Graph& graph() const { return graph_; }
  size_t result_count() const;

  // Runs on arrays (in the order of array parameters) and numbers (bits, as their dtype). `out`:
  // empty, or one for each result with data == nullptr where memory is to be allocated. Returns new
  // arrays, or for given outs nothing at that place. Overlap of outs with inputs is handled.
  std::vector<Array> call(std::span<const CallArray> arrays, std::span<const uint64_t> numbers,
                          std::span<const CallArray> out) const;

  std::shared_ptr<const Executable> executable(std::span<const ArrayLayout> inputs,
                                               std::span<const ArrayLayout> outputs) const;

 private:
  struct Implementation;
  ir::Graph graph_;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace lanewise::frontend
