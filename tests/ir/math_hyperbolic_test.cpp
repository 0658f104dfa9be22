#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class Hyperbolic : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Hyperbolic, Floats);

// 1 / (1 + e^-x), with relative precision also where that is small.
int mpfr_expit(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t) {
  mpfr_neg(result, x, MPFR_RNDN);
  mpfr_exp(result, result, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  return mpfr_ui_div(result, 1, result, MPFR_RNDN);
}

constexpr ExactFunction kHyperbolics[] = {{Op::kSinh, mpfr_sinh},   {Op::kCosh, mpfr_cosh},
                                          {Op::kTanh, mpfr_tanh},   {Op::kExpit, mpfr_expit},
                                          {Op::kAsinh, mpfr_asinh}, {Op::kAcosh, mpfr_acosh},
                                          {Op::kAtanh, mpfr_atanh}};

TYPED_TEST(Hyperbolic, Accurate) {
  using T = TypeParam;
  const double limit = std::is_same_v<T, float> ? 90 : 711;
  for (const auto& [op, exact] : kHyperbolics) {
    expect_accurate(op, exact, uniform<T>(-1, 1, 10000));
    expect_accurate(op, exact, uniform<T>(-10, 10, 10000));
    expect_accurate(op, exact, uniform<T>(-limit, limit, 5000));
    expect_accurate(op, exact, uniform<T>(-limit * 1.05, -limit * .98, 5000));
    expect_accurate(op, exact, uniform<T>(limit * .98, limit * 1.05, 5000));
    expect_accurate(op, exact, octaves<T>(-60, 10, 10000));
    expect_accurate(op, exact, all_octaves<T>(5000));
  }
}

TYPED_TEST(Hyperbolic, NearLimits) {
  using T = TypeParam;
  std::vector<T> near_1, far;
  for (const T x : {T(1), T(-1)}) add_neighbours(near_1, x, 1000);
  for (const T x : uniform<T>(1, 1.02, 5000)) near_1.push_back(x);
  for (const auto& [op, exact] : kHyperbolics) expect_accurate(op, exact, near_1);
  for (const double x : {1e-4, 1e-3, .0216, .0433, .065, .125, .375, .5, 9.01, 9.125, 19.06, 22.}) {
    add_neighbours(far, static_cast<T>(x), 50);
  }
  for (const auto& [op, exact] : kHyperbolics) expect_accurate(op, exact, far);
}

TYPED_TEST(Hyperbolic, SpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN(), tiny = Limits::denorm_min();
  const T large = Limits::max();
  const std::vector<T> x{0, -T(0), inf, -inf, nan, large, -large, tiny, -tiny};
  expect_values<T>(Op::kSinh, x, {0, -T(0), inf, -inf, nan, inf, -inf, tiny, -tiny});
  expect_values<T>(Op::kCosh, x, {1, 1, inf, inf, nan, inf, inf, 1, 1});
  expect_values<T>(Op::kTanh, x, {0, -T(0), 1, -1, nan, 1, -1, tiny, -tiny});
  expect_values<T>(Op::kExpit, x, {.5, .5, 1, 0, nan, 1, 0, .5, .5});
  expect_values<T>(Op::kAsinh, {0, -T(0), inf, -inf, nan, tiny, -tiny},
                   {0, -T(0), inf, -inf, nan, tiny, -tiny});
  expect_values<T>(Op::kAcosh, {1, inf, -inf, nan, 0, -1, T(.999), -large},
                   {0, inf, nan, nan, nan, nan, nan, nan});
  expect_values<T>(Op::kAtanh, {0, -T(0), 1, -1, inf, -inf, nan, 2, -large, tiny, -tiny},
                   {0, -T(0), inf, -inf, nan, nan, nan, nan, nan, tiny, -tiny});
}

}  // namespace
}  // namespace lanewise::ir
