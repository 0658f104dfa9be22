#include <unordered_map>

#include "ir/passes/passes.h"

namespace lanewise::ir {

bool common_subexpressions(Graph& graph) {
  std::unordered_multimap<size_t, Value> known;  // by the hash of the node
  return rewrite(graph, [&](Builder& builder, const Node& node, std::span<const Value> operands) {
    Node candidate = node;
    std::ranges::copy(operands, candidate.operands.begin());
    const size_t key = hash(candidate);
    const auto [begin, end] = known.equal_range(key);
    for (auto it = begin; it != end; ++it) {
      if (same(builder[it->second], candidate)) return it->second;
    }
    const Value value = builder.clone(node, operands);
    known.emplace(key, value);
    return value;
  });
}

}  // namespace lanewise::ir
