// The length of a vector.
#include "ir/math/detail.h"
#include "ir/math/math.h"

namespace lanewise::ir::math {

namespace {

// sqrt(a^2 + b^2) for a >= b >= 0 whose squares are normal or 0. The sum is rounded once, so that
// the root is the nearest number wherever that is the exact length.
Expr ordinary_length(const Expr& a, const Expr& b) {
  const Pair a2 = two_product(a, a);
  const Pair b2 = two_product(b, b);
  const Pair sum = fast_two_sum(a2.high, b2.high);
  return sqrt(sum.high + (sum.low + (a2.low + b2.low)));
}

}  // namespace

Expr hypot(const Expr& x, const Expr& y) {
  const DType dtype = x.dtype();
  const Expr x_size = abs(x);
  const Expr y_size = abs(y);
  const Expr swap = x_size < y_size;
  const Expr a = select(swap, y_size, x_size);
  const Expr b = select(swap, x_size, y_size);
  const double low = by_dtype(dtype, 0x1p-50, 0x1p-480);
  const double high = by_dtype(dtype, 0x1p63, 0x1p511);
  // Anything that is NaN or not in between, but for the origin.
  const Expr unsafe = ~(a + b < high) | ((a < low) & (a > 0));
  const double up = by_dtype(dtype, 0x1p100, 0x1p600);
  const Expr large = a > 1;
  const Expr scale = select(large, 1 / up, a.like(up));
  const Expr far = ordinary_length(a * scale, b * scale) * select(large, up, a.like(1 / up));
  const Expr infinite = (x_size == kInfinity) | (y_size == kInfinity);
  return rare(unsafe, ordinary_length(a, b), select(infinite, kInfinity, far));
}

}  // namespace lanewise::ir::math
