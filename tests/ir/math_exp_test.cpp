#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class Exponential : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Exponential, Floats);

constexpr ExactFunction kExponentials[] = {
    {Op::kExp, mpfr_exp}, {Op::kExp2, mpfr_exp2}, {Op::kExpm1, mpfr_expm1}};

// Where e^x and 2^x become subnormal, zero and infinite.
template <class T>
std::vector<T> ends() {
  const bool f32 = std::is_same_v<T, float>;
  std::vector<T> points;
  for (const double x :
       f32 ? std::vector{-103.97, -87.33, -87., 87., 88.72, -149., -126., 128.}
           : std::vector{-745.13, -708.39, -708., 708., 709.78, -1074., -1022., 1024.}) {
    add_neighbours(points, static_cast<T>(x), 200);
  }
  return points;
}

// Multiples of log(2) / 16, where the reduction changes from one table entry to the next.
template <class T>
std::vector<T> steps() {
  std::vector<T> points;
  for (int n = -800; n <= 800; ++n)
    add_neighbours(points, static_cast<T>(n * std::log(2.) / 16), 2);
  return points;
}

TYPED_TEST(Exponential, Accurate) {
  using T = TypeParam;
  const double limit = std::is_same_v<T, float> ? 90 : 710;
  for (const auto& [op, exact] : kExponentials) {
    expect_accurate(op, exact, uniform<T>(-limit, limit, 10000));
    expect_accurate(op, exact, uniform<T>(-limit * 1.5, -limit, 10000));
    expect_accurate(op, exact, uniform<T>(-1, 1, 10000));
    expect_accurate(op, exact, uniform<T>(.04, .06, 10000));
    expect_accurate(op, exact, uniform<T>(14, 40, 10000));
    expect_accurate(op, exact, all_octaves<T>(10000));
    expect_accurate(op, exact, ends<T>());
    expect_accurate(op, exact, steps<T>());
  }
}

TYPED_TEST(Exponential, SpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN(), tiny = Limits::denorm_min();
  const T large = Limits::max();
  const std::vector<T> x{0, -T(0), inf, -inf, nan, large, -large, tiny, -tiny};
  expect_values<T>(Op::kExp, x, {1, 1, inf, 0, nan, inf, 0, 1, 1});
  expect_values<T>(Op::kExp2, x, {1, 1, inf, 0, nan, inf, 0, 1, 1});
  expect_values<T>(Op::kExpm1, x, {0, -T(0), inf, -1, nan, inf, -1, tiny, -tiny});
}

TYPED_TEST(Exponential, PowersOf2AreExact) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> x, expected;
  for (int n = Limits::min_exponent - Limits::digits; n < Limits::max_exponent; ++n) {
    x.push_back(static_cast<T>(n));
    expected.push_back(std::ldexp(T(1), n));
  }
  expect_values<T>(Op::kExp2, x, expected);
}

}  // namespace
}  // namespace lanewise::ir
