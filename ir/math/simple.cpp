// Composites that are a few primitives.
#include "ir/math/math.h"

namespace lanewise::ir::math {

Expr square(const Expr& x) { return x * x; }

Expr reciprocal(const Expr& x) { return 1 / x; }

Expr clip(const Expr& x, const Expr& lower, const Expr& upper) {
  return minimum(maximum(x, lower), upper);
}

Expr logical_and(const Expr& a, const Expr& b) { return a & b; }

Expr logical_or(const Expr& a, const Expr& b) { return a | b; }

Expr logical_xor(const Expr& a, const Expr& b) { return a ^ b; }

Expr logical_not(const Expr& a) { return ~a; }

}  // namespace lanewise::ir::math
