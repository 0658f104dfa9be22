#include "ir/passes/passes.h"

namespace lanewise::ir {

bool rewrite(Graph& graph, const RewriteNode& rewrite_node,
             const std::function<void(Builder& builder)>& begin) {
  Graph result = graph.like();
  Builder builder(result);
  if (begin) begin(builder);
  std::vector<Value> map;
  map.reserve(graph.size());
  for (const Node& node : graph.nodes()) {
    std::array<Value, kMaxArity> operands;
    const auto inputs = node.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) operands[i] = map[inputs[i].index];
    builder.set_source(node.source);
    map.push_back(rewrite_node(builder, node, {operands.data(), inputs.size()}));
  }
  for (const Value output : graph.outputs) result.outputs.push_back(map[output.index]);
  for (Check check : graph.checks) {
    check.predicate = map[check.predicate.index];
    result.checks.push_back(std::move(check));
  }
  const bool changed = !(result == graph);
  graph = std::move(result);
  return changed;
}

}  // namespace lanewise::ir
