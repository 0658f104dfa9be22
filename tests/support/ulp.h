// Errors in units in the last place, against MPFR.
#pragma once

#include <mpfr.h>

#include <concepts>

namespace lanewise::test {

// A function as MPFR offers it: mpfr_exp, mpfr_atan2, or one of the same kind.
using Exact1 = int (*)(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t);
using Exact2 = int (*)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t);

// |result - f(x)| in units in the last place of f(x) in T (of the smallest normal number below
// it, of the largest number above it; infinity stands for the power of two that overflows).
// 0 if both are NaN or both infinite with one sign; infinity if only one is NaN. Signs of zero do
// not count.
template <std::floating_point T>
double ulp_error(T result, Exact1 f, T x);
template <std::floating_point T>
double ulp_error(T result, Exact2 f, T x, T y);
template <std::floating_point T>
double ulp_error(T result, mpfr_srcptr exact);

// The correctly rounded value.
template <std::floating_point T>
T rounded(Exact1 f, T x);
template <std::floating_point T>
T rounded(Exact2 f, T x, T y);

}  // namespace lanewise::test
