// pow with an exponent that is an array.
//
// |x| = m 2^k, r = m c - 1 exact with c from a table of 16, log|x| = k ln(2) - log(c) + log(1 + r)
// as a sum of two words good to about 2^-64 (float32: 2^-34), since y log|x| may be as large as 745
// and e^z turns an absolute error of z into a relative one. Then e^(y log|x|) as in exp.cpp.
#include <cmath>
#include <numbers>

#include "ir/math/coefficients_pow.inc"
#include "ir/math/exp.h"
#include "ir/math/math.h"
#include "ir/math/tables.h"

namespace lanewise::ir::math {

#define LANEWISE_POW_TABLE(function, words, dtype)                  \
  const Table& function() {                                         \
    static const Table table = make_table(#function, dtype, words); \
    return table;                                                   \
  }
LANEWISE_POW_TABLE(pow_inverse_f32, kPowInverseF32, DType::kF32)
LANEWISE_POW_TABLE(pow_inverse_f64, kPowInverseF64, DType::kF64)
LANEWISE_POW_TABLE(pow_high_f32, kPowHighF32, DType::kF32)
LANEWISE_POW_TABLE(pow_high_f64, kPowHighF64, DType::kF64)
LANEWISE_POW_TABLE(pow_low_f32, kPowLowF32, DType::kF32)
LANEWISE_POW_TABLE(pow_low_f64, kPowLowF64, DType::kF64)
#undef LANEWISE_POW_TABLE

namespace {

constexpr int kIndexBits = 4;

// log(x 2^shift) for a positive normal x.
Pair precise_log(const Expr& x, double shift) {
  const DType dtype = x.dtype();
  const bool f32 = dtype == DType::kF32;
  const Split split = split_exponent(x, kPowLowest);
  const Expr exponent = shift == 0 ? split.exponent : split.exponent + shift;
  const Expr index = split.position >> (format_of(dtype).fraction_bits - kIndexBits);
  const Expr inverse = table_lookup(f32 ? pow_inverse_f32() : pow_inverse_f64(), index);
  const Expr r = fma(split.mantissa, inverse, -1.0);  // exact
  const Pair square = two_product(r, r);
  const Expr cubic = r * (f32 ? polynomial(r, square.high, kPowSeriesF32)
                              : polynomial(r, square.high, kPowSeriesF64));

  const double unit_high = f32 ? kPowUnitHighF32 : kPowUnitHighF64;
  const double unit_low = f32 ? kPowUnitLowF32 : kPowUnitLowF64;
  const Expr start = fma(exponent, unit_high,  // exact
                         table_lookup(f32 ? pow_high_f32() : pow_high_f64(), index));
  const Expr start_low =
      fma(exponent, unit_low, table_lookup(f32 ? pow_low_f32() : pow_low_f64(), index));
  // start + r - r^2/2, where start is 0 or larger than r.
  const Pair linear = fast_two_sum(start, r);
  const Expr high = fma(square.high, -.5, linear.high);
  const Expr rounding = fma(square.high, -.5, linear.high - high);
  // The low word of the square multiplies all that the high word does. The polynomial comes last.
  const Expr early = fma(square.low, -.5, start_low) + (linear.low + rounding);
  const Expr late = fma(square.high, cubic, early);
  // That is below a thousandth of `high`, so that float32 can do with words that overlap: y times
  // the rounding of the low one is below 2^-28.
  if (f32) return {high, late};
  const Pair sum = fast_two_sum(high, late);
  return {sum.high, fma(square.low, cubic, sum.low)};
}

// pow(|x|, y) where that is 0, infinite or 1 because an argument is 0 or infinite, or the result
// far out of range: x ** +inf and the like.
Expr limit(const Expr& magnitude, const Expr& y) {
  const Expr grows = (magnitude > 1.0) == (y > 0.0);
  return select(magnitude == 1.0, 1.0, select(grows, kInfinity, y.like(0.0)));
}

// What pow(x, y) makes of pow(|x|, y).
Expr with_sign_and_nan(const Expr& x, const Expr& y, const Expr& magnitude) {
  const Expr is_integer = trunc(y) == y;
  const Expr half = y * .5;
  const Expr is_odd = is_integer & (trunc(half) != half);
  const Expr sign = select(is_odd, sign_bit(x), sign_bit(x).like(0));
  const Expr undefined = (x < 0.0) & (x > -kInfinity) & ~is_integer;
  const Expr value = select(undefined, kNan, with_sign(magnitude, sign));
  const Expr defined = select(is_nan(x) | is_nan(y), x + y, value);
  return select((y == 0.0) | (x == 1.0), 1.0, defined);
}

Expr float_pow(const Expr& x, const Expr& y) {
  const DType dtype = x.dtype();
  const FloatFormat& format = format_of(dtype);
  const Expr magnitude = abs(x);
  const Exponential e = exponential(y, precise_log(magnitude, 0));

  // Subnormal |x|, as 2^p |x|.
  const int power = format.fraction_bits + 2;
  const Expr scaled = magnitude * std::ldexp(1.0, power);
  const auto value_of = [&](const Exponential& e) {
    // False for NaN, from 0 * inf.
    const Expr near = abs(e.eighths.value) < by_dtype(dtype, 0x1p12, 0x1p15);
    return select(near, any_value(e), limit(magnitude, y));
  };
  const Expr subnormal = value_of(exponential(y, precise_log(scaled, -power)));
  const Expr ends = (magnitude == 0.0) | (magnitude == kInfinity);
  const Expr small = select(magnitude == 0.0, limit(magnitude, y), subnormal);
  const Expr any = rare(magnitude < format.smallest_normal,
                        select(ends, limit(magnitude, y), value_of(e)), small);
  const Expr usual = abs(e.eighths.value) < exp_limit(dtype) * (8 / std::numbers::ln2);
  return rare(not_positive_normal(x) | ~usual, normal_value(e), with_sign_and_nan(x, y, any));
}

// By squaring, bit by bit of the exponent; exponents of more than six bits are rare. What comes out
// for negative exponents means nothing.
Expr integer_pow(const Expr& x, const Expr& y) {
  const int width = 8 * size_of(x.dtype());
  constexpr int kUsualBits = 6;
  Expr power = x, result = select((y & 1) == 0, 1, x);
  Expr usual;
  for (int bit = 1; bit < width; ++bit) {
    if (bit == kUsualBits) usual = result;
    power = power * power;
    const Expr mask = y & y.constant({y.dtype(), uint64_t{1} << bit});
    result = select(mask == 0, result, result * power);
  }
  const Expr large = (y >> kUsualBits) != 0;
  return rare(large, usual, result);
}

}  // namespace

Expr pow(const Expr& x, const Expr& y) {
  return is_int(x.dtype()) ? integer_pow(x, y) : float_pow(x, y);
}

}  // namespace lanewise::ir::math
