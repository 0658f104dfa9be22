// Arrays from nothing, from memory and from random numbers.
#include <cmath>
#include <cstring>

#include "frontend/ops.h"
#include "frontend/trace.h"
#include "runtime/random.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

size_t byte_count(DType dtype, const Shape& shape) {
  return static_cast<size_t>(shape.element_count().value() * size_of(dtype));
}

// A number repeated over a shape, an argument of the kernel.
NodeRef splat(const Scalar& value, const Shape& shape) {
  return Node::make(Op::kScalar, value.dtype, shape, {}, value);
}

NodeRef iota(DType dtype, const Shape& shape, int axis) {
  return Node::make(Op::kIota, dtype, shape, {}, ir::Slot{axis});
}

NodeRef node(Op op, DType dtype, const Shape& shape, std::initializer_list<NodeRef> operands) {
  return Node::make(op, dtype, shape, operands);
}

// start + i * step in float64, as NumPy computes both arange and linspace.
NodeRef ramp(double start, double step, int64_t count) {
  const Shape shape{count};
  const NodeRef i = node(Op::kCast, DType::kF64, shape, {iota(DType::kI64, shape, 0)});
  const NodeRef scaled =
      node(Op::kMultiply, DType::kF64, shape, {i, splat(Scalar::of(step), shape)});
  return node(Op::kAdd, DType::kF64, shape, {scaled, splat(Scalar::of(start), shape)});
}

Array cast_to(NodeRef value, DType dtype) { return astype(Array(std::move(value)), dtype); }

int64_t checked_count(double count, double start, double stop, double step) {
  if (!std::isfinite(count) || count > 0x1p62) {
    throw ValueError(
        format("arange: from {} to {} in steps of {} has no sensible length", start, stop, step));
  }
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

Array filled(const Shape& shape, void (*fill)(float*, int64_t), std::string_view name) {
  if (TracingScope::active()) {
    throw UnsupportedError(format(
        "{}: random numbers cannot be drawn in a jit-compiled function; pass them as arguments",
        name));
  }
  const Array result = empty(DType::kF32, shape);
  fill(reinterpret_cast<float*>(result.storage()->node()->data().data()),
       shape.element_count().value());
  return result;
}

}  // namespace

Array full(const Shape& shape, Scalar value) { return Array(splat(value, shape)); }

Array empty(DType dtype, const Shape& shape) {
  return Array(Node::leaf(dtype, shape, {runtime::Buffer::allocate(byte_count(dtype, shape)), 0}));
}

Array from_bytes(DType dtype, const Shape& shape, const void* data) {
  Array result = empty(dtype, shape);
  std::memcpy(result.storage()->node()->data().data(), data, byte_count(dtype, shape));
  return result;
}

Array arange(double start, double stop, double step, DType dtype) {
  if (step == 0) throw ValueError("arange: step is 0");
  const int64_t count = checked_count(std::ceil((stop - start) / step), start, stop, step);
  return cast_to(ramp(start, step, count), dtype);
}

Array arange(int64_t start, int64_t stop, int64_t step, DType dtype) {
  if (step == 0) throw ValueError("arange: step is 0");
  // In 128 bits: the distance of two int64 can exceed int64.
  __extension__ using Wide = __int128;
  const Wide distance = step > 0 ? Wide{stop} - start : Wide{start} - stop;
  const Wide stride = step > 0 ? Wide{step} : -Wide{step};
  const Wide steps = distance > 0 ? (distance + stride - 1) / stride : Wide{0};
  const Shape shape{checked_count(static_cast<double>(steps), static_cast<double>(start),
                                  static_cast<double>(stop), static_cast<double>(step))};
  const NodeRef scaled = node(Op::kMultiply, DType::kI64, shape,
                              {iota(DType::kI64, shape, 0), splat(Scalar::of(step), shape)});
  return cast_to(node(Op::kAdd, DType::kI64, shape, {scaled, splat(Scalar::of(start), shape)}),
                 dtype);
}

Array linspace(double start, double stop, int64_t count, DType dtype, bool endpoint) {
  if (count < 0) throw ValueError(format("linspace: {} points", count));
  const int64_t intervals = endpoint ? count - 1 : count;
  const double step = intervals > 0 ? (stop - start) / static_cast<double>(intervals) : 0;
  NodeRef values = ramp(start, step, count);
  if (endpoint && count > 1) {
    // The last point is `stop` itself, whatever rounding made of it.
    const Shape shape{count};
    const NodeRef is_last =
        node(Op::kEqual, DType::kBool, shape,
             {iota(DType::kI64, shape, 0), splat(Scalar::of(count - 1), shape)});
    values =
        node(Op::kSelect, DType::kF64, shape, {is_last, splat(Scalar::of(stop), shape), values});
  }
  if (is_int(dtype)) values = node(Op::kFloor, DType::kF64, Shape{count}, {values});
  return cast_to(std::move(values), dtype);
}

Array eye(int64_t rows, int64_t columns, int64_t diagonal, DType dtype) {
  const Shape shape{rows, columns};
  const NodeRef shifted = node(Op::kAdd, DType::kI64, shape,
                               {iota(DType::kI64, shape, 0), splat(Scalar::of(diagonal), shape)});
  return cast_to(node(Op::kEqual, DType::kBool, shape, {shifted, iota(DType::kI64, shape, 1)}),
                 dtype);
}

void manual_seed(uint64_t seed) { runtime::manual_seed(seed); }

Array rand(const Shape& shape) { return filled(shape, runtime::fill_uniform, "rand"); }

Array randn(const Shape& shape) { return filled(shape, runtime::fill_normal, "randn"); }

}  // namespace lanewise::frontend
