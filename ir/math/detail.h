// What the expansions share: polynomials, double-word arithmetic, rounding to integers, taking
// numbers apart. A word is one number of the dtype at hand; `Pair` is an unevaluated sum of two.
// Error terms rely on fma and on every operation rounding once, to nearest.
#pragma once

#include <limits>
#include <span>

#include "ir/builder.h"

namespace lanewise::ir::math {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// ---- the two formats -----------------------------------------------------------------------

// Picks what belongs to a dtype: by_dtype(x.dtype(), 24, 53).
template <class T>
const T& by_dtype(DType dtype, const T& f32, const T& f64) {
  return dtype == DType::kF32 ? f32 : f64;
}

struct FloatFormat {
  int fraction_bits;  // stored bits of the mantissa
  int bias;           // of the exponent
  double smallest_normal;
  double largest;
};
const FloatFormat& format_of(DType dtype);

// The bits of `number` rounded to a float dtype, as an integer constant.
int64_t bits_of(DType dtype, double number);

// ---- polynomials ---------------------------------------------------------------------------

// c[0] + c[1] x + c[2] x^2 + ..., as two Horner chains in x^2, joined at the end: half the
// latency of one chain for one more operation. `x2` is x * x where the caller has it.
Expr polynomial(const Expr& x, const Expr& x2, std::span<const Expr> c);
Expr polynomial(const Expr& x, const Expr& x2, std::span<const double> c);
Expr polynomial(const Expr& x, std::span<const double> c);
// The same as one chain, for few coefficients or where the order of rounding matters.
Expr horner(const Expr& x, std::span<const double> c);

// ---- double-word arithmetic ----------------------------------------------------------------

struct Pair {
  Expr high;
  Expr low;
};

// Exactly a + b; fast_two_sum needs |a| >= |b| or a = 0 (or exponents in that order).
Pair two_sum(const Expr& a, const Expr& b);
Pair fast_two_sum(const Expr& a, const Expr& b);
// Exactly a * b, if nothing underflows.
Pair two_product(const Expr& a, const Expr& b);
// Relative errors of a few 2^-2p, p the precision; sums under cancellation excepted.
Pair add(const Pair& a, const Expr& b);
Pair add(const Pair& a, const Pair& b);  // |a.high| >= |b.high| or the same sign
Pair multiply(const Pair& a, const Expr& b);
Pair multiply(const Pair& a, const Pair& b);
Pair divide(const Pair& a, const Pair& b);
inline Expr rounded(const Pair& a) { return a.high + a.low; }
inline Pair operator-(const Pair& a) { return {-a.high, -a.low}; }
// One word each from `mask ? yes : no`.
Pair select(const Expr& mask, const Pair& yes, const Pair& no);

// ---- rounding and splitting ----------------------------------------------------------------

// An integer near a float, found by adding 1.5 * 2^fraction_bits: right to nearest even for
// |number| < 2^(fraction_bits - 1), without conversions. `value` is the integer as a float;
// `bits` is a signed integer with the same low fraction_bits - 1 bits, so it serves as a table
// index and, shifted left, as an exponent.
struct Nearest {
  Expr value;
  Expr bits;
};
Nearest nearest_integer(const Expr& number);
// The integer nearest to number * factor, where the product is not rounded before.
Nearest nearest_integer(const Expr& number, double factor);

// number = mantissa * 2^exponent with lowest <= mantissa < 2 * lowest, for a normal positive
// number. `exponent` is a float. `position` has as its lower fraction bits where the mantissa lies:
// its difference from `lowest`, counted in the last bits of each binade.
struct Split {
  Expr mantissa;
  Expr exponent;
  Expr position;
};
Split split_exponent(const Expr& number, double lowest);

// True unless low <= x <= high, for positive normal bounds; true for NaN.
Expr outside(const Expr& x, double low, double high);
// True where x is not a normal positive number: zero, subnormal, negative, infinite or NaN.
Expr not_positive_normal(const Expr& x);

// 1 / x but for .3 %, for a positive normal x: what corrects a rounding need not be better.
Expr rough_reciprocal(const Expr& x);

// ---- signs ---------------------------------------------------------------------------------

// The sign bit alone, as an unsigned integer.
Expr sign_bit(const Expr& x);
// x with its sign flipped where the sign bit of `sign` (from sign_bit) is set.
Expr flip_sign(const Expr& x, const Expr& sign);
// |magnitude| with that sign; `magnitude` must not be negative nor -0.
Expr with_sign(const Expr& magnitude, const Expr& sign);

inline Expr is_nan(const Expr& x) { return x != x; }

}  // namespace lanewise::ir::math
