#include "tests/support/ulp.h"

#include <cmath>
#include <limits>

namespace lanewise::test {

namespace {

// Enough that the error of MPFR's value is below a millionth of a unit in the last place.
constexpr mpfr_prec_t kPrecision = 96;

// Room for the exact values of one call, made once a thread.
struct Scratch {
  mpfr_t x, y, value, difference;
  Scratch() { mpfr_inits2(kPrecision, x, y, value, difference, static_cast<mpfr_ptr>(nullptr)); }
  ~Scratch() { mpfr_clears(x, y, value, difference, static_cast<mpfr_ptr>(nullptr)); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

Scratch& scratch() {
  thread_local Scratch scratch;
  return scratch;
}

mpfr_srcptr evaluate(Exact1 f, double x) {
  Scratch& s = scratch();
  mpfr_set_d(s.x, x, MPFR_RNDN);
  f(s.value, s.x, MPFR_RNDN);
  return s.value;
}

mpfr_srcptr evaluate(Exact2 f, double x, double y) {
  Scratch& s = scratch();
  mpfr_set_d(s.x, x, MPFR_RNDN);
  mpfr_set_d(s.y, y, MPFR_RNDN);
  f(s.value, s.x, s.y, MPFR_RNDN);
  return s.value;
}

// The nearest T, with one rounding also where the result is subnormal.
template <class T>
T round_to(mpfr_srcptr exact) {
  return std::is_same_v<T, float> ? static_cast<T>(mpfr_get_flt(exact, MPFR_RNDN))
                                  : static_cast<T>(mpfr_get_d(exact, MPFR_RNDN));
}

}  // namespace

template <std::floating_point T>
double ulp_error(T result, mpfr_srcptr exact) {
  using Limits = std::numeric_limits<T>;
  const double infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(result) || mpfr_nan_p(exact)) {
    return std::isnan(result) && mpfr_nan_p(exact) ? 0 : infinity;
  }
  if (mpfr_inf_p(exact)) return mpfr_get_d(exact, MPFR_RNDN) == result ? 0 : infinity;
  // MPFR's exponents are one larger: its mantissas are below one.
  long exponent = mpfr_zero_p(exact) ? Limits::min_exponent : mpfr_get_exp(exact);
  if (exponent < Limits::min_exponent) exponent = Limits::min_exponent;
  if (exponent > Limits::max_exponent) exponent = Limits::max_exponent;
  mpfr_ptr difference = scratch().difference;
  if (std::isinf(result)) {
    if (mpfr_get_exp(exact) > Limits::max_exponent && mpfr_sgn(exact) * result > 0) return 0;
    mpfr_set_si_2exp(difference, result > 0 ? 1 : -1, Limits::max_exponent, MPFR_RNDN);
  } else {
    mpfr_set_d(difference, static_cast<double>(result), MPFR_RNDN);
  }
  mpfr_sub(difference, difference, exact, MPFR_RNDN);
  mpfr_mul_2si(difference, difference, Limits::digits - exponent, MPFR_RNDN);
  return std::abs(mpfr_get_d(difference, MPFR_RNDN));
}

template <std::floating_point T>
double ulp_error(T result, Exact1 f, T x) {
  return ulp_error(result, evaluate(f, static_cast<double>(x)));
}

template <std::floating_point T>
double ulp_error(T result, Exact2 f, T x, T y) {
  return ulp_error(result, evaluate(f, static_cast<double>(x), static_cast<double>(y)));
}

template <std::floating_point T>
T rounded(Exact1 f, T x) {
  return round_to<T>(evaluate(f, static_cast<double>(x)));
}

template <std::floating_point T>
T rounded(Exact2 f, T x, T y) {
  return round_to<T>(evaluate(f, static_cast<double>(x), static_cast<double>(y)));
}

template double ulp_error(float, mpfr_srcptr);
template double ulp_error(double, mpfr_srcptr);
template double ulp_error(float, Exact1, float);
template double ulp_error(double, Exact1, double);
template double ulp_error(float, Exact2, float, float);
template double ulp_error(double, Exact2, double, double);
template float rounded(Exact1, float);
template double rounded(Exact1, double);
template float rounded(Exact2, float, float);
template double rounded(Exact2, double, double);

}  // namespace lanewise::test
