#include "ir/math/math.h"
#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
std::vector<T> pow_const(const std::vector<T>& x, double exponent) {
  Graph graph;
  Builder builder(graph);
  const std::vector<int64_t> shape{static_cast<int64_t>(x.size())};
  const Value input = builder.input("x", dtype_of<T>(), {Dim(shape[0])});
  graph.outputs = {builder.apply(Op::kPowConst, {input}, Exponent{exponent})};
  const std::vector<Tensor> inputs{Tensor::of<T>(shape, x)};
  const Tensor result = interpret(graph, inputs).at(0);
  const auto values = result.values<T>();
  return {values.begin(), values.end()};
}

template <class T>
class PowConst : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(PowConst, Floats);

std::vector<double> exponents() {
  std::vector<double> all;
  for (int halves = -128; halves <= 128; ++halves) all.push_back(halves / 2.);
  return all;
}

template <class T>
void expect_accurate_power(double exponent, const std::vector<T>& x) {
  const std::vector<T> y = pow_const(x, exponent);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = ulp_error(y[i], mpfr_pow, x[i], static_cast<T>(exponent));
    if (error > worst) worst = error, where = i;
  }
  EXPECT_LE(worst, spec(Op::kPowConst).max_ulp)
      << format("{} ** {} = {} in {}", x[where], exponent, y[where], dtype_of<T>());
}

TYPED_TEST(PowConst, Accurate) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  for (const double c : exponents()) {
    const double octave = c == 0 ? 10 : 1 / std::abs(c);
    expect_accurate_power(c, uniform<T>(.5, 2, 300));
    expect_accurate_power(c, all_octaves<T>(300));
    // Where the power becomes subnormal, zero, infinite.
    const double low = (Limits::min_exponent - 2) * octave, high = Limits::max_exponent * octave;
    expect_accurate_power(c, octaves<T>(std::max(low - Limits::digits * octave, -1070.), low, 400));
    expect_accurate_power(c, octaves<T>(-high, -low, 400));
    expect_accurate_power(c, octaves<T>(low, low + octave, 200));
    expect_accurate_power(c, octaves<T>(high - octave, std::min(high + octave, 1023.), 200));
  }
}

// The values of pow, whose table is tested.
TYPED_TEST(PowConst, SpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity();
  const std::vector<T> x{0,
                         -T(0),
                         1,
                         -1,
                         inf,
                         -inf,
                         Limits::quiet_NaN(),
                         Limits::max(),
                         -Limits::max(),
                         Limits::denorm_min(),
                         -Limits::denorm_min(),
                         -2,
                         -T(.25)};
  for (const double c : exponents()) {
    const std::vector<T> y = pow_const(x, c);
    const std::vector<T> expected = apply_op<T>(Op::kPow, x, std::vector<T>(x.size(), T(c)));
    for (size_t i = 0; i < x.size(); ++i) {
      const bool rounds = std::isfinite(expected[i]) && expected[i] != 0;
      EXPECT_TRUE(rounds ? std::abs(y[i] - expected[i]) <= std::abs(expected[i]) * Limits::epsilon()
                         : same_value(y[i], expected[i]))
          << format("{} ** {} = {}, not {}", x[i], c, y[i], expected[i]);
    }
  }
}

TYPED_TEST(PowConst, SimpleOnesAreRounded) {
  using T = TypeParam;
  const std::vector<T> x = all_octaves<T>(2000);
  for (const double c : {1., 2., -1., .5}) {
    const std::vector<T> y = pow_const(x, c);
    for (size_t i = 0; i < x.size(); ++i) {
      const T exact = c == 1.    ? x[i]
                      : c == 2.  ? x[i] * x[i]
                      : c == -1. ? 1 / x[i]
                                 : std::sqrt(x[i]);
      ASSERT_TRUE(same_value(y[i], exact)) << format("{} ** {} = {}", x[i], c, y[i]);
    }
  }
}

TEST(PowConst, Integers) {
  const std::vector<int32_t> x{0, 1, -1, 2, 3, -7, 46341, INT32_MAX, INT32_MIN};
  for (int c = 0; c <= 64; ++c) {
    const std::vector<int32_t> y = pow_const(x, c);
    EXPECT_EQ(y, apply_op<int32_t>(Op::kPow, x, std::vector<int32_t>(x.size(), c))) << c;
  }
}

TEST(PowConst, OtherExponentsArePow) {
  EXPECT_TRUE(math::has_pow_const(DType::kF64, -63.5));
  EXPECT_TRUE(math::has_pow_const(DType::kF32, 64));
  EXPECT_FALSE(math::has_pow_const(DType::kF64, 64.5));
  EXPECT_FALSE(math::has_pow_const(DType::kF64, 1. / 3));
  EXPECT_FALSE(math::has_pow_const(DType::kF64, std::nan("")));
  EXPECT_TRUE(math::has_pow_const(DType::kI64, 0));
  EXPECT_FALSE(math::has_pow_const(DType::kI64, -1));
  EXPECT_FALSE(math::has_pow_const(DType::kI64, .5));
  EXPECT_FALSE(math::has_pow_const(DType::kBool, 2));
  const std::vector<double> x = uniform<double>(0, 10, 100);
  for (const double c : {.3, 100., -1e9}) {
    EXPECT_EQ(pow_const(x, c), apply_op<double>(Op::kPow, x, std::vector<double>(x.size(), c)));
  }
}

}  // namespace
}  // namespace lanewise::ir
