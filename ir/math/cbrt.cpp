// cbrt.
//
// |x| = m 2^k, r = m c - 1 exact with c from a table of eight, k = 3 q + j: the root is
// 2^q cbrt(2^j) cbrt(1/c) cbrt(1 + r), the two in the middle from tables in two words.
#include <cmath>

#include "ir/math/coefficients_cbrt.inc"
#include "ir/math/detail.h"
#include "ir/math/math.h"
#include "ir/math/tables.h"

namespace lanewise::ir::math {

#define LANEWISE_CBRT_TABLE(function, words, dtype)                 \
  const Table& function() {                                         \
    static const Table table = make_table(#function, dtype, words); \
    return table;                                                   \
  }
LANEWISE_CBRT_TABLE(cbrt_inverse_f32, kCbrtInverseF32, DType::kF32)
LANEWISE_CBRT_TABLE(cbrt_inverse_f64, kCbrtInverseF64, DType::kF64)
LANEWISE_CBRT_TABLE(cbrt_high_f32, kCbrtHighF32, DType::kF32)
LANEWISE_CBRT_TABLE(cbrt_high_f64, kCbrtHighF64, DType::kF64)
LANEWISE_CBRT_TABLE(cbrt_low_f32, kCbrtLowF32, DType::kF32)
LANEWISE_CBRT_TABLE(cbrt_low_f64, kCbrtLowF64, DType::kF64)
LANEWISE_CBRT_TABLE(cbrt_power_high_f32, kCbrtPowerHighF32, DType::kF32)
LANEWISE_CBRT_TABLE(cbrt_power_high_f64, kCbrtPowerHighF64, DType::kF64)
LANEWISE_CBRT_TABLE(cbrt_power_low_f32, kCbrtPowerLowF32, DType::kF32)
LANEWISE_CBRT_TABLE(cbrt_power_low_f64, kCbrtPowerLowF64, DType::kF64)
#undef LANEWISE_CBRT_TABLE

namespace {

// Of a positive normal number.
Expr root(const Expr& x) {
  const DType dtype = x.dtype();
  const bool f32 = dtype == DType::kF32;
  const int fraction_bits = format_of(dtype).fraction_bits;
  const Split split = split_exponent(x, kCbrtLowest);
  const Expr index = split.position >> (fraction_bits - 3);
  const auto entry = [&](const Expr& at, const Table& f32_table, const Table& f64_table) {
    return table_lookup(f32 ? f32_table : f64_table, at);
  };
  const Expr r = fma(split.mantissa, entry(index, cbrt_inverse_f32(), cbrt_inverse_f64()), -1.0);
  const Expr series = r * (f32 ? polynomial(r, kCbrtSeriesF32) : polynomial(r, kCbrtSeriesF64));

  const Nearest third = nearest_integer(split.exponent, 1.0 / 3);
  const Expr rest = nearest_integer(fma(third.value, -3.0, split.exponent)).bits;
  const Pair start{entry(index, cbrt_high_f32(), cbrt_high_f64()),
                   entry(index, cbrt_low_f32(), cbrt_low_f64())};
  const Pair power{entry(rest, cbrt_power_high_f32(), cbrt_power_high_f64()),
                   entry(rest, cbrt_power_low_f32(), cbrt_power_low_f64())};
  const Pair high = two_product(start.high, power.high);
  const Expr low = fma(start.high, power.low, fma(start.low, power.high, high.low));
  const Expr mantissa = high.high + fma(high.high, series, low);
  return (mantissa.as_signed() + (third.bits << fraction_bits)).as_float();
}

}  // namespace

Expr cbrt(const Expr& x) {
  const Expr magnitude = abs(x);
  // A subnormal number times 2^3n.
  const int thirds = by_dtype(x.dtype(), 8, 18);
  const Expr subnormal = root(magnitude * std::ldexp(1.0, 3 * thirds)) * std::ldexp(1.0, -thirds);
  const Expr is_subnormal = (magnitude < format_of(x.dtype()).smallest_normal) & (magnitude > 0.0);
  const Expr result = rare(not_positive_normal(magnitude), root(magnitude),
                           select(is_subnormal, subnormal, magnitude));
  return with_sign(result, sign_bit(x));
}

}  // namespace lanewise::ir::math
