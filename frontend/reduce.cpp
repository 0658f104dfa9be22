// Reductions of arrays: axes, result dtypes, empty axes.
#include <algorithm>
#include <limits>

#include "frontend/detail/axes.h"
#include "frontend/reductions.h"
#include "frontend/sizes.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

using detail::resolve_axes;

namespace {

// The dtype in which a reduction computes.
DType reduction_dtype(Op op, DType dtype, std::optional<DType> requested) {
  if (op == Op::kAny || op == Op::kAll) return DType::kBool;
  if (requested) return *requested;
  if (op != Op::kSum && op != Op::kProd) return dtype;
  if (is_float(dtype)) return dtype;
  return is_unsigned_int(dtype) ? DType::kU64 : DType::kI64;
}

template <class T>
T extreme_of(Op op) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_floating_point_v<T>) {
    return op == Op::kMin ? Limits::infinity() : -Limits::infinity();
  } else {
    return op == Op::kMin ? Limits::max() : Limits::lowest();
  }
}

// What changes no result.
Scalar identity(Op op, DType dtype) {
  if (op == Op::kMin || op == Op::kMax) {
    return visit_dtype(dtype,
                       [&](auto zero) { return Scalar::of(extreme_of<decltype(zero)>(op)); });
  }
  return Scalar::from_int(dtype, op == Op::kProd || op == Op::kAll ? 1 : 0);
}

[[noreturn]] void fail_empty(Op op, const Shape& shape, const std::vector<int>& axes) {
  const auto empty = std::ranges::find_if(axes, [&](int axis) { return shape[axis].is(0); });
  throw ValueError(format("{}: axis {} of {} is empty and there is no smallest or largest element",
                          op, *empty, format_tuple(shape)));
}

bool has_empty(const Shape& shape, const std::vector<int>& axes) {
  return std::ranges::any_of(axes, [&](int axis) { return shape[axis].is(0); });
}

Shape without_axes(const Shape& shape, const std::vector<int>& axes) {
  std::vector<Dim> dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (!std::ranges::binary_search(axes, axis)) dims.push_back(shape[axis]);
  }
  return Shape(std::move(dims));
}

Array masked(std::string_view op, const Array& array, const std::optional<Array>& mask,
             Scalar otherwise, Source source) {
  if (!mask) return array;
  return where(detail::mask_for(op, *mask, array.shape(), source), array, full({}, otherwise),
               source);
}

}  // namespace

std::vector<int> detail::resolve_axes(std::string_view op, int rank,
                                      const std::optional<std::vector<int>>& axes) {
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
    throw ValueError(format("{}: axis {} appears twice", op, *std::ranges::adjacent_find(result)));
  }
  return result;
}

Array detail::mask_for(std::string_view op, const Array& mask, const Shape& shape, Source source) {
  try {
    return astype(mask, DType::kBool, source).broadcast_to(shape);
  } catch (const ShapeError&) {
    throw ShapeError(format("{}: where of shape {} does not broadcast to {}", op,
                            format_tuple(mask.shape()), format_tuple(shape)));
  }
}

Array detail::reduce_axes(Op op, const Array& array, const std::vector<int>& axes, bool keepdims,
                          Source source) {
  for (const int axis : axes) {
    if (!array.shape()[axis].is_constant()) require_at_least(array.shape()[axis], 1);
  }
  Array out = array;
  if (has_empty(array.shape(), axes)) {
    out = full(without_axes(array.shape(), axes), identity(op, array.dtype()));
  } else if (!axes.empty()) {
    const bool finds = op == Op::kArgMin || op == Op::kArgMax;
    out =
        Array(Node::make(op, finds ? DType::kI64 : array.dtype(), without_axes(array.shape(), axes),
                         {array.node()}, ir::Axes{axes}, source));
  }
  return keepdims ? out.expand_dims(axes) : out;
}

Array reduce(Op op, const Array& array, const ReductionOptions& options, Source source) {
  const std::vector<int> axes = resolve_axes(name(op), array.rank(), options.axes);
  const DType dtype = reduction_dtype(op, array.dtype(), options.dtype);
  if (!ir::contains(ir::spec(op).accepts, dtype)) {
    throw DTypeError(format("{}: not defined for {}", op, python_name(array.dtype())));
  }
  if ((op == Op::kMin || op == Op::kMax) && has_empty(array.shape(), axes)) {
    fail_empty(op, array.shape(), axes);
  }
  const Array operand =
      masked(name(op), astype(array, dtype, source), options.where, identity(op, dtype), source);
  return detail::reduce_axes(op, operand, axes, options.keepdims, source);
}

Array find_extreme(Op op, const Array& array, std::optional<int> axis, bool keepdims,
                   Source source) {
  std::optional<std::vector<int>> wanted;
  if (axis) wanted = {*axis};
  const std::vector<int> axes = resolve_axes(name(op), array.rank(), wanted);
  if (has_empty(array.shape(), axes)) fail_empty(op, array.shape(), axes);
  if (axes.empty()) return full({}, Scalar::of<int64_t>(0));
  return detail::reduce_axes(op, array, axes, keepdims, source);
}

Array scan(Op op, const Array& array, std::optional<int> axis, std::optional<DType> dtype,
           bool include_initial, Source source) {
  const std::string_view name = ir::name(op);
  if (array.rank() == 0)
    throw ValueError(format("{}: an array of 0 axes has none to go along", op));
  if (!axis && array.rank() != 1) {
    throw ValueError(format("{}: axis is needed for an array of {} axes", op, array.rank()));
  }
  const int along = resolve_axes(name, array.rank(), std::vector<int>{axis.value_or(0)})[0];
  const Op combining = op == Op::kCumulativeSum ? Op::kSum : Op::kProd;
  const DType computed = reduction_dtype(combining, array.dtype(), dtype);
  if (!ir::contains(ir::spec(op).accepts, computed)) {
    throw DTypeError(format("{}: not defined for {}", op, python_name(computed)));
  }
  const Array operand = astype(array, computed, source);
  const Array scanned(
      Node::make(op, computed, array.shape(), {operand.node()}, ir::Axes{{along}}, source));
  if (!include_initial) return scanned;
  std::vector<Dim> sizes(array.shape().begin(), array.shape().end());
  sizes[static_cast<size_t>(along)] = sizes[static_cast<size_t>(along)] + 1;
  const Array result = full(Shape(std::move(sizes)), identity(combining, computed));
  std::vector<IndexItem> items(static_cast<size_t>(along), Slice{});
  items.emplace_back(Slice{.start = 1, .stop = {}, .step = {}});
  index(result, items).write(scanned.node());
  return Array(result.node());
}

}  // namespace lanewise::frontend
