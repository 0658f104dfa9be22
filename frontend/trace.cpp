#include "frontend/trace.h"

#include <algorithm>
#include <unordered_set>

#include "frontend/evaluate.h"
#include "frontend/lower.h"
#include "runtime/copy.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

thread_local int tracing_depth = 0;

// Variants by layout that one trace keeps.
constexpr size_t kBindingLimit = 16;

}  // namespace

TracingScope::TracingScope() { ++tracing_depth; }
TracingScope::~TracingScope() { --tracing_depth; }
bool TracingScope::active() { return tracing_depth > 0; }

// An executable and the strides of arguments and outs it is for.
struct Trace::Binding {
  std::vector<int64_t> strides;
  std::shared_ptr<const Executable> executable;
};

Trace::Trace(std::string name, std::vector<Parameter> parameters)
    : parameters_(std::move(parameters)) {
  graph_.name = std::move(name);
  for (const Parameter& parameter : parameters_) {
    if (parameter.number) {
      const DType dtype = default_dtype(*parameter.number);
      const ir::Slot slot{static_cast<int>(number_count_++)};
      graph_.scalars.push_back(dtype);
      parameter_nodes_.push_back(Node::make(Op::kScalar, dtype, {}, {}, slot));
    } else {
      const ir::Slot slot{static_cast<int>(array_count_++)};
      graph_.inputs.push_back({parameter.name, parameter.dtype, parameter.shape, false});
      parameter_nodes_.push_back(
          Node::make(Op::kInput, parameter.dtype, parameter.shape, {}, slot));
    }
  }
}

Argument Trace::argument(size_t i) const {
  const Parameter& parameter = parameters_[i];
  if (parameter.number) return Number{*parameter.number, int64_t{0}, parameter_nodes_[i]};
  Array array(parameter_nodes_[i]);
  array.storage()->read_only_reason =
      format("argument '{}' of a jit-compiled function is read-only; use out= when calling it",
             parameter.name);
  return array;
}

namespace {

// Pending work that does not depend on arguments and is used by work that does.
std::vector<NodeRef> captured_work(std::span<const NodeRef> results) {
  std::vector<NodeRef> captured;
  std::unordered_set<const Node*> seen;
  std::vector<const NodeRef*> stack;
  for (const NodeRef& result : results) stack.push_back(&result);
  while (!stack.empty()) {
    const NodeRef& node = *stack.back();
    stack.pop_back();
    if (node->is_leaf() || !seen.insert(node.get()).second) continue;
    if (!node->is_traced()) {
      if (!node->operands().empty()) captured.push_back(node);
      continue;
    }
    for (const NodeRef& operand : node->operands()) stack.push_back(&operand);
  }
  return captured;
}

}  // namespace

void Trace::finish(std::span<const Array> results) {
  std::vector<NodeRef> nodes;
  std::vector<Node*> roots;
  for (const Array& result : results) nodes.push_back(result.node());
  evaluate_nodes(captured_work(nodes));
  for (const NodeRef& node : nodes) roots.push_back(node.get());
  Recorded recorded(roots);
  for (Node* root : roots) recorded.add_output(root);
  graph_.outputs = recorded.append_to(graph_);
  std::vector<ArrayLayout> layouts = recorded.layouts();
  for (size_t i = 0; i < layouts.size(); ++i) {
    captured_.emplace_back(recorded.leaves()[i].leaf);
    captured_strides_.push_back(std::move(layouts[i].strides));
    captured_data_.push_back({recorded.leaves()[i].data(), captured_strides_.back().data()});
  }
  for (const Scalar& scalar : recorded.scalars()) literals_.push_back(scalar.bits);
}

// ---- calls ---------------------------------------------------------------------------------

namespace {

// Calls f(strides, rank) for each argument, then for each out that is given; false ends it.
template <class F>
bool for_each_layout(const ir::Graph& graph, std::span<const CallArray> arrays,
                     std::span<const CallArray> out, F f) {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!f(arrays[i].strides, graph.inputs[i].shape.rank())) return false;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    const int rank = out[i].data ? graph[graph.outputs[i]].shape.rank() : 0;
    if (!f(out[i].strides, rank)) return false;
  }
  return true;
}

bool matches(const std::vector<int64_t>& expected, const ir::Graph& graph,
             std::span<const CallArray> arrays, std::span<const CallArray> out) {
  size_t at = 0;
  const bool equal = for_each_layout(graph, arrays, out, [&](const int64_t* strides, int rank) {
    const auto count = static_cast<size_t>(rank);
    const bool fits = at + count <= expected.size() &&
                      std::equal(strides, strides + count, expected.begin() + at);
    at += count;
    return fits;
  });
  return equal && at == expected.size();
}

// First and one past last byte of an array.
std::pair<const char*, const char*> extent(const char* data, const int64_t* strides,
                                           const std::vector<int64_t>& shape, int64_t item) {
  const char* low = data;
  const char* high = data + item;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return {data, data};
    const int64_t reach = strides[axis] * (shape[axis] - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

std::vector<int64_t> constant_shape(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.value());
  return sizes;
}

}  // namespace

