#include "ir/passes/passes.h"

namespace lanewise::ir {

namespace {

std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.size());
  for (const Value output : graph.outputs) needed[output.index] = true;
  for (const Check& check : graph.checks) needed[check.predicate.index] = true;
  for (size_t i = graph.size(); i-- > 0;) {
    const Node& node = graph.nodes()[i];
    if (node.op == Op::kInput) needed[i] = true;
    if (!needed[i]) continue;
    for (const Value operand : node.inputs()) needed[operand.index] = true;
  }
  return needed;
}

}  // namespace

bool dead_code(Graph& graph) {
  const std::vector<bool> needed = needed_nodes(graph);
  size_t index = 0;
  return rewrite(graph, [&](Builder& builder, const Node& node, std::span<const Value> operands) {
    return needed[index++] ? builder.clone(node, operands) : Value{};
  });
}

}  // namespace lanewise::ir
