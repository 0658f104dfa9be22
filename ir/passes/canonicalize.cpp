#include <algorithm>

#include "ir/passes/passes.h"

namespace lanewise::ir {

namespace {

bool can_swap(Op op) { return (spec(op).traits & kCommutative) != 0 || mirrored(op) != op; }

// Orders operands: constants last, scalars before them, all else by number.
std::pair<int, uint32_t> rank(const Graph& graph, Value value) {
  const Op op = graph[value].op;
  return {op == Op::kConstant ? 2 : op == Op::kScalar ? 1 : 0, value.index};
}

Value canonical_node(Builder& builder, const Node& node, std::span<const Value> operands) {
  switch (node.op) {
    case Op::kInput:
      return Value{static_cast<uint32_t>(node.get<Slot>().index)};
    case Op::kWindow:
      return builder.window(operands[0], node.shape, node.get<Window>());
    case Op::kCast:
      return builder.cast(operands[0], node.dtype);
    case Op::kBitcast:
      return builder.bitcast(operands[0], node.dtype);
    default:
      break;
  }
  const Graph& graph = builder.graph();
  if (!can_swap(node.op) || rank(graph, operands[0]) <= rank(graph, operands[1])) {
    return builder.clone(node, operands);
  }
  Node swapped = node;
  swapped.op = mirrored(node.op);
  return builder.clone(swapped, std::array{operands[1], operands[0]});
}

void append_inputs(Builder& builder) {
  Graph& graph = builder.graph();
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    graph.append({.op = Op::kInput,
                  .dtype = graph.inputs[i].dtype,
                  .shape = graph.inputs[i].shape,
                  .attribute = Slot{static_cast<int>(i)}});
  }
}

}  // namespace

bool canonicalize(Graph& graph) { return rewrite(graph, canonical_node, append_inputs); }

}  // namespace lanewise::ir
