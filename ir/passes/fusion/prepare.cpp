#include "ir/passes/fusion/prepare.h"

#include "ir/builder.h"
#include "ir/interpret.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir::fusion {

namespace {

// What a reduction of no elements gives.
Scalar empty_reduction(Op op, DType dtype) {
  Graph graph;
  Builder builder(graph);
  graph.outputs = {builder.reduce(op, builder.input("x", dtype, Shape{0}), {0})};
  const Tensor nothing(dtype, {0});
  return interpret(graph, {&nothing, 1})[0].element(0);
}

// Reductions and updates that have nothing to work on.
void fold_empty(Graph& graph) {
  for (size_t i = 0; i < graph.size(); ++i) {
    Node& node = graph[graph.value(i)];
    if (node.op == Op::kUpdate && graph[node.operands[1]].shape.element_count().is(0)) {
      node.op = Op::kWindow;
      node.attribute = Window{0, row_major_strides(node.shape)};
      node.operands[1] = {};
    }
    if (!is_reduction(node.op) || node.shape.element_count().is(0)) continue;
    if (!graph[node.operands[0]].shape.element_count().is(0)) continue;
    node.attribute = empty_reduction(node.op, graph[node.operands[0]].dtype);
    node.op = Op::kConstant;
    node.operands = {};
  }
}

// min(select(predicate, row-major number of the element, kNone)).
Value first_failure(Builder& builder, const Check& check) {
  builder.set_source(check.source);
  const Shape shape = builder[check.predicate].shape;
  const Dim count = shape.element_count();
  if (count.is(0)) return {};
  Value number;
  if (shape.rank() == 0) {
    number = builder.constant(Scalar::of<int64_t>(0));
  } else {
    number = builder.window(builder.iota(DType::kI64, Shape{count}, 0), shape,
                            Window{0, row_major_strides(shape)});
  }
  const Value none = builder.constant(Scalar::of<int64_t>(FirstFailure::kNone), shape);
  const Value failures = builder.apply(Op::kSelect, {check.predicate, number, none});
  if (shape.rank() == 0) return failures;
  std::vector<int> axes(static_cast<size_t>(shape.rank()));
  for (int axis = 0; axis < shape.rank(); ++axis) axes[static_cast<size_t>(axis)] = axis;
  return builder.reduce(Op::kMin, failures, std::move(axes));
}

// True for nodes that a check depends on.
std::vector<bool> checked_nodes(const Graph& graph) {
  std::vector<bool> checked(graph.size());
  for (const Check& check : graph.checks) checked[check.predicate.index] = true;
  for (size_t i = graph.size(); i-- > 0;) {
    if (!checked[i]) continue;
    for (const Value operand : graph[graph.value(i)].inputs()) checked[operand.index] = true;
  }
  return checked;
}

// A window on everything: unlike Builder::window this makes a node.
Value copy_of(Graph& graph, Value value) {
  const Node& node = graph[value];
  Node copy{.op = Op::kWindow, .dtype = node.dtype, .shape = node.shape, .source = node.source};
  copy.operands[0] = value;
  copy.attribute = Window{0, row_major_strides(node.shape)};
  return graph.append(std::move(copy));
}

}  // namespace

Prepared prepare(const Graph& original, const FuseOptions& options) {
  for (const Node& node : original.nodes()) {
    if (spec(node.op).kind == OpKind::kComposite || node.op == Op::kLoad) {
      throw InternalError(format("fuse: op '{}' in the graph", node.op));
    }
  }
  Prepared result{original, {}};
  Graph& graph = result.graph;
  fold_empty(graph);
  const std::vector<bool> checked = checked_nodes(graph);
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    Value& output = graph.outputs[i];
    const bool strided = i < options.strided_outputs.size() && options.strided_outputs[i];
    const bool early = output.index < checked.size() && checked[output.index];
    if (strided || (early && graph[output].op != Op::kInput)) output = copy_of(graph, output);
  }
  Builder builder(graph);
  for (const Check& check : graph.checks) result.failures.push_back(first_failure(builder, check));
  return result;
}

}  // namespace lanewise::ir::fusion
