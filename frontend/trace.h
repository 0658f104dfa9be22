// lw.jit: a function traced once per dtypes and shapes of its arguments, then called straight.
// The embedding language flattens arguments and results; here they are flat lists.
#pragma once

#include <memory>
#include <optional>
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

// While one of these lives, this thread is tracing: random draws are refused, and traced values can
// be written only to arrays that were made since.
class TracingScope {
 public:
  TracingScope();
  ~TracingScope();
  TracingScope(const TracingScope&) = delete;
  TracingScope& operator=(const TracingScope&) = delete;
  // The number of the innermost one of this thread, not used twice; 0 if there is none.
  static uint64_t current();
  static bool active() { return current() != 0; }

 private:
  uint64_t outer_;
};

// ValueError: a traced array is used after the call that it was an argument of.
[[noreturn]] void fail_kept();

// A traced function: a graph of its array and scalar arguments, made ready for each layout of the
// arguments that occurs. Callers exclude each other, as with the GIL.
class Trace {
 public:
  struct Parameter {
    std::string name;
    DType dtype = DType::kF64;
    Shape shape = {};
    std::optional<Weak> number = {};  // a Python number: a run-time scalar
    bool by_value = false;            // a run-time scalar of its own dtype
  };

  explicit Trace(std::string name, std::vector<Parameter> parameters, bool fast = false);
  ~Trace();

  // What to pass to the traced function for parameter i.
  Argument argument(size_t i) const;
  // Further scalar arguments (int64) after the number parameters: values of sizes.
  void add_size_scalars(size_t count);
  // Ends tracing. Results may depend on arguments and on captured arrays, whose values of now are
  // constants of the trace.
  void finish(std::span<const Array> results);

  const ir::Graph& graph() const { return graph_; }
  bool is_fast() const { return fast_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  // Inputs of the graph after the array parameters, and scalars after the number parameters.
  std::span<const CallArray> captured() const { return captured_data_; }
  std::span<const uint64_t> literals() const { return literals_; }
  DType result_dtype(size_t i) const { return graph_[graph_.outputs[i]].dtype; }
  const Shape& result_shape(size_t i) const { return graph_[graph_.outputs[i]].shape; }

  // Runs on arrays (in the order of array parameters) and numbers (bits of default_dtype(weak), in
  // the order of number parameters). `out`: empty, or one for each result, with data == nullptr
  // where memory is to be allocated. Returns the results; where an out was given, an empty Array.
  // An out may overlap arguments: the result is as if computed first.
  std::vector<Array> call(std::span<const CallArray> arrays, std::span<const uint64_t> numbers,
                          std::span<const CallArray> out) const;

  // For showing code: the executable for row-major arguments.
  std::shared_ptr<const Executable> executable() const;

 private:
  struct Binding;
  class Call;
  const Binding& binding(std::span<const CallArray> arrays, std::span<const CallArray> out) const;

  bool fast_;  // ir::PassOptions::fast
  std::vector<Parameter> parameters_;
  std::vector<NodeRef> parameter_nodes_;
  size_t array_count_ = 0;
  size_t number_count_ = 0;
  ir::Graph graph_;
  std::vector<NodeRef> captured_;         // keeps the memory of captured leaves
  std::vector<CallArray> captured_data_;  // inputs of the graph after the array parameters
  std::vector<std::vector<int64_t>> captured_strides_;
  std::vector<uint64_t> literals_;  // scalars of the graph after the number parameters
  // Most recently used first.
  mutable std::vector<std::unique_ptr<Binding>> bindings_;
};

}  // namespace lanewise::frontend
