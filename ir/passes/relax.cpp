// What fast=True allows: powers by plain products, and products that are added without a rounding
// of their own. Before `expand`, so that the expansions of other functions stay as they are.
#include <vector>

#include "ir/math/math.h"
#include "ir/passes/passes.h"

namespace lanewise::ir {

namespace {

std::vector<int> count_uses(const Graph& graph) {
  std::vector<int> uses(graph.size(), 0);
  for (const Node& node : graph.nodes()) {
    for (const Value operand : node.inputs()) ++uses[operand.index];
  }
  for (const Value output : graph.outputs) ++uses[output.index];
  for (const Check& check : graph.checks) ++uses[check.predicate.index];
  return uses;
}

struct Factors {
  Expr a, b;
};

// a + b or a - b with a product among them that nothing else needs.
class Contraction {
 public:
  Contraction(Builder& builder, const Node& node, std::span<const Value> operands,
              const std::vector<int>& uses)
      : builder_(builder), node_(node), operands_(operands), uses_(uses) {}

  std::optional<Value> value() const {
    const bool subtracts = node_.op == Op::kSubtract;
    if (!is_float(node_.dtype) || (node_.op != Op::kAdd && !subtracts)) return {};
    if (const auto f = factors(0)) {
      const Expr other = builder_.expr(operands_[1]);
      return fma(f->a, f->b, subtracts ? -other : other).value();
    }
    if (const auto f = factors(1)) {
      return fma(subtracts ? -f->a : f->a, f->b, builder_.expr(operands_[0])).value();
    }
    return {};
  }

 private:
  std::optional<Factors> factors(size_t i) const {
    const Node& product = builder_[operands_[i]];
    if (uses_[node_.operands[i].index] > 1) return {};
    const auto operand = [&](size_t j) { return builder_.expr(product.operands[j]); };
    if (product.op == Op::kMultiply) return Factors{operand(0), operand(1)};
    if (product.op == Op::kSquare) return Factors{operand(0), operand(0)};
    return {};
  }

  Builder& builder_;
  const Node& node_;
  std::span<const Value> operands_;
  const std::vector<int>& uses_;
};

}  // namespace

bool relax(Graph& graph) {
  const std::vector<int> uses = count_uses(graph);
  return rewrite(graph, [&](Builder& builder, const Node& node, std::span<const Value> operands) {
    if (node.op == Op::kPowConst && is_float(node.dtype)) {
      const double exponent = node.get<Exponent>().value;
      if (math::has_pow_const(node.dtype, exponent)) {
        return math::fast_pow_const(builder.expr(operands[0]), exponent).value();
      }
    }
    const std::optional<Value> contracted = Contraction(builder, node, operands, uses).value();
    return contracted ? *contracted : builder.clone(node, operands);
  });
}

}  // namespace lanewise::ir
