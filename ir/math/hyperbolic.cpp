// sinh, cosh, tanh, and expit, which is a shifted tanh.
//
// With |x| = n ln(2)/8 + r, a = 2^(n/8) and b = 1/a, both from the table of exp:
//   2 sinh|x| = (a - b) cosh(r) + (a + b) sinh(r),  2 cosh|x| = (a + b) cosh(r) + (a - b) sinh(r)
// without a division. Where n = 0, a - b is 0 and sinh keeps the relative error of sinh(r).
#include "ir/math/coefficients_hyperbolic.inc"
#include "ir/math/exp.h"
#include "ir/math/math.h"
#include "ir/math/tables.h"

namespace lanewise::ir::math {

const Table& tanh_centre_f32() {
  static const Table table = make_table("tanh_centre_f32", DType::kF32, kTanhCentreF32);
  return table;
}

// One function a table: the list of tables holds functions without arguments.
#define LANEWISE_TANH_TERM(power)                                                                 \
  const Table& tanh_##power##_f32() {                                                             \
    static const Table table = make_table("tanh_" #power "_f32", DType::kF32, kTanh##power##F32); \
    return table;                                                                                 \
  }
LANEWISE_TANH_TERM(0)
LANEWISE_TANH_TERM(1)
LANEWISE_TANH_TERM(2)
LANEWISE_TANH_TERM(3)
LANEWISE_TANH_TERM(4)
LANEWISE_TANH_TERM(5)
LANEWISE_TANH_TERM(6)
LANEWISE_TANH_TERM(7)
#undef LANEWISE_TANH_TERM

namespace {

// sinh(r) - r and cosh(r) - 1.
struct Series {
  Expr sinh;
  Expr cosh;
};
Series series(const Expr& r) {
  const bool f32 = r.dtype() == DType::kF32;
  const Expr r2 = r * r;
  const Expr sinh = f32 ? horner(r2, kSinhF32) : horner(r2, kSinhF64);
  const Expr cosh = f32 ? horner(r2, kCoshF32) : horner(r2, kCoshF64);
  return {r2 * r * sinh, r2 * cosh};
}

// 2^(n/8) and 2^(-n/8), and what the words are short of.
struct Powers {
  Expr up, down;
  Expr up_low, down_low;
};
Powers powers(const Nearest& eighths) {
  const Nearest negative{-eighths.value, -eighths.bits};
  const Expr up = power_of_two(eighths), down = power_of_two(negative);
  return {up, down, up * power_of_two_low(eighths), down * power_of_two_low(negative)};
}

// A polynomial around the centre of an interval, which the leading bits of the number select. Needs
// x >= 0; above kTanhEnd the result is 1.
Expr piecewise_tanh(const Expr& magnitude) {
  const Expr x = select(magnitude > kTanhEnd, kTanhEnd, magnitude);
  const int64_t first = bits_of(DType::kF32, kTanhFirst);
  const Expr index = maximum(x.as_signed(), first) >> 22;
  const Expr t = x - table_lookup(tanh_centre_f32(), index);
  const auto term = [&](const Table& table) { return table_lookup(table, index); };
  // c1 + c2 t + ... + c7 t^6 as two chains.
  const Expr t2 = t * t;
  Expr odd = fma(fma(fma(term(tanh_7_f32()), t2, term(tanh_5_f32())), t2, term(tanh_3_f32())), t2,
                 term(tanh_1_f32()));
  Expr even = fma(fma(term(tanh_6_f32()), t2, term(tanh_4_f32())), t2, term(tanh_2_f32()));
  const Expr start = select(x < kTanhStart, x, term(tanh_0_f32()));
  return fma(fma(even, t, odd), t, start);
}

// With e = e^(-2|x|) - 1 in two words: -e / (2 + e).
Expr quotient_tanh(const Expr& magnitude) {
  const Pair e = expm1_of_negative(magnitude * -2.0);
  const Pair denominator = fast_two_sum(e.high.like(2.0), e.high);
  const Expr low = denominator.low + e.low;
  const Expr inverse = 1.0 / denominator.high;
  const Expr quotient = e.high * inverse;
  const Expr remainder = fma(-quotient, low, fma(-quotient, denominator.high, e.high) + e.low);
  const Expr usual = fma(remainder, inverse, quotient);
  return abs(rare(magnitude > exp_limit(magnitude.dtype()) * .5, usual, usual.like(-1.0)));
}

// e^|x| / 2, for |x| so large that it is sinh and cosh.
Expr half_exponential(const Expr& magnitude) {
  const Expr near = any_value(exponential(magnitude), -1);
  return select(magnitude > by_dtype(magnitude.dtype(), 200.0, 2000.0), kInfinity, near);
}

}  // namespace

Expr sinh(const Expr& x) {
  const Expr magnitude = abs(x);
  const auto [eighths, r] = reduce(magnitude);
  const Powers power = powers(eighths);
  const auto [sinh_r, cosh_r] = series(r.high);
  const Pair difference = fast_two_sum(power.up, -power.down);
  const Pair sum = fast_two_sum(power.up, power.down);
  // What matters most is difference + sum * r. The difference is larger, or 0.
  const Pair product = two_product(sum.high, r.high);
  const Pair high = fast_two_sum(difference.high, product.high);
  Expr low = fma(sum.low, r.high, product.low) + (power.up_low - power.down_low);
  low = fma(sum.high, sinh_r + r.low, low);
  low = fma(difference.high, cosh_r, low);
  const Expr usual = (high.high + (high.low + (difference.low + low))) * .5;
  const Expr result = rare(magnitude > exp_limit(x.dtype()), usual, half_exponential(magnitude));
  return with_sign(result, sign_bit(x));
}

Expr cosh(const Expr& x) {
  const Expr magnitude = abs(x);
  const auto [eighths, r] = reduce(magnitude);
  const Powers power = powers(eighths);
  const auto [sinh_r, cosh_r] = series(r.high);
  const Expr difference = power.up - power.down;
  const Pair sum = fast_two_sum(power.up, power.down);
  Expr low = fma(difference, sinh_r + r.high, sum.low + (power.up_low + power.down_low));
  low = fma(sum.high, cosh_r, low);
  const Expr usual = (sum.high + low) * .5;
  return rare(magnitude > exp_limit(x.dtype()), usual, half_exponential(magnitude));
}

Expr tanh(const Expr& x) {
  const Expr magnitude = abs(x);
  const bool f32 = x.dtype() == DType::kF32;
  return with_sign(f32 ? piecewise_tanh(magnitude) : quotient_tanh(magnitude), sign_bit(x));
}

// With e = e^-|x| in two words: 1 / (1 + e) or e / (1 + e).
Expr expit(const Expr& x) {
  const Expr magnitude = abs(x);
  const Exponential exponent = exponential(-magnitude);
  const Expr power = power_of_two(exponent.eighths);
  const Expr e = fma(power, exponent.tail, power);
  const Expr e_low = fma(power, exponent.tail, power - e);
  const Pair denominator = fast_two_sum(e.like(1.0), e);
  const Expr low = denominator.low + e_low;
  const Expr inverse = 1.0 / denominator.high;
  const Expr negative = x < 0.0;
  const Expr numerator = select(negative, e, 1.0);
  const Expr numerator_low = select(negative, e_low, 0.0);
  const Expr quotient = numerator * inverse;
  const Expr remainder =
      fma(-quotient, low, fma(-quotient, denominator.high, numerator) + numerator_low);
  const Expr usual = fma(remainder, inverse, quotient);

  const Expr near =
      select(magnitude > by_dtype(x.dtype(), 200.0, 2000.0), x.like(0.0), any_value(exponent));
  return rare(magnitude > exp_limit(x.dtype()), usual, select(negative, near, 1.0));
}

}  // namespace lanewise::ir::math
