// Reductions that are made of others.
#include <algorithm>
#include <cmath>

#include "frontend/detail/axes.h"
#include "frontend/reductions.h"
#include "frontend/sizes.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

using detail::reduce_axes;
using detail::resolve_axes;

namespace {

// A reduction under way: the elements in floating point, and how many there are.
struct Sample {
  std::string_view op;
  Array values;
  std::vector<int> axes;
  std::optional<Array> mask;  // of the shape of the values
  Argument count;             // a number, or an array with the reduced axes as size 1
  Source source;

  Sample(std::string_view op, const Array& array, const ReductionOptions& options, Source source);
  Array sum(const Array& of, bool keepdims) const;
  Array divided(const Array& sum, const Argument& by, bool keepdims) const;
};

Dim element_count(const Shape& shape, const std::vector<int>& axes) {
  Dim count = 1;
  for (const int axis : axes) count = count * shape[axis];
  return count;
}

Number number(double value) { return {Weak::kFloat, value}; }

Sample::Sample(std::string_view op, const Array& array, const ReductionOptions& options,
               Source source)
    : op(op), axes(resolve_axes(op, array.rank(), options.axes)), source(source) {
  const DType floating = is_float(array.dtype()) ? array.dtype() : DType::kF64;
  const DType dtype = options.dtype.value_or(floating);
  if (!is_float(dtype)) throw DTypeError(format("{}: not defined for {}", op, python_name(dtype)));
  values = astype(array, dtype, source);
  if (options.where) {
    mask = detail::mask_for(op, *options.where, array.shape(), source);
    count = astype(reduce_axes(Op::kSum, astype(*mask, DType::kI64, source), axes, true, source),
                   dtype, source);
  } else {
    count = size_number(element_count(array.shape(), axes));
  }
}

Array Sample::sum(const Array& of, bool keepdims) const {
  const Array counted = mask ? where(*mask, of, number(0), source) : of;
  return reduce_axes(Op::kSum, counted, axes, keepdims, source);
}

// Under a mask `by` has the reduced axes as size 1.
Array Sample::divided(const Array& sum, const Argument& by, bool keepdims) const {
  if (mask && !keepdims) {
    return apply(Op::kDivide, {sum, std::get<Array>(by).squeeze(axes)}, source);
  }
  return apply(Op::kDivide, {sum, by}, source);
}

Array mean_of(const Sample& sample, bool keepdims) {
  return sample.divided(sample.sum(sample.values, keepdims), sample.count, keepdims);
}

// The number of elements - correction, at least 0.
Argument degrees_of_freedom(const Sample& sample, double correction) {
  if (const Number* count = std::get_if<Number>(&sample.count); count && !count->traced) {
    const auto elements = static_cast<double>(std::get<int64_t>(count->value));
    return number(std::max(0.0, elements - correction));
  }
  // A size that is a name is a number of the trace.
  const Array count(as_node(sample.op, sample.count, sample.values.dtype(),
                            sample.mask ? std::get<Array>(sample.count).shape() : Shape{},
                            sample.source));
  const Array left = apply(Op::kSubtract, {count, number(correction)}, sample.source);
  return apply(Op::kMaximum, {left, number(0)}, sample.source);
}

Array variance_of(std::string_view op, const Array& array, double correction,
                  const ReductionOptions& options, Source source) {
  const Sample sample(op, array, options, source);
  const Argument freedom = degrees_of_freedom(sample, correction);
  if (!sample.mask) {
    const Array squares =
        reduce_axes(Op::kDeviations, sample.values, sample.axes, options.keepdims, source);
    const Array of_all =
        sample.axes.empty() ? apply(Op::kSubtract, {squares, squares}, source) : squares;
    return sample.divided(of_all, freedom, options.keepdims);
  }
  const Array deviation = apply(Op::kSubtract, {sample.values, mean_of(sample, true)}, source);
  const Array squares = apply(Op::kMultiply, {deviation, deviation}, source);
  return sample.divided(sample.sum(squares, options.keepdims), freedom, options.keepdims);
}

}  // namespace

