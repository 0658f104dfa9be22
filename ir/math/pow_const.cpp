// pow with an exponent that is known: c an integer or half of one, |c| <= 64; others go to pow.
//
// Integers wrap. Floats are multiplied as unevaluated sums of two words, the last product by an fma
// whose rounding is nearly all of the error. A power is built from x or from 1/x, so that no
// intermediate result leaves the range before the result does. What is lost near the ends of the
// range is computed again: for float32 in float64, for float64 with a scaled x. Where it is as
// fast, all of float32 is computed in float64.
#include <cmath>

#include "ir/math/detail.h"
#include "ir/math/math.h"

namespace lanewise::ir::math {

namespace {

constexpr double kLargest = 64;

// A result, and the product of the high words: what the result is where low words are infinite or
// NaN because high words are infinite or 0.
struct Result {
  Expr precise;
  Expr plain;
};

// The low words stay below n units in the last place of the high ones, and the product of two is
// dropped.
Pair product(const Pair& a, const Pair& b) {
  const Pair high = two_product(a.high, b.high);
  return {high.high, fma(a.high, b.low, fma(a.low, b.high, high.low))};
}

Pair product(const Pair& a, const Expr& b) {
  const Pair high = two_product(a.high, b);
  return {high.high, fma(a.low, b, high.low)};
}

Pair two_square(const Pair& a) {
  const Pair high = two_product(a.high, a.high);
  return {high.high, fma(a.high + a.high, a.low, high.low)};
}

Result last_product(const Pair& a, const Pair& b) {
  return {fma(a.high, b.high, fma(a.high, b.low, a.low * b.high)), a.high * b.high};
}

Result last_product(const Pair& a, const Expr& b) {
  return {fma(a.high, b, a.low * b), a.high * b};
}

Result last_square(const Pair& a) {
  return {fma(a.high, a.high, (a.high + a.high) * a.low), a.high * a.high};
}

Pair first_square(const Expr& x) { return two_product(x, x); }
Pair first_square(const Pair& x) { return two_square(x); }

// x^n, n >= 2, by squaring; x is a word or two.
template <class Base>
Pair power(const Base& x, int n) {
  int bit = 1;
  while (bit <= n / 4) bit *= 2;
  Pair result = first_square(x);
  if (n & bit) result = product(result, x);
  while ((bit /= 2) > 0) {
    result = two_square(result);
    if (n & bit) result = product(result, x);
  }
  return result;
}

// n >= 3.
template <class Base>
Result last_power(const Base& x, int n) {
  return n % 2 == 0 ? last_square(power(x, n / 2)) : last_product(power(x, n - 1), x);
}

// Not of 0 and infinity: there the low word is NaN.
Pair reciprocal(const Pair& x) {
  const Expr high = 1.0 / x.high;
  return {high, high * fma(-x.low, high, fma(-x.high, high, 1.0))};
}

Pair reciprocal(const Expr& x) {
  const Expr high = 1.0 / x;
  return {high, high * fma(-x, high, 1.0)};
}

Pair precise_root(const Expr& x) {
  const Expr high = sqrt(x);
  return {high, fma(-high, high, x) * (rough_reciprocal(high) * .5)};
}

// The root of -inf that pow has, up to its sign.
Expr root(const Expr& x) { return sqrt(select(x == -kInfinity, kInfinity, x)); }

// x^n in one word, n >= 1.
Expr one_word_power(const Expr& x, int n) {
  Expr result = x;
  int bit = 1;
  while (bit <= n / 2) bit *= 2;
  while ((bit /= 2) > 0) {
    result = result * result;
    if (n & bit) result = result * x;
  }
  return result;
}

// A power of |x| in two words, c = halves / 2.
Result precise_power(const Expr& x, int halves) {
  const int n = std::abs(halves) / 2;
  if (halves % 2 == 0) {
    if (halves > 0) return last_power(x, n);
    return n == 2 ? last_square(reciprocal(x)) : last_power(reciprocal(x), n);
  }
  const Pair sqrt_x = precise_root(x);
  if (halves == -1) {
    const Pair result = reciprocal(sqrt_x);
    return {result.high + result.low, result.high};
  }
  if (halves < 0 && n <= 3) return last_power(reciprocal(sqrt_x), -halves);
  if (halves < 0) return last_product(power(reciprocal(x), n), reciprocal(sqrt_x));
  return n == 1 ? last_product(sqrt_x, x) : last_product(sqrt_x, power(x, n));
}

// The same in one word, with the special values of pow but for the sign where c is not whole.
Expr plain_power(const Expr& x, int halves) {
  const int n = std::abs(halves) / 2;
  Expr result;
  if (n > 0) result = one_word_power(x, n);
  if (halves % 2 != 0) result = n > 0 ? result * root(x) : root(x);
  return halves < 0 ? 1.0 / result : result;
}

Expr in_float64(const Expr& x, int halves) {
  return plain_power(x.cast(DType::kF64), halves).cast(DType::kF32);
}

// For float64 where precise_power may fail. x is scaled by 2^s so that s c is whole and about 1000,
// or s = 108 where c = -1/2.
Expr at_ends(const Expr& x, int halves, const Result& result) {
  const double c = .5 * halves;
  const int scale = halves == -1 ? 108 : 2 * static_cast<int>(500 / c);
  const Expr scaled = precise_power(x * std::ldexp(1.0, scale), halves).precise *
                      std::ldexp(1.0, -static_cast<int>(scale * c));
  const Expr small = abs(halves == -1 ? x : result.plain) < 0x1p-960;
  const Expr precise = (abs(result.plain) < kInfinity) & ~is_nan(result.precise);
  const Expr value = select(precise, result.precise, result.plain);
  // Of 0 and infinity, and of powers that are 0, only the high words know the value and its sign.
  const Expr ends = (x == 0.0) | (abs(x) == kInfinity) | (small & (scaled == 0.0));
  const Expr limits = halves % 2 == 0 ? result.plain : plain_power(x, halves);
  return select(ends, limits, select(small, scaled, value));
}

Expr float_power(const Expr& x, int halves) {
  const bool f32 = x.dtype() == DType::kF32;
  const bool whole = halves % 2 == 0;
  // In float64 whole powers are as fast, and for large ones two words of float32 are not enough.
  if (f32 && (std::abs(halves) > 8)) {
    const Expr power = in_float64(x, halves);
    return whole ? power : abs(power);
  }
  const Result result = precise_power(x, halves);
  const Expr unusual = f32 ? in_float64(x, halves) : at_ends(x, halves, result);
  const double low = f32 ? 0x1p-100 : 0x1p-960;
  // Squares need no abs.
  const Expr magnitude = halves % 4 == 0 ? result.precise : abs(result.precise);
  Expr out_of_range = outside(magnitude, low, format_of(x.dtype()).largest);
  // There the remainder of the root is not exact.
  if (halves == -1) out_of_range = outside(x, low, format_of(x.dtype()).largest);
  return rare(out_of_range, whole ? result.precise : magnitude, whole ? unusual : abs(unusual));
}

}  // namespace

bool has_pow_const(DType dtype, double exponent) {
  if (!(std::abs(exponent) <= kLargest)) return false;
  if (is_float(dtype)) return std::trunc(2 * exponent) == 2 * exponent;
  return is_int(dtype) && exponent >= 0 && std::trunc(exponent) == exponent;
}

Expr fast_pow_const(const Expr& x, double exponent) {
  const int halves = static_cast<int>(2 * exponent);
  if (halves == 0) return x.like(1.0);
  const int n = std::abs(halves) / 2;
  Expr result;
  if (n > 0) result = one_word_power(x, n);
  if (halves % 2 != 0) result = n > 0 ? result * sqrt(x) : sqrt(x);
  return halves < 0 ? 1.0 / result : result;
}

Expr pow_const(const Expr& x, double exponent) {
  if (!has_pow_const(x.dtype(), exponent)) return pow(x, x.like(exponent));
  if (is_int(x.dtype())) {
    return exponent == 0 ? x.like(1) : one_word_power(x, static_cast<int>(exponent));
  }
  if (exponent == 0) return x.like(1.0);
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == -1) return 1.0 / x;
  if (exponent == .5) return abs(root(x));
  return float_power(x, static_cast<int>(2 * exponent));
}

}  // namespace lanewise::ir::math
