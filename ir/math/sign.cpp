// Signs, neighbours and classes of numbers.
#include "ir/math/detail.h"
#include "ir/math/math.h"

namespace lanewise::ir::math {

namespace {

// The sign bit alone, in the signed integer of the width of `x`.
Expr sign_mask(const Expr& x) {
  return x.as_signed().constant(
      Scalar{signed_of_width(size_of(x.dtype())), uint64_t{1} << (8 * size_of(x.dtype()) - 1)});
}

}  // namespace

Expr sign(const Expr& x) {
  if (is_unsigned_int(x.dtype())) return minimum(x, 1);
  if (is_int(x.dtype())) return maximum(minimum(x, 1), -1);
  // Adding 0 makes -0 to +0 and keeps NaN.
  return select(x > 0, 1, select(x < 0, -1, x + 0.0));
}

Expr signbit(const Expr& x) { return x.as_signed() < 0; }

Expr copysign(const Expr& magnitude, const Expr& sign) {
  const Expr mask = sign_mask(magnitude);
  return ((magnitude.as_signed() & ~mask) | (sign.as_signed() & mask)).as_float();
}

// The bits of a float ordered as an integer grow with its magnitude, so neighbours differ by 1.
Expr nextafter(const Expr& from, const Expr& to) {
  const Expr bits = from.as_signed();
  const Expr away_from_0 = (to > from) == (from > 0);
  const Expr neighbour = (bits + select(away_from_0, 1, bits.like(-1))).as_float();
  const Expr smallest = ((to.as_signed() & sign_mask(to)) | 1).as_float();
  const Expr result = select(from == 0, smallest, neighbour);
  return select(from == to, to, select(isnan(from) | isnan(to), from + to, result));
}

Expr isnan(const Expr& x) { return x != x; }

Expr isinf(const Expr& x) { return is_float(x.dtype()) ? abs(x) == kInfinity : isnan(x); }

Expr isfinite(const Expr& x) { return is_float(x.dtype()) ? abs(x) < kInfinity : x == x; }

}  // namespace lanewise::ir::math
