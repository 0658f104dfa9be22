// Operators and functions of arrays for C++: each row of the op table that is a function of Python,
// under the same name.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <vector>

#include "frontend/reductions.h"

namespace lanewise::frontend {

namespace detail {

template <class T>
concept Value = std::same_as<T, Array> || std::is_arithmetic_v<T>;
template <class... T>
concept SomeArray = (Value<T> && ...) && (std::same_as<T, Array> || ...);

inline Argument as_argument(const Array& array) { return array; }
template <class T>
  requires std::is_arithmetic_v<T>
Argument as_argument(T number) {
  if constexpr (std::same_as<T, bool>)
    return Number{Weak::kBool, int64_t{number}, {}};
  else if constexpr (std::floating_point<T>)
    return Number{Weak::kFloat, double{number}, {}};
  else if constexpr (std::signed_integral<T>)
    return Number{Weak::kInt, int64_t{number}, {}};
  else
    return Number{Weak::kInt, uint64_t{number}, {}};
}

template <Op op, class... T>
Array apply_to(const T&... values) {
  return apply(op, {as_argument(values)...});
}

}  // namespace detail

// clang-format off
#define LANEWISE_FUNCTIONS_OF_1(F)                                                            \
  F(Negative, negative) F(Absolute, abs) F(Sqrt, sqrt) F(Floor, floor) F(Ceil, ceil)          \
  F(Trunc, trunc) F(Round, round) F(BitwiseInvert, bitwise_invert) F(Square, square)          \
  F(Reciprocal, reciprocal) F(Sign, sign) F(Signbit, signbit) F(IsNan, isnan) F(IsInf, isinf) \
  F(IsFinite, isfinite) F(LogicalNot, logical_not) F(Exp, exp) F(Exp2, exp2) F(Expm1, expm1)  \
  F(Log, log) F(Log2, log2) F(Log10, log10) F(Log1p, log1p) F(Cbrt, cbrt) F(Sinh, sinh)       \
  F(Cosh, cosh) F(Tanh, tanh) F(Asinh, asinh) F(Acosh, acosh) F(Atanh, atanh)                 \
  F(Expit, expit) F(Sin, sin) F(Cos, cos) F(Tan, tan) F(Asin, asin) F(Acos, acos)             \
  F(Atan, atan) F(Erf, erf) F(Erfc, erfc)
#define LANEWISE_FUNCTIONS_OF_2(F)                                                            \
  F(Add, add) F(Subtract, subtract) F(Multiply, multiply) F(Divide, divide)                   \
  F(Minimum, minimum) F(Maximum, maximum) F(Equal, equal) F(NotEqual, not_equal)              \
  F(Less, less) F(LessEqual, less_equal) F(Greater, greater) F(GreaterEqual, greater_equal)   \
  F(BitwiseAnd, bitwise_and) F(BitwiseOr, bitwise_or) F(BitwiseXor, bitwise_xor)              \
  F(ShiftLeft, bitwise_left_shift) F(ShiftRight, bitwise_right_shift)                         \
  F(Copysign, copysign) F(Nextafter, nextafter) F(LogicalAnd, logical_and)                    \
  F(LogicalOr, logical_or) F(LogicalXor, logical_xor) F(FloorDivide, floor_divide)            \
  F(Remainder, remainder) F(Fmod, fmod) F(Logaddexp, logaddexp) F(Pow, pow)                   \
  F(Atan2, atan2) F(Hypot, hypot)
#define LANEWISE_FUNCTIONS_OF_3(F) F(Fma, fma) F(Clip, clip)
#define LANEWISE_OPERATORS_OF_2(F)                                                            \
  F(Add, +) F(Subtract, -) F(Multiply, *) F(Divide, /) F(Remainder, %) F(BitwiseAnd, &)       \
  F(BitwiseOr, |) F(BitwiseXor, ^) F(ShiftLeft, <<) F(ShiftRight, >>) F(Equal, ==)            \
  F(NotEqual, !=) F(Less, <) F(LessEqual, <=) F(Greater, >) F(GreaterEqual, >=)
#define LANEWISE_ASSIGNMENTS(F)                                                               \
  F(Add, +=) F(Subtract, -=) F(Multiply, *=) F(Divide, /=) F(Remainder, %=)                   \
  F(BitwiseAnd, &=) F(BitwiseOr, |=) F(BitwiseXor, ^=) F(ShiftLeft, <<=) F(ShiftRight, >>=)
// clang-format on

#define LANEWISE_DEFINE_1(id, name) \
  inline Array name(const Array& x) { return detail::apply_to<Op::k##id>(x); }
#define LANEWISE_DEFINE_2(id, name)           \
  template <class A, class B>                 \
    requires detail::SomeArray<A, B>          \
  Array name(const A& a, const B& b) {        \
    return detail::apply_to<Op::k##id>(a, b); \
  }
#define LANEWISE_DEFINE_3(id, name)                \
  template <class A, class B, class C>             \
    requires detail::SomeArray<A, B, C>            \
  Array name(const A& a, const B& b, const C& c) { \
    return detail::apply_to<Op::k##id>(a, b, c);   \
  }
#define LANEWISE_DEFINE_OPERATOR(id, symbol) LANEWISE_DEFINE_2(id, operator symbol)
// In place: seen by all views of the same array.
#define LANEWISE_DEFINE_ASSIGNMENT(id, symbol)                       \
  template <detail::Value T>                                         \
  const Array& operator symbol(const Array& array, const T& value) { \
    assign(array, detail::apply_to<Op::k##id>(array, value), true);  \
    return array;                                                    \
  }

LANEWISE_FUNCTIONS_OF_1(LANEWISE_DEFINE_1)
LANEWISE_FUNCTIONS_OF_2(LANEWISE_DEFINE_2)
LANEWISE_FUNCTIONS_OF_3(LANEWISE_DEFINE_3)
LANEWISE_OPERATORS_OF_2(LANEWISE_DEFINE_OPERATOR)
LANEWISE_ASSIGNMENTS(LANEWISE_DEFINE_ASSIGNMENT)
LANEWISE_DEFINE_1(Negative, operator-)
LANEWISE_DEFINE_1(BitwiseInvert, operator~)

#undef LANEWISE_DEFINE_1
#undef LANEWISE_DEFINE_2
#undef LANEWISE_DEFINE_3
#undef LANEWISE_DEFINE_OPERATOR
#undef LANEWISE_DEFINE_ASSIGNMENT

template <class C, class A, class B>
  requires detail::SomeArray<C, A, B>
Array where(const C& condition, const A& yes, const B& no) {
  return where(detail::as_argument(condition), detail::as_argument(yes), detail::as_argument(no),
               Source{0});
}

// Writes to the elements of a view: assign(X(all, 0), 1).
template <detail::Value T>
void assign(const Array& view, const T& value) {
  assign(view, detail::as_argument(value), false);
}

// Axes to reduce: all by default, 0, or {0, -1}. Implicit, so that sum(x, 0) reads as in Python.
struct Axes {
  Axes() = default;
  Axes(int axis) : list(std::vector<int>{axis}) {}                         // NOLINT
  Axes(std::initializer_list<int> axes) : list(std::vector<int>(axes)) {}  // NOLINT
  std::optional<std::vector<int>> list;
};
inline Array sum(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return reduce(Op::kSum, x, {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}
inline Array prod(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return reduce(Op::kProd, x, {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}
inline Array min(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return reduce(Op::kMin, x, {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}
inline Array max(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return reduce(Op::kMax, x, {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}
inline Array any_of(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return reduce(Op::kAny, x, {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}
inline Array all_of(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return reduce(Op::kAll, x, {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}
inline Array mean(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return mean(x, {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}
inline Array var(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return variance(x, 0, {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}
inline Array stddev(const Array& x, const Axes& axes = {}, bool keepdims = false) {
  return standard_deviation(x, 0,
                            {.axes = axes.list, .keepdims = keepdims, .dtype = {}, .where = {}});
}

}  // namespace lanewise::frontend