Array mean(const Array& array, const ReductionOptions& options, Source source) {
  return mean_of(Sample("mean", array, options, source), options.keepdims);
}

Array variance(const Array& array, double correction, const ReductionOptions& options,
               Source source) {
  return variance_of("var", array, correction, options, source);
}

Array standard_deviation(const Array& array, double correction, const ReductionOptions& options,
                         Source source) {
  return apply(Op::kSqrt, {variance_of("std", array, correction, options, source)}, source);
}

Array count_nonzero(const Array& array, const ReductionOptions& options, Source source) {
  const std::vector<int> axes = resolve_axes("count_nonzero", array.rank(), options.axes);
  const Array nonzero = astype(astype(array, DType::kBool, source), DType::kI64, source);
  return reduce_axes(Op::kSum, nonzero, axes, options.keepdims, source);
}

Array logsumexp(const Array& array, const ReductionOptions& options, Source source) {
  const Sample sample("logsumexp", array, options, source);
  const Array largest = reduce_axes(Op::kMax, sample.values, sample.axes, true, source);
  // Infinities would give infinity - infinity; with 0 in their place all comes out right.
  const Array distance = apply(Op::kSubtract, {largest, largest}, source);
  const Array shift =
      where(apply(Op::kEqual, {distance, number(0)}, source), largest, number(0), source);
  const Array weights =
      apply(Op::kExp, {apply(Op::kSubtract, {sample.values, shift}, source)}, source);
  const Array sum = reduce_axes(Op::kSum, weights, sample.axes, true, source);
  const Array result = apply(Op::kAdd, {apply(Op::kLog, {sum}, source), shift}, source);
  return options.keepdims ? result : result.squeeze(sample.axes);
}

Array vecdot(const Array& a, const Array& b, int axis, Source source) {
  const int rank = std::min(a.rank(), b.rank());
  if (axis < -rank || axis >= rank || (axis >= 0 && a.rank() != b.rank())) {
    throw IndexError(format("vecdot: axis {} is out of range for arrays of {} and {} axes", axis,
                            a.rank(), b.rank()));
  }
  const int from_end = axis < 0 ? axis : axis - rank;
  const Dim& of_a = a.shape()[a.rank() + from_end];
  const Dim& of_b = b.shape()[b.rank() + from_end];
  if (of_a != of_b) {
    throw ShapeError(format("vecdot: axis {} is {} and {}", axis, of_a, of_b));
  }
  Array products = apply(Op::kMultiply, {a, b}, source);
  if (is_bool(products.dtype())) {
    return reduce_axes(Op::kAny, products, {products.rank() + from_end}, false, source);
  }
  return reduce_axes(Op::kSum, products, {products.rank() + from_end}, false, source);
}

Array vector_norm(const Array& array, double order, const ReductionOptions& options,
                  Source source) {
  const Sample sample("vector_norm", array, options, source);
  const auto reduced = [&](Op op, const Array& of) {
    return reduce_axes(op, of, sample.axes, options.keepdims, source);
  };
  if (order == 2) {
    const Array squares = apply(Op::kMultiply, {sample.values, sample.values}, source);
    return apply(Op::kSqrt, {reduced(Op::kSum, squares)}, source);
  }
  if (order == 0) {
    return astype(count_nonzero(sample.values, options, source), sample.values.dtype(), source);
  }
  const Array sizes = apply(Op::kAbsolute, {sample.values}, source);
  if (order == 1) return reduced(Op::kSum, sizes);
  const bool empty = element_count(array.shape(), sample.axes).is(0);
  if (std::isinf(order) && empty && order < 0) {
    throw ValueError(format("vector_norm: no smallest element of {}", format_tuple(array.shape())));
  }
  // Of no elements the largest size is 0.
  if (std::isinf(order)) {
    return empty ? reduced(Op::kSum, sizes) : reduced(order > 0 ? Op::kMax : Op::kMin, sizes);
  }
  throw UnsupportedError(
      format("vector_norm: ord={}, only 0, 1, 2, inf and -inf are supported", order));
}

}  // namespace lanewise::frontend
