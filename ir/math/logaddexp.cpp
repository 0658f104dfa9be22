// logaddexp.
#include "ir/math/exp.h"
#include "ir/math/log.h"
#include "ir/math/math.h"

namespace lanewise::ir::math {

// With d = -|a - b| it is max(a, b) + log(1 + e^d), all in two words: only the final sum rounds,
// unless it nearly cancels.
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
