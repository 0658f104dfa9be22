#include "ir/passes/fusion/facts.h"

#include <algorithm>

#include "ir/index_map.h"

namespace lanewise::ir::fusion {

namespace {

constexpr uint32_t kMostWork = 1 << 20;

uint32_t own_work(Op op) {
  switch (op) {
    case Op::kDivide:
    case Op::kSqrt:
      return 8;
    case Op::kQuotient:
      return 16;
    case Op::kTableLookup:
    case Op::kMultiplyHigh:
    case Op::kScale2:
      return 4;
    case Op::kConstant:
    case Op::kScalar:
    case Op::kWindow:
      return 0;
    default:
      return 1;
  }
}

uint32_t work_of(const Node& node, const std::vector<Facts>& facts) {
  const bool stored =
      node.op == Op::kInput || node.op == Op::kUpdate || is_reduction(node.op) || is_scan(node.op);
  if (stored) return kLoadWork;
  uint32_t work = own_work(node.op);
  auto operands = node.inputs();
  if (node.op == Op::kRare) operands = operands.first(2);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (std::ranges::find(operands.first(i), operands[i]) != operands.begin() + i) continue;
    work += facts[operands[i].index].work;
  }
  return std::min(work, kMostWork);
}

// Each element of the operand once: a reshape or a permutation.
bool reorders(const Graph& graph, const Node& window) {
  const Shape& operand = graph[window.operands[0]].shape;
  if (operand.element_count() != window.shape.element_count()) return false;
  Loops loops;
  const IndexMap map = append_loops(window.shape, loops);
  return covering_loops(compose(map, window.get<Window>(), operand, loops), loops).has_value();
}

Dim rows_of(const Graph& graph, const Node& node, const std::vector<Facts>& facts) {
  if (is_reduction(node.op)) {
    const Dim count = reduced_count(graph, node);
    return count.is(1) ? facts[node.operands[0].index].rows : count;
  }
  if (node.op == Op::kUpdate || is_scan(node.op)) return kNoRows;
  Dim rows = kNoRows;
  for (const Value operand : node.inputs()) {
    const Dim& other = facts[operand.index].rows;
    if (other.is(kNoRows) || other == rows) continue;
    rows = rows.is(kNoRows) ? other : Dim(kMixedRows);
  }
  if (node.op == Op::kWindow && !rows.is(kNoRows) && !reorders(graph, node)) return kNoRows;
  return rows;
}

}  // namespace

std::vector<Facts> analyze(const Graph& graph) {
  std::vector<Facts> facts;
  facts.reserve(graph.size());
  for (const Node& node : graph.nodes()) {
    facts.push_back({work_of(node, facts), rows_of(graph, node, facts)});
  }
  return facts;
}

Shape reduced_shape(const Graph& graph, const Node& reduction) {
  const Shape& operand = graph[reduction.operands[0]].shape;
  std::vector<Dim> sizes;
  for (const int axis : reduction.get<Axes>().axes) sizes.push_back(operand[axis]);
  return Shape(std::move(sizes));
}

Dim reduced_count(const Graph& graph, const Node& reduction) {
  return reduced_shape(graph, reduction).element_count();
}

double estimate(const Dim& size) {
  if (size.is_constant()) return static_cast<double>(size.value());
  std::vector<std::pair<std::string, int64_t>> values;
  for (std::string& symbol : size.symbols()) values.emplace_back(std::move(symbol), 1024);
  return static_cast<double>(size.evaluate(values));
}

}  // namespace lanewise::ir::fusion
