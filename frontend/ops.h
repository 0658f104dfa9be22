// Operations on arrays: promotion, broadcasting, recording.
#pragma once

#include <initializer_list>
#include <span>
#include <variant>

#include "frontend/array.h"
#include "frontend/promotion.h"

namespace lanewise::frontend {

// A Python number: weak. Integers beyond int64 and uint64 are refused by the caller.
struct Number {
  Weak weak = Weak::kFloat;
  std::variant<int64_t, uint64_t, double> value = 0.0;
  // While tracing, a run-time scalar argument: its node (0-d), instead of a value.
  NodeRef traced = {};
};

// An argument of an operation.
using Argument = std::variant<Array, Number>;

// Any elementwise op of the table: promotes the arguments, broadcasts them, records the op (or
// what it means: operations on bool, integers that rounding leaves alone, pow_const for a
// number as exponent). Throws ShapeError, DTypeError, ValueError (a Python integer that does not
// fit the dtype).
Array apply(Op op, std::span<const Argument> arguments, Source source = 0);
inline Array apply(Op op, std::initializer_list<Argument> arguments, Source source = 0) {
  return apply(op, std::span(arguments.begin(), arguments.size()), source);
}

// condition ? x1 : x2; the condition is cast to bool.
Array where(const Argument& condition, const Argument& x1, const Argument& x2, Source source = 0);
Array astype(const Array& array, DType dtype, Source source = 0);

// array[...] = value, as NumPy assigns: broadcast to the shape, cast of any kind; and for
// `same_kind` (in-place operators, out=) DTypeError for casts that lose the kind.
void assign(const Array& array, const Argument& value, bool same_kind, Source source = 0);

// array[mask] = value, the mask having the leading axes of the array: the same value wherever the
// mask is true, or one that varies over the axes that the mask leaves. IndexError for other masks,
// UnsupportedError for a value for each chosen element.
void assign_where(const Array& array, const Array& mask, const Argument& value, Source source = 0);

// The shape that all shapes broadcast to; ShapeError "op: cannot broadcast (3, 4) with (5,): axis
// 1 is 4 and 5".
Shape broadcast_shapes(std::string_view op, std::span<const Shape> shapes);

// Values of that shape and dtype for an argument: cast and broadcast as `apply` does it.
NodeRef as_node(std::string_view op, const Argument& argument, DType dtype, const Shape& shape,
                Source source = 0);

// ---- creation ------------------------------------------------------------------------------
Array full(const Shape& shape, Scalar value);
Array from_bytes(DType dtype, const Shape& shape, const void* data);  // copies row-major data
Array empty(DType dtype, const Shape& shape);
Array arange(double start, double stop, double step, DType dtype);
Array arange(int64_t start, int64_t stop, int64_t step, DType dtype);
Array linspace(double start, double stop, int64_t count, DType dtype, bool endpoint);
Array eye(int64_t rows, int64_t columns, int64_t diagonal, DType dtype);

// ---- random numbers: PyTorch's CPU stream, drawn at the call; UnsupportedError in a trace ----
void manual_seed(uint64_t seed);
Array rand(const Shape& shape);   // float32, uniform in [0, 1)
Array randn(const Shape& shape);  // float32, normal

}  // namespace lanewise::frontend
