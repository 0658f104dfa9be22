#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class ErrorFunction : public testing::Test {
 public:
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(ErrorFunction, Floats);

TYPED_TEST(ErrorFunction, Accurate) {
  using T = TypeParam;
  // The limits of the polynomials' intervals.
  std::vector<T> edges;
  for (int i = 0; i < 60; ++i) add_neighbours(edges, static_cast<T>(i / 8.), 10);
  for (const auto& [op, exact] : {std::pair{Op::kErf, Exact1{mpfr_erf}}, {Op::kErfc, mpfr_erfc}}) {
    expect_accurate(op, exact, uniform<T>(-1, 1, 10000));
    expect_accurate(op, exact, uniform<T>(.1, .3, 5000));
    expect_accurate(op, exact, uniform<T>(-7, 7, 5000));
    expect_accurate(op, exact, octaves<T>(std::numeric_limits<T>::min_exponent - 20, 3, 5000));
    expect_accurate(op, exact, edges);
  }
}

// Down to subnormal results and 0.
TYPED_TEST(ErrorFunction, TailOfErfcAccurate) {
  using T = TypeParam;
  const double end = std::is_same_v<T, float> ? 10.1 : 27.3;
  expect_accurate(Op::kErfc, mpfr_erfc, uniform<T>(2, end, 2000));
  expect_accurate(Op::kErfc, mpfr_erfc, uniform<T>(end - 1.5, end, 2000));
}

TYPED_TEST(ErrorFunction, SpecialValues) {
  using T = TypeParam;
  using F = TestFixture;
  const T tiny = std::numeric_limits<T>::denorm_min();
  const T small = rounded<T>(mpfr_erf, tiny);
  expect_values<T>(Op::kErf, {0, -T{0}, tiny, -tiny, 7, -7, F::kInf, -F::kInf, F::kNan},
                   {0, -T{0}, small, -small, 1, -1, 1, -1, F::kNan});
  expect_values<T>(Op::kErfc, {0, -T{0}, tiny, -tiny, 30, -7, F::kInf, -F::kInf, F::kNan},
                   {1, 1, 1, 1, 0, 2, 0, 2, F::kNan});
}

}  // namespace
}  // namespace lanewise::ir
