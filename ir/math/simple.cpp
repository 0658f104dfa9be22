// Composites that are a few primitives.
#include "ir/math/math.h"

namespace lanewise::ir::math {

Expr square(const Expr& x) { return x * x; }

Expr reciprocal(const Expr& x) { return 1 / x; }

Expr clip(const Expr& x, const Expr& lower, const Expr& upper) {
  return minimum(maximum(x, lower), upper);
}

}  // namespace lanewise::ir::math
