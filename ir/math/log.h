// Logarithms of sums of two words, for functions that end in one.
#pragma once

#include "ir/math/detail.h"

namespace lanewise::ir::math {

// log(x.high + x.low) in two words, not rounded before; x.low is at most an ulp of x.high, which is
// normal and at most log_limit. For x.high = 1 it is right relative to x.low.
Pair logarithm(const Pair& x);
// log(x) in two words, for positive normal x.
Pair logarithm(const Expr& x);
double log_limit(DType dtype);

}  // namespace lanewise::ir::math
