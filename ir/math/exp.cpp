// exp, exp2, expm1.
//
// x = n ln(2)/8 + r with |r| <= ln(2)/16, so e^x = 2^(n/8) e^r. The power comes from a table of
// eight entries with its rounding error, e^r from a polynomial. The last operation is an fma whose
// product is small against its sum: its rounding is nearly all of the error.
#include "ir/math/exp.h"

#include <utility>

#include "ir/math/coefficients_exp.inc"
#include "ir/math/math.h"
#include "ir/math/tables.h"

namespace lanewise::ir::math {

namespace {

constexpr int kSteps = 8;

// Positions of n's eighths and units once shifted to the exponent.
int step_shift(DType dtype) { return format_of(dtype).fraction_bits - 3; }

// Beyond these values exponentials are 0 or infinite, and n is still an exact integer below them.
double far_out(DType dtype) { return by_dtype(dtype, 200.0, 2000.0); }

Expr table_entry(const Nearest& eighths) {
  const bool f32 = eighths.value.dtype() == DType::kF32;
  return table_lookup(f32 ? power_f32() : power_f64(), eighths.bits);
}

// `e` for |x| up to `limit`; beyond it a value that may be subnormal, zero or infinite.
Expr with_range(const Expr& x, const Exponential& e, double limit) {
  const Expr magnitude = abs(x);
  const Expr end = select(x > 0.0, kInfinity, x.like(0.0));
  const Expr unusual = select(magnitude > far_out(x.dtype()), end, any_value(e));
  return rare(magnitude > limit, normal_value(e), unusual);
}

// ln(2)/8 in two parts; integers times the first are exact.
std::pair<double, double> steps(DType dtype) {
  if (dtype == DType::kF32) return {kStepHighF32, kStepLowF32};
  return {kStepHighF64, kStepLowF64};
}

// 2^(n / 8) e^r.
Exponential near_power(const Nearest& eighths, const Expr& r) {
  const Expr r2 = r * r;
  const Expr series =
      r.dtype() == DType::kF32 ? polynomial(r, r2, kExpF32) : polynomial(r, r2, kExpF64);
  return {eighths, fma(r2, series, r + power_of_two_low(eighths))};
}

}  // namespace

const Table& power_f32() {
  static const Table table = make_table("power_f32", DType::kI32, kPowerF32);
  return table;
}
const Table& power_f64() {
  static const Table table = make_table("power_f64", DType::kI64, kPowerF64);
  return table;
}
const Table& power_low_f32() {
  static const Table table = make_table("power_low_f32", DType::kF32, kPowerLowF32);
  return table;
}
const Table& power_low_f64() {
  static const Table table = make_table("power_low_f64", DType::kF64, kPowerLowF64);
  return table;
}

double exp_limit(DType dtype) { return by_dtype(dtype, 87.0, 708.0); }

Expr power_of_two(const Nearest& eighths) {
  // The entry makes up for the eighths that the sum puts into the fraction.
  return (table_entry(eighths) + (eighths.bits << step_shift(eighths.value.dtype()))).as_float();
}

Expr power_of_two_low(const Nearest& eighths) {
  const bool f32 = eighths.value.dtype() == DType::kF32;
  return table_lookup(f32 ? power_low_f32() : power_low_f64(), eighths.bits);
}

Expr expm1_series(const Expr& r, const Expr& r2) {
  return r.dtype() == DType::kF32 ? polynomial(r, r2, kExpm1F32) : polynomial(r, r2, kExpm1F64);
}

Exponential exponential(const Expr& x) {
  const auto [high, low] = steps(x.dtype());
  const Nearest eighths = nearest_integer(x, kStepsPerUnit);
  return near_power(eighths, fma(eighths.value, -low, fma(eighths.value, -high, x)));
}

Exponential exponential(const Expr& x1, const Pair& x2) {
  const auto [high, low] = steps(x1.dtype());
  const Nearest eighths = nearest_integer(x1 * x2.high, kStepsPerUnit);
  const Expr head = fma(x1, x2.high, eighths.value * -high);
  return near_power(eighths, fma(x1, x2.low, fma(eighths.value, -low, head)));
}

Exponential exponential_of_2(const Expr& x) {
  const Nearest eighths = nearest_integer(x, kSteps);
  const Expr r = fma(eighths.value, -1.0 / kSteps, x);
  const Expr series = x.dtype() == DType::kF32 ? polynomial(r, kExp2F32) : polynomial(r, kExp2F64);
  return {eighths, fma(r, series, power_of_two_low(eighths))};
}

Reduction reduce(const Expr& x) {
  const auto [step_high, step_low] = steps(x.dtype());
  const Nearest eighths = nearest_integer(x, kStepsPerUnit);
  const Expr head = fma(eighths.value, -step_high, x);
  const Expr low = eighths.value * step_low;
  const Expr r = head - low;
  return {eighths, {r, (head - r) - low}};
}

Expr normal_value(const Exponential& e) {
  const Expr power = power_of_two(e.eighths);
  return fma(power, e.tail, power);
}

Expr any_value(const Exponential& e) { return any_value(e, 0); }

Expr any_value(const Exponential& e, int shift) {
  const Expr fraction = (e.eighths.bits & (kSteps - 1)) << step_shift(e.tail.dtype());
  const Expr power = (table_entry(e.eighths) + fraction).as_float();
  const Expr exponent = floor(e.eighths.value * (1.0 / kSteps));
  return scale2(fma(power, e.tail, power), shift == 0 ? exponent : exponent + shift);
}

Expr exp(const Expr& x) { return with_range(x, exponential(x), exp_limit(x.dtype())); }

Expr exp2(const Expr& x) {
  return with_range(x, exponential_of_2(x), by_dtype(x.dtype(), 125.0, 1021.0));
}

Pair expm1_of_negative(const Expr& x) {
  const auto [eighths, r] = reduce(x);
  const Expr r2 = r.high * r.high;
  const Expr c = fma(r2, expm1_series(r.high, r2), r.low + power_of_two_low(eighths));
  const Expr s = power_of_two(eighths);
  const Pair difference = fast_two_sum(s.like(-1.0), s);
  const Pair product = two_product(s, r.high);
  // |difference| >= |product| unless it is 0.
  const Pair sum = fast_two_sum(difference.high, product.high);
  return fast_two_sum(sum.high, sum.low + (product.low + fma(s, c, difference.low)));
}

// s (1 + r + c) - 1 with s = 2^(n/8), c small against r. s (1 + r) - 1 cancels, so it is summed
// with all rounding errors.
Expr expm1(const Expr& x) {
  const auto [eighths, r] = reduce(x);
  const Expr r2 = r.high * r.high;
  const Expr c = fma(r2, expm1_series(r.high, r2), r.low + power_of_two_low(eighths));
  const Expr s = power_of_two(eighths);
  const Pair difference = two_sum(s, s.like(-1.0));
  const Pair product = two_product(s, r.high);
  // |difference| >= |product| unless it is 0.
  const Pair sum = fast_two_sum(difference.high, product.high);
  const Expr usual = sum.high + (sum.low + (product.low + fma(s, c, difference.low)));

  const Expr magnitude = abs(x);
  const Expr large =
      select(magnitude > far_out(x.dtype()), x.like(kInfinity), any_value({eighths, c + r.high}));
  const Expr unusual = select(x > 0.0, large, -1.0);
  const Expr result = rare(magnitude > exp_limit(x.dtype()), usual, unusual);
  // It has the sign of x already, but for x = -0.
  return (result.as_unsigned() | sign_bit(x)).as_float();
}

}  // namespace lanewise::ir::math
