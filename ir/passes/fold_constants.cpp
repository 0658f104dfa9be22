#include <algorithm>

#include "ir/interpret.h"
#include "ir/passes/passes.h"

namespace lanewise::ir {

namespace {

const Scalar* constant_of(const Graph& graph, Value value) {
  return std::get_if<Scalar>(&graph[value].attribute);
}

bool all_constant(const Graph& graph, std::span<const Value> values) {
  return !values.empty() && std::ranges::all_of(values, [&](Value value) {
    return constant_of(graph, value) != nullptr;
  });
}

// A composite means its expansion: interpreted, it folds to the bits that a kernel computes.
Scalar fold_composite(const Node& node, std::span<const Scalar> operands) {
  Graph graph;
  Builder builder(graph);
  std::vector<Value> values;
  for (const Scalar operand : operands) values.push_back(builder.constant(operand));
  Node scalar_node = node;
  scalar_node.shape = {};
  graph.outputs = {builder.clone(scalar_node, values)};
  return interpret(graph, {})[0].element(0);
}

Scalar fold(const Graph& graph, const Node& node, std::span<const Value> operands) {
  std::array<Scalar, kMaxArity> values;
  std::ranges::transform(operands, values.begin(),
                         [&](Value value) { return *constant_of(graph, value); });
  const std::span<const Scalar> scalars(values.data(), operands.size());
  return spec(node.op).kind == OpKind::kComposite ? fold_composite(node, scalars)
                                                  : interpret_element(node, scalars);
}

// Reductions that give back the element that all are equal to; the count must be known not to be
// zero.
bool keeps_equal_elements(Op op, const Node& operand) {
  const bool keeps = op == Op::kMin || op == Op::kMax || op == Op::kAny || op == Op::kAll;
  return keeps && operand.shape.is_constant() && !operand.shape.element_count().is(0);
}

bool folds(const Graph& graph, const Node& node, std::span<const Value> operands) {
  if (!all_constant(graph, operands)) return false;
  if (is_elementwise(node.op) || node.op == Op::kWindow) return true;
  if (node.op == Op::kUpdate) {
    return *constant_of(graph, operands[0]) == *constant_of(graph, operands[1]);
  }
  return keeps_equal_elements(node.op, graph[operands[0]]);
}

Value fold_node(Builder& builder, const Node& node, std::span<const Value> operands) {
  const Graph& graph = builder.graph();
  if (node.op == Op::kIota && node.shape[node.get<Slot>().index].is(1)) {
    return builder.constant(Scalar::from_int(node.dtype, 0), node.shape);
  }
  if (!folds(graph, node, operands)) return builder.clone(node, operands);
  const Scalar value =
      is_elementwise(node.op) ? fold(graph, node, operands) : *constant_of(graph, operands[0]);
  return builder.constant(value, node.shape);
}

}  // namespace

bool fold_constants(Graph& graph) { return rewrite(graph, fold_node); }

}  // namespace lanewise::ir
