#include "ir/builder.h"

#include <algorithm>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

namespace {

std::string facts(const Node& node) { return to_string(node.dtype) + to_string(node.shape); }

void require_same_shape(Op op, const Node& first, const Node& other) {
  if (first.shape != other.shape) {
    throw ShapeError(
        format("{}: operands {} and {} differ in shape", op, facts(first), facts(other)));
  }
}

// The dtype shared by the operands that are not a condition.
DType operand_dtype(Op op, const Graph& graph, std::span<const Value> operands) {
  const OpSpec& row = spec(op);
  if (static_cast<int>(operands.size()) != row.arity) {
    throw InternalError(format("{}: {} operands, not {}", op, operands.size(), row.arity));
  }
  size_t first = 0;
  if (row.traits & kCondition) {
    first = 1;
    const Node& mask = graph[operands[0]];
    if (!is_bool(mask.dtype)) throw DTypeError(format("{}: condition is {}", op, mask.dtype));
  }
  const DType dtype = graph[operands[first]].dtype;
  if (!contains(row.accepts, dtype)) throw DTypeError(format("{}: no {} operands", op, dtype));
  for (const Value operand : operands.subspan(first)) {
    const DType other = graph[operand].dtype;
    if (other != dtype) {
      throw DTypeError(format("{}: operands are {} and {}", op, dtype, other));
    }
  }
  return dtype;
}

}  // namespace

Value Builder::append(Op op, DType dtype, Shape shape, std::initializer_list<Value> operands,
                      Attribute attribute) {
  Node node{.op = op,
            .dtype = dtype,
            .shape = std::move(shape),
            .attribute = std::move(attribute),
            .source = source_};
  std::ranges::copy(operands, node.operands.begin());
  return graph_.append(std::move(node));
}

Value Builder::input(std::string name, DType dtype, Shape shape, bool contiguous) {
  const int index = static_cast<int>(graph_.inputs.size());
  graph_.inputs.push_back({std::move(name), dtype, shape, contiguous});
  return append(Op::kInput, dtype, std::move(shape), {}, Slot{index});
}

Value Builder::constant(lanewise::Scalar value, Shape shape) {
  return append(Op::kConstant, value.dtype, std::move(shape), {}, value);
}

Value Builder::scalar(DType dtype, Shape shape) {
  graph_.scalars.push_back(dtype);
  return scalar_slot(static_cast<int>(graph_.scalars.size()) - 1, std::move(shape));
}

Value Builder::scalar_slot(int slot, Shape shape) {
  return append(Op::kScalar, graph_.scalars.at(static_cast<size_t>(slot)), std::move(shape), {},
                Slot{slot});
}

Value Builder::iota(DType dtype, Shape shape, int axis) {
  if (axis < 0 || axis >= shape.rank()) {
    throw ShapeError(format("iota: axis {} of shape {}", axis, shape));
  }
  if (!contains(spec(Op::kIota).accepts, dtype)) {
    throw DTypeError(format("iota: {} is not an integer dtype", dtype));
  }
  return append(Op::kIota, dtype, std::move(shape), {}, Slot{axis});
}

Value Builder::window(Value operand, Shape shape, Window window) {
  if (static_cast<int>(window.strides.size()) != shape.rank()) {
    throw ShapeError(format("window: {} strides for shape {}", window.strides.size(), shape));
  }
  const Node& base = graph_[operand];
  if (is_identity(window, base.shape, shape)) return operand;
  return append(Op::kWindow, base.dtype, std::move(shape), {operand}, std::move(window));
}

Value Builder::broadcast(Value operand, const Shape& shape) {
  const Shape from = graph_[operand].shape;
  if (from == shape) return operand;
  const int skipped = shape.rank() - from.rank();
  std::vector<Dim> strides(static_cast<size_t>(shape.rank()), Dim(0));
  const std::vector<Dim> row_major = row_major_strides(from);
  for (int axis = 0; axis < from.rank(); ++axis) {
    const Dim& to = shape[std::max(axis + skipped, 0)];
    if (skipped < 0 || (from[axis] != to && !from[axis].is(1))) {
      throw ShapeError(format("broadcast: {} does not fit {}", from, shape));
    }
    if (from[axis] == to) {
      strides[static_cast<size_t>(axis + skipped)] = row_major[static_cast<size_t>(axis)];
    }
  }
  return window(operand, shape, Window{0, std::move(strides)});
}

Value Builder::update(Value base, Value value, Window window) {
  const Node& into = graph_[base];
  const Node& from = graph_[value];
  if (into.dtype != from.dtype) {
    throw DTypeError(format("update: {} into {}", from.dtype, into.dtype));
  }
  if (static_cast<int>(window.strides.size()) != from.shape.rank()) {
    throw ShapeError(format("update: {} strides for shape {}", window.strides.size(), from.shape));
  }
  return append(Op::kUpdate, into.dtype, into.shape, {base, value}, std::move(window));
}

