#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class Cbrt : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Cbrt, Floats);

TYPED_TEST(Cbrt, Accurate) {
  using T = TypeParam;
  expect_accurate(Op::kCbrt, mpfr_cbrt, uniform<T>(-8, 8, 20000));
  expect_accurate(Op::kCbrt, mpfr_cbrt, all_octaves<T>(20000));
  std::vector<T> steps;
  for (int n = 16; n < 128; ++n) add_neighbours(steps, static_cast<T>(n) / 16, 10);
  expect_accurate(Op::kCbrt, mpfr_cbrt, steps);
}

TYPED_TEST(Cbrt, CubesAreExact) {
  using T = TypeParam;
  const int largest = std::is_same_v<T, float> ? 256 : 200000;  // their cubes are numbers
  std::vector<T> x, root;
  for (int n = -largest; n <= largest; n += std::max(1, largest / 5000)) {
    root.push_back(static_cast<T>(n));
    x.push_back(root.back() * root.back() * root.back());
  }
  expect_values(Op::kCbrt, x, root);
}

TYPED_TEST(Cbrt, SpecialValues) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  expect_values<T>(Op::kCbrt, {0, -T(0), inf, -inf, nan}, {0, -T(0), inf, -inf, nan});
}

}  // namespace
}  // namespace lanewise::ir
