#include "frontend/trace.h"

#include <algorithm>
#include <atomic>
#include <unordered_set>

#include "frontend/evaluate.h"
#include "frontend/lower.h"
#include "frontend/sizes.h"
#include "frontend/strides.h"
#include "runtime/copy.h"
#include "support/error.h"
#include "support/format.h"
#include "support/inline_array.h"

namespace lanewise::frontend {

namespace {

std::atomic<uint64_t> last_scope = 0;
thread_local uint64_t t_scope = 0;

// Variants by layout that one trace keeps.
constexpr size_t kBindingLimit = 16;

}  // namespace

TracingScope::TracingScope() : outer_(t_scope) {
  t_scope = last_scope.fetch_add(1, std::memory_order_relaxed) + 1;
}
TracingScope::~TracingScope() { t_scope = outer_; }
uint64_t TracingScope::current() { return t_scope; }

// An executable and the strides of arguments and outs it is for.
struct Trace::Binding {
  std::vector<int64_t> strides;
  std::shared_ptr<const Executable> executable;
};

Trace::Trace(std::string name, std::vector<Parameter> parameters, bool fast)
    : fast_(fast), parameters_(std::move(parameters)) {
  graph_.name = std::move(name);
  for (const Parameter& parameter : parameters_) {
    if (parameter.number || parameter.by_value) {
      const DType dtype = parameter.number ? default_dtype(*parameter.number) : parameter.dtype;
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

Trace::~Trace() = default;

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

// Pending work that does not depend on arguments and is used by work that does. ValueError where
// a result depends on an argument that is not one of `parameters`.
std::vector<NodeRef> captured_work(std::span<const NodeRef> results,
                                   std::span<const NodeRef> parameters) {
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
    const bool is_scalar =
        node->op() == Op::kScalar && std::holds_alternative<ir::Slot>(node->attribute());
    // The values of sizes are arguments too, though no parameters.
    const bool is_size = is_scalar && SymbolicSizes::current() != nullptr;
    if ((node->op() == Op::kInput || is_scalar) && !is_size &&
        std::ranges::find(parameters, node) == parameters.end()) {
      fail_kept();
    }
    for (const NodeRef& operand : node->operands()) stack.push_back(&operand);
  }
  return captured;
}

}  // namespace

void fail_kept() {
  throw ValueError("jit: a traced array was kept from another call, whose trace has ended");
}

void Trace::add_size_scalars(size_t count) {
  graph_.scalars.insert(graph_.scalars.end(), count, DType::kI64);
}

void Trace::finish(std::span<const Array> results) {
  std::vector<NodeRef> nodes;
  std::vector<Node*> roots;
  for (const Array& result : results) nodes.push_back(result.node());
  evaluate_nodes(captured_work(nodes, parameter_nodes_));
  for (const NodeRef& node : nodes) roots.push_back(node.get());
  const Recorded recorded(roots);
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
template <class Sizes>
std::pair<const char*, const char*> extent(const CallArray& array, const Sizes& shape,
                                           int64_t item) {
  const char* low = array.data;
  const char* high = array.data + item;
  const int64_t* stride = array.strides;
  for (const Dim size : shape) {
    if (size.is(0)) return {array.data, array.data};
    const int64_t reach = *stride++ * (size.value() - 1);
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
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
  BuildOptions options;
  options.passes.fast = fast_;
  host().unlocked([&] { made->executable = Executable::build(graph_, inputs, outputs, options); });
  bindings_.insert(bindings_.begin(), std::move(made));
  if (bindings_.size() > kBindingLimit) bindings_.pop_back();
  return *bindings_.front();
}

namespace {

// Whether writing to `out` while computing could change what is still to be read of `inputs`, the
// graph's inputs from number `first` on.
bool must_buffer(const Executable::OutputSpec& spec, const CallArray& out,
                 std::span<const CallArray> inputs, size_t first, const ir::Graph& graph) {
  const auto [low, high] = extent(out, spec.shape, size_of(spec.dtype));
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Parameter& input = graph.inputs[first + i];
    const auto [from, to] = extent(inputs[i], input.shape, size_of(input.dtype));
    if (from >= high || low >= to) continue;
    const Executable::OutputSpec::Alias alias{static_cast<int>(first + i),
                                              inputs[i].data - out.data};
    if (std::ranges::find(spec.may_alias, alias) == spec.may_alias.end()) return true;
  }
  return false;
}

bool overlap(const Executable::OutputSpec& a_spec, const CallArray& a,
             const Executable::OutputSpec& b_spec, const CallArray& b) {
  const auto [a_low, a_high] = extent(a, a_spec.shape, size_of(a_spec.dtype));
  const auto [b_low, b_high] = extent(b, b_spec.shape, size_of(b_spec.dtype));
  return a_low < b_high && b_low < a_high;
}

}  // namespace

// One call: where everything lies, on the stack for the usual numbers of arguments.
class Trace::Call {
 public:
  Call(const Trace& trace, std::span<const CallArray> arrays, std::span<const uint64_t> numbers,
       std::span<const CallArray> out)
      : trace_(trace),
        arrays_(arrays),
        out_(out),
        executable_(trace.binding(arrays, out).executable),
        count_(executable_->outputs().size()),
        inputs_(arrays.size() + trace.captured_data_.size()),
        scalars_(numbers.size() + trace.literals_.size()),
        outputs_(count_),
        memory_(count_) {
    std::ranges::transform(arrays, inputs_.data(), address);
    std::ranges::transform(trace.captured_data_, inputs_.data() + arrays.size(), address);
    std::ranges::copy(numbers, scalars_.data());
    std::ranges::copy(trace.literals_, scalars_.data() + numbers.size());
  }

  std::vector<Array> run() {
    buffer_overlapping();
    for (size_t i = 0; i < count_; ++i) {
      outputs_[i] = is_direct(i) ? address(out_[i]) : allocate(i);
    }
    const auto work = [&] { executable_->run(inputs_.data(), scalars_.data(), outputs_.data()); };
    if (executable_->is_small()) {
      work();
    } else {
      host().unlocked(work);
    }
    std::vector<Array> results(count_);
    for (size_t i = 0; i < count_; ++i) {
      if (is_given(i)) {
        if (!is_direct(i)) copy_to_out(i);
      } else {
        results[i] =
            Array(Node::leaf(spec(i).dtype, trace_.result_shape(i), std::move(memory_[i])));
      }
    }
    return results;
  }

 private:
  static intptr_t address(const CallArray& array) { return reinterpret_cast<intptr_t>(array.data); }
  const Executable::OutputSpec& spec(size_t i) const { return executable_->outputs()[i]; }
  bool is_given(size_t i) const { return i < out_.size() && out_[i].data != nullptr; }
  bool is_direct(size_t i) const { return is_given(i) && (buffered_.empty() || !buffered_[i]); }

  intptr_t allocate(size_t i) {
    memory_[i] = {runtime::Buffer::allocate(static_cast<size_t>(spec(i).bytes)), 0};
    return reinterpret_cast<intptr_t>(memory_[i].data());
  }

  // An out that overlaps an argument or another out is computed elsewhere and copied.
  void buffer_overlapping() {
    for (size_t i = 0; i < out_.size(); ++i) {
      if (!is_given(i) || !overlaps(i)) continue;
      buffered_.resize(count_, false);
      buffered_[i] = true;
    }
    if (buffered_.empty()) return;
    std::vector<CallArray> direct(out_.begin(), out_.end());
    for (size_t i = 0; i < direct.size(); ++i) {
      if (buffered_[i]) direct[i] = {};
    }
    executable_ = trace_.binding(arrays_, direct).executable;
  }

  bool overlaps(size_t i) const {
    for (size_t j = 0; j < i; ++j) {
      if (is_direct(j) && overlap(spec(i), out_[i], spec(j), out_[j])) return true;
    }
    return must_buffer(spec(i), out_[i], arrays_, 0, trace_.graph_) ||
           must_buffer(spec(i), out_[i], trace_.captured_data_, arrays_.size(), trace_.graph_);
  }

  void copy_to_out(size_t i) const {
    runtime::copy_strided(out_[i].data, {out_[i].strides, spec(i).shape.size()}, memory_[i].data(),
                          spec(i).strides, spec(i).shape, size_of(spec(i).dtype));
  }

  const Trace& trace_;
  std::span<const CallArray> arrays_;
  std::span<const CallArray> out_;
  // Kept alive here: another thread may call with other layouts while the lock is released.
  std::shared_ptr<const Executable> executable_;
  size_t count_;
  InlineArray<intptr_t, 16> inputs_;
  InlineArray<uint64_t, 16> scalars_;
  InlineArray<intptr_t, 8> outputs_;
  std::vector<LeafData> memory_;
  std::vector<bool> buffered_;  // empty: none
};

std::vector<Array> Trace::call(std::span<const CallArray> arrays, std::span<const uint64_t> numbers,
                               std::span<const CallArray> out) const {
  return Call(*this, arrays, numbers, out).run();
}

std::shared_ptr<const Executable> Trace::executable() const {
  std::vector<CallArray> arrays;
  std::vector<std::vector<int64_t>> strides;
  strides.reserve(array_count_);
  for (size_t i = 0; i < array_count_; ++i) {
    const ir::Parameter& input = graph_.inputs[i];
    strides.push_back(row_major_byte_strides(input.shape, input.dtype));
    arrays.push_back({nullptr, strides.back().data()});
  }
  return binding(arrays, {}).executable;
}

}  // namespace lanewise::frontend