Value Builder::reduce(Op op, Value operand, std::vector<int> axes) {
  const Node& node = graph_[operand];
  if (!contains(spec(op).accepts, node.dtype)) {
    throw DTypeError(format("{}: no {} operands", op, node.dtype));
  }
  std::vector<Dim> kept;
  for (int axis = 0; axis < node.shape.rank(); ++axis) {
    if (!std::ranges::binary_search(axes, axis)) kept.push_back(node.shape[axis]);
  }
  if (node.shape.rank() - static_cast<int>(kept.size()) != static_cast<int>(axes.size())) {
    throw ShapeError(format("{}: axes {} of shape {}", op, format_tuple(axes), node.shape));
  }
  const DType dtype = spec(op).result == ResultRule::kExplicit ? DType::kI64 : node.dtype;
  return append(op, dtype, Shape(std::move(kept)), {operand}, Axes{std::move(axes)});
}

Value Builder::scan(Op op, Value operand, int axis) {
  const Node& node = graph_[operand];
  if (!contains(spec(op).accepts, node.dtype)) {
    throw DTypeError(format("{}: no {} operands", op, node.dtype));
  }
  if (axis < 0 || axis >= node.shape.rank()) {
    throw ShapeError(format("{}: axis {} of shape {}", op, axis, node.shape));
  }
  return append(op, node.dtype, node.shape, {operand}, Axes{{axis}});
}

Value Builder::cast(Value operand, DType dtype) {
  if (graph_[operand].dtype == dtype) return operand;
  return append(Op::kCast, dtype, graph_[operand].shape, {operand});
}

Value Builder::bitcast(Value operand, DType dtype) {
  const Node& node = graph_[operand];
  if (node.dtype == dtype) return operand;
  if (size_of(node.dtype) != size_of(dtype) || is_bool(node.dtype) || is_bool(dtype)) {
    throw DTypeError(format("bitcast: {} to {}", node.dtype, dtype));
  }
  return append(Op::kBitcast, dtype, node.shape, {operand});
}

Value Builder::table_lookup(Value index, const Table& table) {
  const Node& node = graph_[index];
  if (!is_int(node.dtype)) throw DTypeError(format("table_lookup: index is {}", node.dtype));
  return append(Op::kTableLookup, table.dtype, node.shape, {index}, &table);
}

Value Builder::apply(Op op, std::initializer_list<Value> operands, Attribute attribute) {
  const OpSpec& row = spec(op);
  if (row.kind == OpKind::kStructural || row.result == ResultRule::kExplicit) {
    throw InternalError(format("{}: built by its own function", op));
  }
  const std::span<const Value> values(operands.begin(), operands.size());
  const DType dtype = operand_dtype(op, graph_, values);
  for (const Value other : values.subspan(1)) {
    require_same_shape(op, graph_[values[0]], graph_[other]);
  }
  return append(op, row.result == ResultRule::kBool ? DType::kBool : dtype, graph_[values[0]].shape,
                operands, std::move(attribute));
}

Value Builder::clone(const Node& node, std::span<const Value> operands) {
  Node copy = node;
  std::ranges::copy(operands, copy.operands.begin());
  return graph_.append(std::move(copy));
}

Expr Builder::expr(Value value) { return Expr(*this, value); }

Expr Expr::constant(lanewise::Scalar value) const {
  return builder_->expr(builder_->constant(value, shape()));
}

Expr Expr::cast(DType dtype) const { return builder_->expr(builder_->cast(value_, dtype)); }
Expr Expr::bitcast(DType dtype) const { return builder_->expr(builder_->bitcast(value_, dtype)); }
Expr Expr::as_signed() const { return bitcast(signed_of_width(size_of(dtype()))); }
Expr Expr::as_unsigned() const { return bitcast(unsigned_of_width(size_of(dtype()))); }
Expr Expr::as_float() const { return bitcast(size_of(dtype()) == 4 ? DType::kF32 : DType::kF64); }

Expr apply(Op op, std::initializer_list<Expr> operands, Attribute attribute) {
  Builder& builder = operands.begin()->builder();
  std::array<Value, kMaxArity> values;
  std::ranges::transform(operands, values.begin(), &Expr::value);
  switch (operands.size()) {
    case 1:
      return builder.expr(builder.apply(op, {values[0]}, std::move(attribute)));
    case 2:
      return builder.expr(builder.apply(op, {values[0], values[1]}, std::move(attribute)));
    default:
      return builder.expr(
          builder.apply(op, {values[0], values[1], values[2]}, std::move(attribute)));
  }
}

Expr table_lookup(const Table& table, const Expr& index) {
  return index.builder().expr(index.builder().table_lookup(index.value(), table));
}

}  // namespace lanewise::ir
