#include "ir/passes/fusion/prepare.h"

#include "ir/builder.h"
#include "ir/interpret.h"
#include "ir/passes/fusion/facts.h"
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

void make_constant(Node& node, Scalar value) {
  node.op = Op::kConstant;
  node.attribute = value;
  node.operands = {};
}

// Whatever has no elements, reductions and updates that have nothing to work on, positions among
// single elements.
void fold_empty(Graph& graph) {
  for (size_t i = 0; i < graph.size(); ++i) {
    Node& node = graph[graph.value(i)];
    if (node.op == Op::kInput) continue;
    if (node.shape.element_count().is(0)) {
      make_constant(node, Scalar::from_int(node.dtype, 0));
    } else if (node.op == Op::kUpdate && graph[node.operands[1]].shape.element_count().is(0)) {
      node.op = Op::kWindow;
      node.attribute = Window{0, row_major_strides(node.shape)};
      node.operands[1] = {};
    } else if (is_reduction(node.op)) {
      const bool finds = node.op == Op::kArgMin || node.op == Op::kArgMax;
      const Dim count = reduced_count(graph, node);
      if (count.is(0)) {
        make_constant(node, empty_reduction(node.op, graph[node.operands[0]].dtype));
      } else if (finds && count.is(1)) {
        make_constant(node, Scalar::of<int64_t>(0));
      }
    }
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
