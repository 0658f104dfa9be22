#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class Logaddexp : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Logaddexp, Floats);

int mpfr_logaddexp(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y, mpfr_rnd_t) {
  mpfr_t wide, other;  // so that cancellation leaves enough
  mpfr_inits2(250, wide, other, static_cast<mpfr_ptr>(nullptr));
  mpfr_exp(wide, x, MPFR_RNDN);
  mpfr_exp(other, y, MPFR_RNDN);
  mpfr_add(wide, wide, other, MPFR_RNDN);
  mpfr_log(wide, wide, MPFR_RNDN);
  const int inexact = mpfr_set(result, wide, MPFR_RNDN);
  mpfr_clears(wide, other, static_cast<mpfr_ptr>(nullptr));
  return inexact;
}

TYPED_TEST(Logaddexp, Accurate) {
  using T = TypeParam;
  expect_accurate(Op::kLogaddexp, mpfr_logaddexp, uniform<T>(0, 10, 10000, 1),
                  uniform<T>(-10, 10, 10000, 2));
  expect_accurate(Op::kLogaddexp, mpfr_logaddexp, uniform<T>(-80, -2, 10000, 1),
                  uniform<T>(-80, -2, 10000, 2));
  expect_accurate(Op::kLogaddexp, mpfr_logaddexp, octaves<T>(-30, 7, 10000, 1),
                  std::vector<T>(10000, T(3)));
}

// |result - logaddexp(x, y)|.
template <class T>
double absolute_error(T result, T x, T y) {
  mpfr_t exact, a, b;
  mpfr_inits2(250, exact, a, b, static_cast<mpfr_ptr>(nullptr));
  mpfr_set_d(a, static_cast<double>(x), MPFR_RNDN);
  mpfr_set_d(b, static_cast<double>(y), MPFR_RNDN);
  mpfr_logaddexp(exact, a, b, MPFR_RNDN);
  mpfr_sub_d(exact, exact, static_cast<double>(result), MPFR_RNDN);
  const double error = std::abs(mpfr_get_d(exact, MPFR_RNDN));
  mpfr_clears(exact, a, b, static_cast<mpfr_ptr>(nullptr));
  return error;
}

// The bound that ops.def states where the result is near 0.
TYPED_TEST(Logaddexp, CancellationHasAnAbsoluteBound) {
  using T = TypeParam;
  const std::vector<T> x = uniform<T>(-2, 0, 20000, 1);
  std::vector<T> y(x.size());
  for (size_t i = 0; i < x.size(); ++i) y[i] = std::log1p(-std::exp(x[i]));
  const std::vector<T> result = apply_op<T>(Op::kLogaddexp, x, y);
  const double bound = spec(Op::kLogaddexp).max_absolute * std::numeric_limits<T>::epsilon() / 2;
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = absolute_error(result[i], x[i], y[i]);
    ASSERT_LE(error, bound) << x[i] << ' ' << y[i];
    worst = std::max(worst, error);
  }
  EXPECT_GT(worst, bound / 100);  // else the points say nothing
}

TYPED_TEST(Logaddexp, SpecialValues) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T large = std::numeric_limits<T>::max();
  const std::vector<T> x{inf, inf, -inf, -inf, inf, nan, nan, nan, -inf, large, large, -large};
  const std::vector<T> y{inf, -inf, -inf, 3, 3, 1, inf, -inf, nan, -large, large, -inf};
  const std::vector<T> sum{inf, inf, -inf, 3, inf, nan, nan, nan, nan, large, large, -large};
  expect_values(Op::kLogaddexp, x, y, sum);
  expect_values(Op::kLogaddexp, y, x, sum);
}

}  // namespace
}  // namespace lanewise::ir
