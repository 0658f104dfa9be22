#include "ir/graph.h"

#include <algorithm>

namespace lanewise::ir {

bool same(const Node& a, const Node& b) {
  return a.op == b.op && a.dtype == b.dtype && a.operands == b.operands && a.shape == b.shape &&
         a.attribute == b.attribute;
}

namespace {

size_t mix(size_t hash, size_t value) { return (hash ^ value) * 0x9e3779b97f4a7c15 + (hash >> 29); }

struct AttributeHash {
  size_t operator()(std::monostate) const { return 0; }
  size_t operator()(const lanewise::Scalar& s) const { return mix(s.bits, size_t(s.dtype)); }
  size_t operator()(const Slot& slot) const { return static_cast<size_t>(slot.index); }
  size_t operator()(const Window& window) const {
    size_t hash = window.offset.hash();
    for (const Dim& stride : window.strides) hash = mix(hash, stride.hash());
    return hash;
  }
  size_t operator()(const Axes& axes) const {
    size_t hash = 0;
    for (const int axis : axes.axes) hash = mix(hash, static_cast<size_t>(axis));
    return hash;
  }
  size_t operator()(const Exponent& e) const { return std::bit_cast<uint64_t>(e.value); }
  size_t operator()(const Table* table) const { return std::hash<const void*>{}(table); }
};

bool same_check(const Check& a, const Check& b) {
  return a.predicate == b.predicate && a.message == b.message;
}

}  // namespace

size_t hash(const Node& node) {
  size_t hash = mix(static_cast<size_t>(node.op), static_cast<size_t>(node.dtype));
  for (const Value operand : node.inputs()) hash = mix(hash, operand.index);
  hash = mix(hash, node.shape.hash());
  return mix(hash, std::visit(AttributeHash{}, node.attribute));
}

Graph Graph::like() const {
  Graph graph;
  graph.name = name;
  graph.inputs = inputs;
  graph.scalars = scalars;
  return graph;
}

bool operator==(const Graph& a, const Graph& b) {
  return a.name == b.name && a.inputs == b.inputs && a.scalars == b.scalars &&
         a.outputs == b.outputs && std::ranges::equal(a.checks, b.checks, same_check) &&
         std::ranges::equal(a.nodes(), b.nodes(), same);
}

bool is_identity(const Window& window, const Shape& operand, const Shape& result) {
  return operand == result && window.offset.is(0) && window.strides == row_major_strides(result);
}

}  // namespace lanewise::ir
