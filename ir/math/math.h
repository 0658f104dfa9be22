// The meaning of composite ops: each function writes its op with primitives. All operands have
// one dtype and shape. Declared here, one family a file; `expand` (ir/passes/expand.cpp) calls
// them for the nodes of a graph, and expansions call each other.
#pragma once

#include "ir/builder.h"

namespace lanewise::ir::math {

// simple.cpp
Expr square(const Expr& x);
Expr reciprocal(const Expr& x);
Expr clip(const Expr& x, const Expr& lower, const Expr& upper);
Expr logical_and(const Expr& a, const Expr& b);
Expr logical_or(const Expr& a, const Expr& b);
Expr logical_xor(const Expr& a, const Expr& b);
Expr logical_not(const Expr& a);

// sign.cpp
Expr sign(const Expr& x);
Expr signbit(const Expr& x);
Expr copysign(const Expr& magnitude, const Expr& sign);
Expr nextafter(const Expr& from, const Expr& to);
Expr isnan(const Expr& x);
Expr isinf(const Expr& x);
Expr isfinite(const Expr& x);

// division.cpp
Expr floor_divide(const Expr& a, const Expr& b);
Expr remainder(const Expr& a, const Expr& b);
Expr fmod(const Expr& a, const Expr& b);

// exp.cpp
Expr exp(const Expr& x);
Expr exp2(const Expr& x);
Expr expm1(const Expr& x);

// log.cpp
Expr log(const Expr& x);
Expr log2(const Expr& x);
Expr log10(const Expr& x);
Expr log1p(const Expr& x);

// logaddexp.cpp
Expr logaddexp(const Expr& a, const Expr& b);

// cbrt.cpp
Expr cbrt(const Expr& x);

// hyperbolic.cpp
Expr sinh(const Expr& x);
Expr cosh(const Expr& x);
Expr tanh(const Expr& x);
Expr expit(const Expr& x);

// inverse_hyperbolic.cpp
Expr asinh(const Expr& x);
Expr acosh(const Expr& x);
Expr atanh(const Expr& x);

// pow.cpp
Expr pow(const Expr& x, const Expr& y);

// pow_const.cpp
Expr pow_const(const Expr& x, double exponent);
// The exponents for which pow_const is better than pow: for floats integers and halves of them up
// to 64, for integers those of them that are not negative. With others pow_const is pow.
bool has_pow_const(DType dtype, double exponent);
// By plain products and sqrt, for floats and these exponents: the error is at most |c| + 1 units in
// the last place, powers leave the range early, and roots of -0 and -inf are those of sqrt.
Expr fast_pow_const(const Expr& x, double exponent);

// trigonometric.cpp
Expr sin(const Expr& x);
Expr cos(const Expr& x);
Expr tan(const Expr& x);

// inverse_trigonometric.cpp
Expr asin(const Expr& x);
Expr acos(const Expr& x);
Expr atan(const Expr& x);
Expr atan2(const Expr& y, const Expr& x);

// erf.cpp
Expr erf(const Expr& x);
Expr erfc(const Expr& x);

// hypot.cpp
Expr hypot(const Expr& x, const Expr& y);

}  // namespace lanewise::ir::math
