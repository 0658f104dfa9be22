#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

constexpr double kPi = 3.14159265358979323846;

constexpr ExactFunction kTrigonometrics[] = {
    {Op::kSin, mpfr_sin}, {Op::kCos, mpfr_cos}, {Op::kTan, mpfr_tan}};

// Numbers around multiples of pi / 2, where sin or cos is small and reduction loses most.
template <std::floating_point T>
std::vector<T> near_quarter_turns(double low, double high, int count) {
  std::vector<T> points;
  for (const double octave : uniform<double>(low, high, count)) {
    add_neighbours(points, static_cast<T>(std::round(std::exp2(octave)) * (kPi / 2)), 2);
  }
  return points;
}

template <class T>
class Trigonometric : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Trigonometric, Floats);

TYPED_TEST(Trigonometric, Accurate) {
  using T = TypeParam;
  for (const auto& [op, exact] : kTrigonometrics) {
    expect_accurate(op, exact, uniform<T>(-.8, .8, 20000));
    expect_accurate(op, exact, uniform<T>(-10, 10, 20000));
    expect_accurate(op, exact, uniform<T>(-60000, 60000, 20000));
    expect_accurate(op, exact, all_octaves<T>(20000));
    expect_accurate(op, exact, near_quarter_turns<T>(0, 40, 3000));
    expect_accurate(op, exact, near_quarter_turns<T>(40, 120, 1000));
  }
}

TYPED_TEST(Trigonometric, HardArguments) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  // The float64 and the float32 closest to a multiple of pi / 2, the limits of the reductions.
  std::vector<T> points;
  for (const double x : {0x1.6ac5b262ca1ffp+849, 0x1.ddc4bap+67, 0x1.8cf6c2p+104, 1e22, 0x1p16,
                         0x1p36, 0x1.921fb54442d18p0}) {
    if (x < static_cast<double>(Limits::max())) add_neighbours(points, static_cast<T>(x), 3);
  }
  points.push_back(Limits::max());
  points.push_back(Limits::min());
  points.push_back(Limits::denorm_min());
  for (const auto& [op, exact] : kTrigonometrics) expect_accurate(op, exact, points);
}

TYPED_TEST(Trigonometric, SpecialValues) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::denorm_min();
  const std::vector<T> x{0, -T{0}, inf, -inf, nan, tiny, -tiny};
  expect_values<T>(Op::kSin, x, {0, -T{0}, nan, nan, nan, tiny, -tiny});
  expect_values<T>(Op::kTan, x, {0, -T{0}, nan, nan, nan, tiny, -tiny});
  expect_values<T>(Op::kCos, x, {1, 1, nan, nan, nan, 1, 1});
}

}  // namespace
}  // namespace lanewise::ir
