#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class InverseTrigonometric : public testing::Test {
 public:
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T kTiny = std::numeric_limits<T>::denorm_min();
  static constexpr T kMax = std::numeric_limits<T>::max();
  // Rounded, as MPFR does.
  static T rounded_pi(double factor) {
    T pi = rounded<T>(mpfr_acos, T{-1});
    return pi * static_cast<T>(factor);
  }
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(InverseTrigonometric, Floats);

TYPED_TEST(InverseTrigonometric, AsinAndAcosAccurate) {
  using T = TypeParam;
  // The limit of the two ways, and the ends, where the slope is infinite.
  std::vector<T> edges;
  for (const T x : {T(-1), T(-.5), T(.5), T(1)}) add_neighbours(edges, x, 50);
  for (const T distance : octaves<T>(-60, -1, 5000)) {
    edges.push_back(distance > 0 ? 1 - distance : -1 - distance);
  }
  for (const auto& [op, exact] :
       {std::pair{Op::kAsin, Exact1{mpfr_asin}}, {Op::kAcos, mpfr_acos}}) {
    expect_accurate(op, exact, uniform<T>(-1, 1, 30000));
    expect_accurate(op, exact, uniform<T>(-.6, -.4, 10000));
    expect_accurate(op, exact, uniform<T>(.4, .6, 10000));
    expect_accurate(op, exact, octaves<T>(std::numeric_limits<T>::min_exponent - 20, 0, 10000));
    expect_accurate(op, exact, edges);
  }
}

TYPED_TEST(InverseTrigonometric, AtanAccurate) {
  using T = TypeParam;
  std::vector<T> edges;
  for (const T x : {.375, .5, .75, 1., 1.5, 2., 3.}) add_neighbours(edges, x, 50);
  expect_accurate(Op::kAtan, mpfr_atan, uniform<T>(-4, 4, 30000));
  expect_accurate(Op::kAtan, mpfr_atan, uniform<T>(.4, .6, 10000));
  expect_accurate(Op::kAtan, mpfr_atan, all_octaves<T>(10000));
  expect_accurate(Op::kAtan, mpfr_atan, edges);
}

TYPED_TEST(InverseTrigonometric, Atan2Accurate) {
  using T = TypeParam;
  expect_accurate(Op::kAtan2, mpfr_atan2, uniform<T>(-1, 1, 30000, 1), uniform<T>(-1, 1, 30000, 2));
  expect_accurate(Op::kAtan2, mpfr_atan2, all_octaves<T>(10000, 1), all_octaves<T>(10000, 2));
  // Quotients near 1 and near the limits of the intervals, for points of every size.
  for (const double spread : {1., 8.}) {
    const std::vector<T> x = all_octaves<T>(20000, 3);
    std::vector<T> y = octaves<T>(-spread, spread, 20000, 4);
    for (size_t i = 0; i < x.size(); ++i) y[i] *= x[i];
    expect_accurate(Op::kAtan2, mpfr_atan2, y, x);
  }
}

TYPED_TEST(InverseTrigonometric, SpecialValues) {
  using T = TypeParam;
  using F = TestFixture;
  const T half_pi = F::rounded_pi(.5);
  const std::vector<T> x{0, -T{0}, F::kTiny, -F::kTiny, 1, -1};
  expect_values<T>(Op::kAsin, x, {0, -T{0}, F::kTiny, -F::kTiny, half_pi, -half_pi});
  expect_values<T>(Op::kAcos, x, {half_pi, half_pi, half_pi, half_pi, 0, F::rounded_pi(1)});
  const std::vector<T> outside{std::nextafter(T{1}, F::kInf), -2, F::kInf, -F::kInf, F::kNan};
  const std::vector<T> nans(outside.size(), F::kNan);
  expect_values<T>(Op::kAsin, outside, nans);
  expect_values<T>(Op::kAcos, outside, nans);
  expect_values<T>(Op::kAtan, {0, -T{0}, F::kTiny, -F::kTiny, F::kInf, -F::kInf, F::kMax, F::kNan},
                   {0, -T{0}, F::kTiny, -F::kTiny, half_pi, -half_pi, half_pi, F::kNan});
}

// Every pair of these numbers, as C's Annex F has them; MPFR follows it.
TYPED_TEST(InverseTrigonometric, Atan2SpecialValues) {
  using T = TypeParam;
  using F = TestFixture;
  const std::vector<T> numbers{0,       1,       F::kTiny, std::numeric_limits<T>::min(),
                               F::kMax, F::kInf, F::kNan};
  for (const T a : numbers) {
    for (const T b : numbers) {
      for (const T y : {a, -a}) {
        for (const T x : {b, -b}) {
          const T expected = rounded<T>(mpfr_atan2, y, x);
          const T actual = apply_op<T>(Op::kAtan2, std::vector<T>{y}, std::vector<T>{x})[0];
          EXPECT_TRUE(same_value(actual, expected))
              << format("atan2({}, {}) = {}, not {}", y, x, actual, expected);
        }
      }
    }
  }
}

}  // namespace
}  // namespace lanewise::ir
