// log, log2, log10, log1p.
//
// x = m 2^k and r = m c - 1, where c, near 1 / m, comes from a table of eight entries and has so
// few bits that r is exact. Then log(x) = k log(2) - log(c) + log(1 + r): the first two as a word
// that is exact and a small one, the last as r (times 1 / log(base)) and a polynomial. For m near 1
// c is 1, so nothing cancels there.
#include <cmath>

#include "ir/math/coefficients_log.inc"
#include "ir/math/log.h"
#include "ir/math/math.h"
#include "ir/math/tables.h"

namespace lanewise::ir::math {

#define LANEWISE_LOG_TABLE(function, words, dtype)                  \
  const Table& function() {                                         \
    static const Table table = make_table(#function, dtype, words); \
    return table;                                                   \
  }
LANEWISE_LOG_TABLE(log_inverse_f32, kInverseF32, DType::kF32)
LANEWISE_LOG_TABLE(log_inverse_f64, kInverseF64, DType::kF64)
LANEWISE_LOG_TABLE(log_high_f32, kLogHighF32, DType::kF32)
LANEWISE_LOG_TABLE(log_high_f64, kLogHighF64, DType::kF64)
LANEWISE_LOG_TABLE(log_low_f32, kLogLowF32, DType::kF32)
LANEWISE_LOG_TABLE(log_low_f64, kLogLowF64, DType::kF64)
LANEWISE_LOG_TABLE(log2_high_f32, kLog2HighF32, DType::kF32)
LANEWISE_LOG_TABLE(log2_high_f64, kLog2HighF64, DType::kF64)
LANEWISE_LOG_TABLE(log2_low_f32, kLog2LowF32, DType::kF32)
LANEWISE_LOG_TABLE(log2_low_f64, kLog2LowF64, DType::kF64)
LANEWISE_LOG_TABLE(log10_high_f32, kLog10HighF32, DType::kF32)
LANEWISE_LOG_TABLE(log10_high_f64, kLog10HighF64, DType::kF64)
LANEWISE_LOG_TABLE(log10_low_f32, kLog10LowF32, DType::kF32)
LANEWISE_LOG_TABLE(log10_low_f64, kLog10LowF64, DType::kF64)
#undef LANEWISE_LOG_TABLE

namespace {

// What depends on the base. The parts of `unit` = log(2) are such that counted * high + entry of
// `high` is exact, counted as in Reduced.
struct Base {
  double unit_high, unit_low;
  const Table& high;
  const Table& low;
  std::span<const double> series;
  double factor_high, factor_low;  // 1 / log(base)
};

Base base_e(DType dtype) {
  if (dtype == DType::kF32) {
    return {kLogUnitHighF32, kLogUnitLowF32, log_high_f32(), log_low_f32(), kLogSeriesF32, 1, 0};
  }
  return {kLogUnitHighF64, kLogUnitLowF64, log_high_f64(), log_low_f64(), kLogSeriesF64, 1, 0};
}

Base base_2(DType dtype) {
  if (dtype == DType::kF32) {
    return {kLog2UnitHighF32, kLog2UnitLowF32,    log2_high_f32(),  log2_low_f32(),
            kLog2SeriesF32,   kLog2FactorHighF32, kLog2FactorLowF32};
  }
  return {kLog2UnitHighF64, kLog2UnitLowF64,    log2_high_f64(),  log2_low_f64(),
          kLog2SeriesF64,   kLog2FactorHighF64, kLog2FactorLowF64};
}

Base base_10(DType dtype) {
  if (dtype == DType::kF32) {
    return {kLog10UnitHighF32, kLog10UnitLowF32,    log10_high_f32(),  log10_low_f32(),
            kLog10SeriesF32,   kLog10FactorHighF32, kLog10FactorLowF32};
  }
  return {kLog10UnitHighF64, kLog10UnitLowF64,    log10_high_f64(),  log10_low_f64(),
          kLog10SeriesF64,   kLog10FactorHighF64, kLog10FactorLowF64};
}

struct Reduced {
  Expr r;
  Expr inverse;
  Expr index;     // of the table entries
  Expr counted;   // the exponent k and a constant, exact
  Expr unscaled;  // 2^-k
};

// x is positive and normal.
Reduced reduce_mantissa(const Expr& x) {
  const DType dtype = x.dtype();
  const int fraction_bits = format_of(dtype).fraction_bits;
  const int exponent_bits = by_dtype(dtype, 8, 11);
  const int64_t fraction_mask = (int64_t{1} << fraction_bits) - 1;
  const int64_t lowest = bits_of(dtype, kLowest);
  const Expr bits = x.as_unsigned();
  // The fraction now counts from kLowest, the exponent field is right for that.
  const Expr shifted = bits - (lowest & fraction_mask);
  const Expr mantissa = (shifted & fraction_mask) + lowest;
  const Expr index = shifted >> (fraction_bits - 3);
  const Expr inverse =
      table_lookup(dtype == DType::kF32 ? log_inverse_f32() : log_inverse_f64(), index);
  // The exponent field as the fraction of a number whose integers end there.
  const int64_t field = ((int64_t{1} << exponent_bits) - 1) << (fraction_bits - exponent_bits);
  const double origin = by_dtype(dtype, 0x1p8, 0x1p11);
  const Expr counted = ((shifted >> exponent_bits) & field) | bits_of(dtype, origin);
  const Expr unscaled = (mantissa - bits) + bits_of(dtype, 1.0);
  return {fma(mantissa.as_float(), inverse, -1.0), inverse, index, counted.as_float(),
          unscaled.as_float()};
}

// log(x) + `more` for the reduced x, where more is small against both x and 1.
Pair sum(const Base& base, const Reduced& x, const Expr& counted, const Expr* more) {
  const Expr r = x.r;
  const Expr r2 = r * r;
  const Expr series = polynomial(r, r2, base.series);
  const bool scaled = base.factor_low != 0;
  const Expr head = scaled ? r * base.factor_high : r;
  const Expr start = fma(counted, base.unit_high, table_lookup(base.high, x.index));
  // |start| > |head| unless start is 0.
  const Pair high = fast_two_sum(start, head);
  Expr low = table_lookup(base.low, x.index);
  if (base.unit_low != 0) low = fma(counted, base.unit_low, low);
  if (scaled) low = low + fma(r, base.factor_low, fma(r, base.factor_high, -head));
  low = high.low + low;
  if (more != nullptr) low = low + *more;
  return {high.high, fma(r2, series, low)};
}

// Subnormal, zero, negative, infinite and NaN: for a positive number as for it times 2^p.
Expr log_of_unusual(const Base& base, const Expr& x) {
  const int power = format_of(x.dtype()).fraction_bits + 2;
  const Reduced reduced = reduce_mantissa(x * std::ldexp(1.0, power));
  const Expr subnormal = rounded(sum(base, reduced, reduced.counted - power, nullptr));
  const Expr positive = select(x == kInfinity, x, subnormal);
  return select(x > 0.0, positive, select(x == 0.0, -kInfinity, x.like(kNan)));
}

Expr logarithm(const Base& base, const Expr& x) {
  const Reduced reduced = reduce_mantissa(x);
  return rare(not_positive_normal(x), rounded(sum(base, reduced, reduced.counted, nullptr)),
              log_of_unusual(base, x));
}

}  // namespace

Expr log(const Expr& x) { return logarithm(base_e(x.dtype()), x); }
Expr log2(const Expr& x) { return logarithm(base_2(x.dtype()), x); }
Expr log10(const Expr& x) { return logarithm(base_10(x.dtype()), x); }

double log_limit(DType dtype) { return by_dtype(dtype, 0x1p100, 0x1p1000); }

Pair logarithm(const Expr& x) {
  const Reduced reduced = reduce_mantissa(x);
  return sum(base_e(x.dtype()), reduced, reduced.counted, nullptr);
}

// log(x.high) + x.low / x.high; 1 / x.high is nearly inverse / 2^k (1 - r).
Pair logarithm(const Pair& x) {
  const Reduced reduced = reduce_mantissa(x.high);
  const Expr c = x.low * reduced.unscaled * reduced.inverse;
  const Expr more = fma(-c, reduced.r, c);
  return sum(base_e(x.high.dtype()), reduced, reduced.counted, &more);
}

Expr log1p(const Expr& x) {
  const DType dtype = x.dtype();
  const Pair u = two_sum(x, x.like(1.0));
  const Expr usual = rounded(logarithm(u));
  // For large x, 1 + x is x.
  const Expr unusual = select(x > -1.0, select(x == kInfinity, x, rounded(logarithm(u.high))),
                              select(x == -1.0, -kInfinity, x.like(kNan)));
  const Expr special = outside(u.high, format_of(dtype).smallest_normal, log_limit(dtype));
  // It has the sign of x already, but for x = -0.
  return (rare(special, usual, unusual).as_unsigned() | sign_bit(x)).as_float();
}

}  // namespace lanewise::ir::math
