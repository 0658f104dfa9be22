// Reductions of arrays: axes, result dtypes, empty axes.
#include <algorithm>
#include <limits>

#include "frontend/ops.h"
#include "frontend/sizes.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

std::vector<int> resolve_axes(Op op, int rank, const std::optional<std::vector<int>>& axes) {
  std::vector<int> result;
  if (!axes) {
    for (int axis = 0; axis < rank; ++axis) result.push_back(axis);
    return result;
  }
  for (const int axis : *axes) {
    if (axis < -rank || axis >= rank) {
      throw IndexError(format("{}: axis {} is out of range for {} axes", op, axis, rank));
    }
    result.push_back(axis < 0 ? axis + rank : axis);
  }
  std::ranges::sort(result);
  if (std::ranges::adjacent_find(result) != result.end()) {
    throw ValueError(format("{}: axis {} appears twice", op,
                            *std::ranges::adjacent_find(result)));
  }
  return result;
}

// The dtype in which a reduction computes.
DType reduction_dtype(Op op, DType dtype, std::optional<DType> requested) {
  if (op == Op::kAny || op == Op::kAll) return DType::kBool;
  if (requested) return *requested;
  if (op != Op::kSum && op != Op::kProd) return dtype;
  if (is_float(dtype)) return dtype;
  return is_unsigned_int(dtype) ? DType::kU64 : DType::kI64;
}

// The result over no elements.
Scalar empty_value(Op op, DType dtype, const Shape& shape, const std::vector<int>& axes) {
  switch (op) {
    case Op::kSum:
      return Scalar::from_int(dtype, 0);
    case Op::kProd:
      return Scalar::from_int(dtype, 1);
    case Op::kAny:
      return Scalar::of(false);
    case Op::kAll:
      return Scalar::of(true);
    default:
      break;
  }
  const auto empty = std::ranges::find_if(axes, [&](int axis) { return shape[axis].is(0); });
  throw ValueError(format("{}: axis {} of {} is empty and there is no smallest or largest element",
                          op, *empty, format_tuple(shape)));
}

Shape without_axes(const Shape& shape, const std::vector<int>& axes) {
  std::vector<Dim> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!std::ranges::binary_search(axes, axis)) dims.push_back(shape[axis]);
  }
  return Shape(std::move(dims));
}

}  // namespace

Array reduce(Op op, const Array& array, std::optional<std::vector<int>> axes, bool keepdims,
             std::optional<DType> requested, Source source) {
  const std::vector<int> reduced = resolve_axes(op, array.rank(), axes);
  const DType dtype = reduction_dtype(op, array.dtype(), requested);
  if (!ir::contains(ir::spec(op).accepts, dtype)) {
    throw DTypeError(format("{}: not defined for {}", op, python_name(array.dtype())));
  }
  const NodeRef operand = astype(array, dtype, source).node();
  for (const int axis : reduced) {
    if (!array.shape()[axis].is_constant()) require_at_least(array.shape()[axis], 1);
  }
  const Shape shape = without_axes(array.shape(), reduced);
  NodeRef result = operand;
  if (std::ranges::any_of(reduced, [&](int axis) { return array.shape()[axis].is(0); })) {
    const Scalar value = empty_value(op, dtype, array.shape(), reduced);
    result = full(shape, value).node();
  } else if (!reduced.empty()) {
    result = Node::make(op, dtype, shape, {operand}, ir::Axes{reduced}, source);
  }
  const Array out(std::move(result));
  return keepdims ? out.expand_dims(reduced) : out;
}

Array mean(const Array& array, std::optional<std::vector<int>> axes, bool keepdims,
           Source source) {
  const DType dtype = is_float(array.dtype()) ? array.dtype() : DType::kF64;
  const std::vector<int> reduced = resolve_axes(Op::kSum, array.rank(), axes);
  Dim count = 1;
  for (const int axis : reduced) count = count * array.shape()[axis];
  const Array sum = reduce(Op::kSum, astype(array, dtype, source), reduced, keepdims, {}, source);
  return apply(Op::kDivide, {sum, size_number(count)}, source);
}

}  // namespace lanewise::frontend
