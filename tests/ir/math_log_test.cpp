#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class Logarithm : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Logarithm, Floats);

constexpr ExactFunction kLogarithms[] = {{Op::kLog, mpfr_log},
                                         {Op::kLog2, mpfr_log2},
                                         {Op::kLog10, mpfr_log10},
                                         {Op::kLog1p, mpfr_log1p}};

// Where one table entry follows the other, for a few exponents.
template <class T>
std::vector<T> steps() {
  std::vector<T> points;
  for (const int exponent : {-100, -3, -1, 0, 1, 2, 3, 10, 100}) {
    for (int n = 16; n < 32; ++n) {
      add_neighbours(points, std::ldexp(static_cast<T>(n) / 16, exponent), 10);
    }
  }
  return points;
}

TYPED_TEST(Logarithm, Accurate) {
  using T = TypeParam;
  for (const auto& [op, exact] : kLogarithms) {
    expect_accurate(op, exact, uniform<T>(.5, 2, 10000));
    expect_accurate(op, exact, uniform<T>(.96, 1.08, 10000));
    expect_accurate(op, exact, uniform<T>(-.08, .08, 10000));
    expect_accurate(op, exact, uniform<T>(-1, 1000, 10000));
    expect_accurate(op, exact, all_octaves<T>(20000));
    expect_accurate(op, exact, octaves<T>(-60, 0, 10000));
    expect_accurate(op, exact, steps<T>());
    std::vector<T> near;
    for (const T x : {T(1), T(0), T(-1), std::numeric_limits<T>::min()}) {
      add_neighbours(near, x, 2000);
    }
    expect_accurate(op, exact, near);
  }
}

TYPED_TEST(Logarithm, SpecialValues) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::denorm_min();
  const std::vector<T> x{0, -T(0), inf, -inf, nan, -1, -tiny, 1};
  for (const Op op : {Op::kLog, Op::kLog2, Op::kLog10}) {
    expect_values<T>(op, x, {-inf, -inf, inf, nan, nan, nan, nan, 0});
  }
  expect_values<T>(Op::kLog1p, {0, -T(0), inf, -inf, nan, -1, -2, tiny, -tiny},
                   {0, -T(0), inf, nan, nan, -inf, nan, tiny, -tiny});
}

TYPED_TEST(Logarithm, PowersAreExact) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> x, expected;
  for (int n = Limits::min_exponent - Limits::digits; n < Limits::max_exponent; ++n) {
    x.push_back(std::ldexp(T(1), n));
    expected.push_back(static_cast<T>(n));
  }
  expect_values<T>(Op::kLog2, x, expected);
  x.clear();
  expected.clear();
  T power = 1;
  for (int n = 0; n <= (std::is_same_v<T, float> ? 10 : 22); ++n, power *= 10) {
    x.push_back(power);  // exact so far
    expected.push_back(static_cast<T>(n));
  }
  expect_values<T>(Op::kLog10, x, expected);
}

}  // namespace
}  // namespace lanewise::ir
