#include "ir/detail/node_rules.h"

#include <bit>

namespace lanewise::ir::detail {

namespace {

bool has_attribute(const Node& node, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kNone:
      return std::holds_alternative<std::monostate>(node.attribute);
    case AttributeKind::kNumber:
      return std::holds_alternative<Scalar>(node.attribute);
    case AttributeKind::kSlot:
    case AttributeKind::kAxis:
      return std::holds_alternative<Slot>(node.attribute);
    case AttributeKind::kWindow:
      return std::holds_alternative<Window>(node.attribute);
    case AttributeKind::kAxes:
      return std::holds_alternative<Axes>(node.attribute);
    case AttributeKind::kExponent:
      return std::holds_alternative<Exponent>(node.attribute);
    case AttributeKind::kTable: {
      const auto* table = std::get_if<const Table*>(&node.attribute);
      return table != nullptr && *table != nullptr;
    }
  }
  __builtin_unreachable();
}

// Ops whose result's dtype is written in the node.
Complaint check_explicit(const Node& node, DType operand) {
  switch (node.op) {
    case Op::kBitcast:
      if (size_of(node.dtype) == size_of(operand) && !is_bool(node.dtype)) return {};
      return complaint("bitcast: {} to {}", operand, node.dtype);
    case Op::kTableLookup: {
      const Table& table = *node.get<const Table*>();
      if (!std::has_single_bit(table.entries.size())) {
        return complaint("table_lookup: {} entries", table.entries.size());
      }
      if (node.dtype == table.dtype) return {};
      return complaint("table_lookup: {} from a table of {}", node.dtype, table.dtype);
    }
    case Op::kArgMin:
    case Op::kArgMax:
      if (node.dtype == DType::kI64) return {};
      return complaint("{}: result is i64, not {}", node.op, node.dtype);
    default:
      return {};
  }
}

}  // namespace

Complaint check_sizes(const Shape& shape) {
  for (const Dim& dim : shape) {
    if (dim.is_constant() && dim.value() < 0) return complaint("negative size {}", dim);
  }
  return {};
}

Complaint check_form(const Graph& graph, size_t index, bool in_kernel) {
  const Node& node = graph.nodes()[index];
  for (const Value operand : node.inputs()) {
    if (operand.index >= index) return complaint("{}: operand does not come before", node.op);
  }
  AttributeKind kind = spec(node.op).attribute;
  if (in_kernel && kind == AttributeKind::kAxes) kind = AttributeKind::kNone;
  if (!has_attribute(node, kind)) return complaint("{}: wrong attribute", node.op);
  return check_sizes(node.shape);
}

Complaint check_constant(const Node& node) {
  const Scalar value = node.get<Scalar>();
  if (value.dtype != node.dtype) return complaint("constant: {} of {}", node.dtype, value.dtype);
  const int width = is_bool(node.dtype) ? 1 : 8 * size_of(node.dtype);
  if (width < 64 && value.bits >> width != 0) {
    return complaint("constant: more bits than {} has", node.dtype);
  }
  return {};
}

Complaint check_dtypes(const Graph& graph, const Node& node) {
  const OpSpec& row = spec(node.op);
  auto operands = node.inputs();
  if (row.traits & kCondition) {
    const DType mask = graph[operands[0]].dtype;
    if (!is_bool(mask)) return complaint("{}: condition is {}", node.op, mask);
    operands = operands.subspan(1);
  }
  const DType dtype = graph[operands[0]].dtype;
  for (const Value operand : operands) {
    const DType other = graph[operand].dtype;
    if (!contains(row.accepts, other)) return complaint("{}: no {} operands", node.op, other);
    if (other != dtype) {
      return complaint("{}: operands are {} and {}", node.op, dtype, other);
    }
  }
  if (row.result == ResultRule::kExplicit) return check_explicit(node, dtype);
  const DType wanted = row.result == ResultRule::kBool ? DType::kBool : dtype;
  if (node.dtype == wanted) return {};
  return complaint("{}: result is {}, not {}", node.op, wanted, node.dtype);
}

Complaint check_elementwise(const Graph& graph, const Node& node) {
  if (Complaint bad = check_dtypes(graph, node)) return bad;
  for (const Value operand : node.inputs()) {
    const Shape& shape = graph[operand].shape;
    if (shape != node.shape) {
      return complaint("{}: operand of shape '{}', result of shape '{}'", node.op, shape,
                       node.shape);
    }
  }
  return {};
}

}  // namespace lanewise::ir::detail
