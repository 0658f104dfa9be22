// The common part of exponentials: a power of two in steps of 1/8, times a number near one.
#pragma once

#include "ir/math/detail.h"

namespace lanewise::ir::math {

// 2^(n / 8), n in `eighths`: as a word, exact or rounded, where that is a normal number.
Expr power_of_two(const Nearest& eighths);
// What the rounded word is short of, relative to it.
Expr power_of_two_low(const Nearest& eighths);

// 2^(n / 8) * (1 + tail) with |tail| < 1/22.
struct Exponential {
  Nearest eighths;
  Expr tail;
};
Exponential exponential(const Expr& x);  // of e^x
// Of e^(x1 (x2.high + x2.low)), not rounded before.
Exponential exponential(const Expr& x1, const Pair& x2);
Exponential exponential_of_2(const Expr& x);  // of 2^x

// x - n ln(2)/8, |x| <= ln(2)/16, with what rounding took from it.
struct Reduction {
  Nearest eighths;
  Pair rest;
};
Reduction reduce(const Expr& x);
// (e^r - 1 - r) / r^2 for such r, `r2` its square; r + r^2 times it is right relative to r.
Expr expm1_series(const Expr& r, const Expr& r2);

// The number, where 2^(n / 8) and it are normal numbers.
Expr normal_value(const Exponential& e);
// The number wherever it lies, rounded to subnormals and overflowing as it must.
Expr any_value(const Exponential& e);
// The number times 2^shift, likewise.
Expr any_value(const Exponential& e, int shift);

// e^x - 1 in two words, for -exp_limit <= x <= 0.
Pair expm1_of_negative(const Expr& x);

// Beyond this absolute value e^x may be no normal number.
double exp_limit(DType dtype);

}  // namespace lanewise::ir::math
