// Replaces composite ops by their expansions (ir/math/).
#include <algorithm>

#include "ir/math/math.h"
#include "ir/passes/passes.h"

namespace lanewise::ir {

namespace {

// Calls an expansion with as many operands as it takes; one that reads the node's attribute
// takes it as a last argument. The op table decides which of these forms are in use.
[[maybe_unused]] Expr call(Expr (*f)(const Expr&), const Expr* x, const Node&) { return f(x[0]); }
[[maybe_unused]] Expr call(Expr (*f)(const Expr&, const Expr&), const Expr* x, const Node&) {
  return f(x[0], x[1]);
}
[[maybe_unused]] Expr call(Expr (*f)(const Expr&, const Expr&, const Expr&), const Expr* x,
                           const Node&) {
  return f(x[0], x[1], x[2]);
}
[[maybe_unused]] Expr call(Expr (*f)(const Expr&, double), const Expr* x, const Node& node) {
  return f(x[0], node.get<Exponent>().value);
}

Expr expand_node(const Node& node, const Expr* operands) {
  switch (node.op) {
#define STRUCTURAL(...)
#define PRIMITIVE(...)
#define COMPOSITE(id, name, expansion, ...) \
  case Op::k##id:                           \
    return call(math::expansion, operands, node);
#include "ir/ops.def"
#undef STRUCTURAL
#undef PRIMITIVE
#undef COMPOSITE
    default:
      return {};
  }
}

bool is_single(const Builder& builder, const Node& node, std::span<const Value> operands) {
  const Shape& shape = builder[operands[0]].shape;
  return std::ranges::all_of(node.get<Axes>().axes, [&](int axis) { return shape[axis].is(1); });
}

// Other reductions of single elements are views of them.
Value single_deviation(Builder& builder, const Node& node, Value operand) {
  const Value element =
      builder.window(operand, node.shape, Window{0, row_major_strides(node.shape)});
  return builder.apply(Op::kSubtract, {element, element});
}

}  // namespace

bool expand(Graph& graph) {
  return rewrite(graph, [](Builder& builder, const Node& node, std::span<const Value> operands) {
    if (node.op == Op::kDeviations && is_single(builder, node, operands)) {
      return single_deviation(builder, node, operands[0]);
    }
    if (spec(node.op).kind != OpKind::kComposite) return builder.clone(node, operands);
    Expr expressions[kMaxArity];
    for (size_t i = 0; i < operands.size(); ++i) expressions[i] = builder.expr(operands[i]);
    return expand_node(node, expressions).value();
  });
}

}  // namespace lanewise::ir
