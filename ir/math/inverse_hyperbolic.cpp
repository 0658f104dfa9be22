// asinh, acosh, atanh: logarithms of numbers known in two words, since small results depend on how
// far these are from 1.
#include <cmath>
#include <numbers>

#include "ir/math/log.h"
#include "ir/math/math.h"

namespace lanewise::ir::math {

namespace {

// sqrt(x.high + x.low) for a normal x.high > 0; x.low is at most an ulp of it. The low word is
// right to .3 %, after n further steps to .003^2^n.
Pair root(const Pair& x, int steps) {
  const Expr high = sqrt(x.high);
  Expr inverse = rough_reciprocal(high);
  for (int i = 0; i < steps; ++i) inverse = inverse * fma(-inverse, high, 2.0);
  return {high, (fma(-high, high, x.high) + x.low) * (inverse * .5)};
}

// The logarithm of x for large x, where asinh and acosh are log(2x).
Expr large_logarithm(const Expr& x) {
  const Pair log_x = logarithm(x);
  const Expr log_2x = log_x.high + (log_x.low + std::numbers::ln2);
  return select(x == kInfinity, x, log_2x);
}

}  // namespace

// log(|x| + sqrt(x^2 + 1)).
Expr asinh(const Expr& x) {
  const DType dtype = x.dtype();
  const Expr magnitude = abs(x);
  const Pair square = two_product(magnitude, magnitude);
  const Pair one_more = two_sum(square.high, x.like(1.0));
  // Where x is small and this near 1, all of the result is in low words.
  const Pair sqrt_part = root({one_more.high, one_more.low + square.low}, 2);
  const Pair sum = fast_two_sum(sqrt_part.high, magnitude);
  const Expr tiny = magnitude < by_dtype(dtype, 0x1p-13, 0x1p-28);
  const Expr usual =
      select(tiny, magnitude, rounded(logarithm(Pair{sum.high, sum.low + sqrt_part.low})));
  const Expr result = rare(~(magnitude < by_dtype(dtype, 0x1p60, 0x1p500)), usual,
                           select(is_nan(x), x, large_logarithm(magnitude)));
  return with_sign(abs(result), sign_bit(x));
}

// log(x + sqrt(x^2 - 1)).
Expr acosh(const Expr& x) {
  const DType dtype = x.dtype();
  const Pair square = two_product(x, x);
  const Pair one_less = fast_two_sum(square.high, x.like(-1.0));
  const Pair sqrt_part = root(fast_two_sum(one_less.high, one_less.low + square.low), 0);
  const Pair sum = fast_two_sum(x, sqrt_part.high);
  const Expr usual = rounded(logarithm(Pair{sum.high, sum.low + sqrt_part.low}));
  // Of 1, the root has no remainder to correct.
  const Expr unusual =
      select(x > 1.0, large_logarithm(x), select(x == 1.0, x.like(0.0), x.like(kNan)));
  const double above_1 = 1 + std::ldexp(1.0, -format_of(dtype).fraction_bits);
  return rare(outside(x, above_1, by_dtype(dtype, 0x1p60, 0x1p500)), usual, unusual);
}

// log((1 + |x|) / (1 - |x|)) / 2.
Expr atanh(const Expr& x) {
  const Expr magnitude = abs(x);
  const Expr one = x.like(1.0);
  const Pair numerator = fast_two_sum(one, magnitude);
  const Pair denominator = fast_two_sum(one, -magnitude);
  const Expr inverse = 1.0 / denominator.high;
  const Expr quotient = numerator.high * inverse;
  const Expr remainder = fma(-quotient, denominator.low,
                             fma(-quotient, denominator.high, numerator.high) + numerator.low);
  const Pair ratio = fast_two_sum(quotient, remainder * inverse);
  // The low word, right to a rounding, is all of the result where x is tiny.
  const Expr tiny = magnitude < by_dtype(x.dtype(), 0x1p-13, 0x1p-28);
  const Expr usual = select(tiny, magnitude, rounded(logarithm(ratio)) * .5);
  const Expr unusual = select(magnitude == 1.0, kInfinity, x.like(kNan));
  const Expr result = rare(~(magnitude < 1.0), usual, unusual);
  return with_sign(abs(result), sign_bit(x));
}

}  // namespace lanewise::ir::math
