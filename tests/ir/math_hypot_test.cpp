#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class Hypot : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Hypot, Floats);

TYPED_TEST(Hypot, Accurate) {
  using T = TypeParam;
  expect_accurate(Op::kHypot, mpfr_hypot, uniform<T>(-1, 1, 30000, 1), uniform<T>(-1, 1, 30000, 2));
  expect_accurate(Op::kHypot, mpfr_hypot, all_octaves<T>(30000, 1), all_octaves<T>(30000, 2));
  // Of every size, with squares that both count.
  const std::vector<T> x = all_octaves<T>(50000, 3);
  std::vector<T> y = octaves<T>(-8, 8, 50000, 4);
  for (size_t i = 0; i < x.size(); ++i) y[i] *= x[i];
  expect_accurate(Op::kHypot, mpfr_hypot, x, y);
}

TYPED_TEST(Hypot, PythagoreanTriplesAreExact) {
  using T = TypeParam;
  std::vector<T> x, y, lengths;
  for (int m = 2; m < 100; ++m) {
    for (int n = 1; n < m; ++n) {
      // Also where squares leave the range.
      for (const int exponent :
           {0, std::numeric_limits<T>::max_exponent - 20, std::numeric_limits<T>::min_exponent}) {
        x.push_back(std::ldexp(static_cast<T>(m * m - n * n), exponent));
        y.push_back(std::ldexp(static_cast<T>(2 * m * n), exponent));
        lengths.push_back(std::ldexp(static_cast<T>(m * m + n * n), exponent));
      }
    }
  }
  expect_values<T>(Op::kHypot, x, y, lengths);
}

TYPED_TEST(Hypot, SpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity();
  const T nan = Limits::quiet_NaN();
  const T tiny = Limits::denorm_min();
  const T max = Limits::max();
  expect_values<T>(Op::kHypot, {0, -T{0}, 0, inf, -inf, inf, nan, 1, nan, tiny, max, max},
                   {0, -T{0}, -3, 1, nan, inf, -inf, nan, nan, 0, 0, max},
                   {0, 0, 3, inf, inf, inf, inf, nan, nan, tiny, max, inf});
}

}  // namespace
}  // namespace lanewise::ir
