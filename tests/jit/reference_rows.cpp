#include "reference_rows.h"

#include <cstring>

#include "ir/builder.h"
#include "ir/interpret.h"

namespace lanewise::jit::test {

void ReferenceRows::append_constant(const ir::Node& node, Scalar value) {
  append_values(node, std::vector<Scalar>(static_cast<size_t>(points_), value));
}

void ReferenceRows::append_values(const ir::Node& node, const std::vector<Scalar>& values) {
  const auto size = static_cast<size_t>(size_of(node.dtype));
  Bytes bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(bytes.data() + i * size, &values[i].bits, size);
  }
  values_.push_back(std::move(bytes));
}

void ReferenceRows::append_computed(const ir::Node& node) {
  if (node.op == ir::Op::kConstant) return append_constant(node, node.get<Scalar>());
  if (ir::is_reduction(node.op) || ir::is_scan(node.op)) {
    values_.push_back(walk_rows(node));
    return;
  }
  std::vector<const std::byte*> operands;
  for (const ir::Value operand : node.inputs()) operands.push_back(values_[operand.index].data());
  Bytes result(static_cast<size_t>(points_ * size_of(node.dtype)));
  ir::interpret_elements(node, body_[node.inputs().back()].dtype, operands, result.data(), points_);
  values_.push_back(std::move(result));
}

// Reductions are repeated at all points of their row.
ReferenceRows::Bytes ReferenceRows::walk_rows(const ir::Node& node) const {
  ir::Graph graph;
  ir::Builder builder(graph);
  const DType dtype = body_[node.operands[0]].dtype;
  const ir::Shape shape{points_ / row_, row_};
  const ir::Value rows = builder.input("x", dtype, shape);
  if (ir::is_scan(node.op)) {
    graph.outputs = {builder.scan(node.op, rows, 1)};
  } else {
    const ir::Value reduced = builder.reduce(node.op, rows, {1});
    graph.outputs = {builder.window(reduced, shape, ir::Window{0, {1, 0}})};
  }
  ir::Tensor operand(dtype, {points_ / row_, row_});
  operand.data = values_[node.operands[0].index];
  return ir::interpret(graph, {&operand, 1}, {})[0].data;
}

Scalar ReferenceRows::at(ir::Value value, int64_t point) const {
  const DType dtype = body_[value].dtype;
  Scalar result{dtype, 0};
  const auto size = static_cast<size_t>(size_of(dtype));
  std::memcpy(&result.bits, values_[value.index].data() + static_cast<size_t>(point) * size, size);
  return result;
}

}  // namespace lanewise::jit::test
