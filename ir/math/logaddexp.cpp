// logaddexp.
#include "ir/math/exp.h"
#include "ir/math/log.h"
#include "ir/math/math.h"

namespace lanewise::ir::math {

// With d = -|a - b| it is max(a, b) + log(1 + e^d), all in two words: only the final sum rounds,
// unless it nearly cancels.
//
// How far off the unrounded sum is at most, in units of u = 2^-53 (float32: 2^-24), to first order.
// The tail of e^d is below 1/16, where a rounding costs u/32. There are four of them: r, r and the
// table's low word, the polynomial's last sum, the sum with d.low. With r^2 P(r) for .003 u and the
// error of P for .027 u, e^d has a relative error of .162 u (float32: .137 u), which log(1 + e^d)
// takes over by at most one half. In the logarithm the low word comes in with an error of r^2 u,
// .005 u; r^2 P(r) and sums with it round for .012 u; the error of P is .010 u. Together .108 u.
// All else is exact or of the order of u^2.
//
// The final sum adds half a unit in the last place. From 1/2 on, where u is no more than such a
// unit, that is below .61 of them. Below 1/2 it is below .25 u, and the error below .36 u.
Expr logaddexp(const Expr& a, const Expr& b) {
  const Expr larger = maximum(a, b);
  const Pair d = two_sum(minimum(a, b), -larger);
  const Exponential e = exponential(d.high);
  const Expr tail = fma(d.low, e.tail + 1.0, e.tail);
  const Expr power = power_of_two(e.eighths);
  const Expr high = fma(power, tail, power);
  const Expr low = fma(power, tail, power - high);
  const Pair one_more = fast_two_sum(high.like(1.0), high);
  const Pair logarithm_part = logarithm(Pair{one_more.high, one_more.low + low});
  const Pair sum = two_sum(larger, logarithm_part.high);
  const Expr usual = sum.high + (sum.low + logarithm_part.low);
  // Far apart, or infinite: the larger one, also where both are the same infinity.
  return rare(~(d.high > -exp_limit(a.dtype())), usual, larger);
}

}  // namespace lanewise::ir::math