const Trace::Binding& Trace::binding(std::span<const CallArray> arrays,
                                     std::span<const CallArray> out) const {
  for (size_t i = 0; i < bindings_.size(); ++i) {
    if (matches(bindings_[i]->strides, graph_, arrays, out)) {
      std::rotate(bindings_.begin(), bindings_.begin() + static_cast<ptrdiff_t>(i),
                  bindings_.begin() + static_cast<ptrdiff_t>(i) + 1);
      return *bindings_.front();
    }
  }
  auto made = std::make_unique<Binding>();
  std::vector<ArrayLayout> layouts;
  for_each_layout(graph_, arrays, out, [&](const int64_t* strides, int rank) {
    layouts.push_back({.strides = {strides, strides + rank}});
    made->strides.insert(made->strides.end(), strides, strides + rank);
    return true;
  });
  const auto end_of_inputs = layouts.begin() + static_cast<ptrdiff_t>(arrays.size());
  std::vector<ArrayLayout> inputs(layouts.begin(), end_of_inputs);
  const std::vector<ArrayLayout> outputs(end_of_inputs, layouts.end());
  for (const auto& strides : captured_strides_) inputs.push_back({.strides = strides});
  host().unlocked([&] { made->executable = Executable::build(graph_, inputs, outputs); });
  bindings_.insert(bindings_.begin(), std::move(made));
  if (bindings_.size() > kBindingLimit) bindings_.pop_back();
  return *bindings_.front();
}

namespace {

// Whether writing to `out` while computing could change what is still to be read.
bool must_buffer(const Executable::OutputSpec& spec, const CallArray& out,
                 std::span<const CallArray> inputs, const ir::Graph& graph) {
  const auto [low, high] = extent(out.data, out.strides, spec.shape, size_of(spec.dtype));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Parameter& input = graph.inputs[i];
    const auto shape = constant_shape(input.shape);
    const auto [from, to] = extent(inputs[i].data, inputs[i].strides, shape, size_of(input.dtype));
    if (from >= high || low >= to) continue;
    const Executable::OutputSpec::Alias alias{static_cast<int>(i), inputs[i].data - out.data};
    if (std::ranges::find(spec.may_alias, alias) == spec.may_alias.end()) return true;
  }
  return false;
}

bool overlap(const Executable::OutputSpec& a_spec, const CallArray& a,
             const Executable::OutputSpec& b_spec, const CallArray& b) {
  const auto [a_low, a_high] = extent(a.data, a.strides, a_spec.shape, size_of(a_spec.dtype));
  const auto [b_low, b_high] = extent(b.data, b.strides, b_spec.shape, size_of(b_spec.dtype));
  return a_low < b_high && b_low < a_high;
}

}  // namespace

std::vector<Array> Trace::call(std::span<const CallArray> arrays,
                               std::span<const uint64_t> numbers,
                               std::span<const CallArray> out) const {
  // Kept alive here: another thread may call with other layouts while the lock is released.
  std::shared_ptr<const Executable> executable = binding(arrays, out).executable;
  std::vector<CallArray> inputs(arrays.begin(), arrays.end());
  inputs.insert(inputs.end(), captured_data_.begin(), captured_data_.end());
  const auto& specs = executable->outputs();

  // An out that overlaps an argument or another out is computed elsewhere and copied.
  std::vector<LeafData> memory(specs.size());
  std::vector<char> buffered(specs.size(), 0);
  bool any_buffered = false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!out[i].data) continue;
    buffered[i] = must_buffer(specs[i], out[i], inputs, graph_);
    for (size_t j = 0; j < i && !buffered[i]; ++j) {
      buffered[i] = out[j].data && overlap(specs[i], out[i], specs[j], out[j]);
    }
    any_buffered |= buffered[i] != 0;
  }
  if (any_buffered) {
    std::vector<CallArray> direct(out.begin(), out.end());
    for (size_t i = 0; i < out.size(); ++i) {
      if (buffered[i]) direct[i] = {};
    }
    executable = binding(arrays, direct).executable;
  }

  std::vector<intptr_t> input_addresses, output_addresses;
  for (const CallArray& input : inputs) {
    input_addresses.push_back(reinterpret_cast<intptr_t>(input.data));
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    char* data = i < out.size() && !buffered[i] ? out[i].data : nullptr;
    if (!data) {
      memory[i] = {runtime::Buffer::allocate(static_cast<size_t>(executable->outputs()[i].bytes)), 0};
      data = memory[i].data();
    }
    output_addresses.push_back(reinterpret_cast<intptr_t>(data));
  }
  std::vector<uint64_t> scalars(numbers.begin(), numbers.end());
  scalars.insert(scalars.end(), literals_.begin(), literals_.end());
  const auto run = [&] {
    executable->run(input_addresses.data(), scalars.data(), output_addresses.data());
  };
  if (executable->is_small()) {
    run();
  } else {
    host().unlocked(run);
  }

  std::vector<Array> results(specs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    if (i < out.size() && out[i].data) {
      if (buffered[i]) {
        runtime::copy_strided(out[i].data, {out[i].strides, specs[i].shape.size()},
                              memory[i].data(), executable->outputs()[i].strides,
                              specs[i].shape, size_of(specs[i].dtype));
      }
    } else {
      results[i] = Array(Node::leaf(specs[i].dtype, result_shape(i), std::move(memory[i])));
    }
  }
  return results;
}

std::shared_ptr<const Executable> Trace::executable() const {
  std::vector<CallArray> arrays;
  std::vector<std::vector<int64_t>> strides;
  strides.reserve(array_count_);
  for (size_t i = 0; i < array_count_; ++i) {
    const ir::Parameter& input = graph_.inputs[i];
    std::vector<int64_t> bytes;
    for (const Dim& stride : ir::row_major_strides(input.shape)) {
      bytes.push_back(stride.value() * size_of(input.dtype));
    }
    strides.push_back(std::move(bytes));
    arrays.push_back({nullptr, strides.back().data()});
  }
  return binding(arrays, {}).executable;
}

}  // namespace lanewise::frontend
