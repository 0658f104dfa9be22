#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class Pow : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Pow, Floats);

// x around `centre` and y such that the power is anywhere between the ends of the range.
template <class T>
void expect_accurate_near(double low, double high, int count) {
  const double reach = std::is_same_v<T, float> ? 104 : 746;
  const std::vector<T> x = uniform<T>(low, high, count, 3);
  std::vector<T> y = uniform<T>(-reach, reach, count, 4);
  for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<T>(y[i] / std::log(x[i]));
  expect_accurate(Op::kPow, mpfr_pow, x, y);
}

TYPED_TEST(Pow, Accurate) {
  using T = TypeParam;
  expect_accurate_near<T>(.5, 2, 10000);
  expect_accurate_near<T>(.96, .99, 10000);
  expect_accurate_near<T>(1.02, 1.1, 20000);
  expect_accurate_near<T>(0, 1e-30, 5000);
  expect_accurate_near<T>(2, 1e30, 5000);
  std::vector<T> x = all_octaves<T>(10000, 5), y = octaves<T>(-10, 10, 10000, 6);
  for (T& v : x) v = std::abs(v);
  expect_accurate(Op::kPow, mpfr_pow, x, y);
  expect_accurate(Op::kPow, mpfr_pow, uniform<T>(.999, 1.001, 5000, 7), all_octaves<T>(5000, 8));
}

TYPED_TEST(Pow, WholeExponents) {
  using T = TypeParam;
  std::vector<T> x, y;
  for (int base = -12; base <= 12; ++base) {
    for (int exponent = -40; exponent <= 40; ++exponent) {
      x.push_back(static_cast<T>(base));
      y.push_back(static_cast<T>(exponent));
    }
  }
  expect_accurate(Op::kPow, mpfr_pow, x, y);
  // Where the power is a number of the dtype, it is that number.
  const std::vector<T> power = apply_op<T>(Op::kPow, x, y);
  int exact = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double value = std::pow(static_cast<double>(x[i]), static_cast<double>(y[i]));
    const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
    if (y[i] < 0 || std::abs(value) > limit) continue;
    EXPECT_EQ(power[i], value) << format("pow({}, {})", x[i], y[i]);
    ++exact;
  }
  EXPECT_GT(exact, 150);
}

// The table of IEEE 754 and C's Annex F.
TYPED_TEST(Pow, SpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity(), nan = Limits::quiet_NaN();
  const T large = Limits::max(), tiny = Limits::denorm_min();
  const T odd = std::ldexp(T(1), Limits::digits) - 1;  // the largest odd number
  struct Row {
    T x, y, power;
  };
  const std::vector<Row> rows{{nan, 0, 1},
                              {nan, -T(0), 1},
                              {inf, 0, 1},
                              {-T(0), -T(0), 1},
                              {1, nan, 1},
                              {1, inf, 1},
                              {1, -inf, 1},
                              {1, large, 1},
                              {-1, inf, 1},
                              {-1, -inf, 1},
                              {-1, large, 1},
                              {-1, odd, -1},
                              {0, 3, 0},
                              {-T(0), 3, -T(0)},
                              {0, 2, 0},
                              {-T(0), 2, 0},
                              {0, T(.5), 0},
                              {-T(0), T(.5), 0},
                              {0, -1, inf},
                              {-T(0), -1, -inf},
                              {-T(0), -2, inf},
                              {-T(0), -3, -inf},
                              {-T(0), T(-.5), inf},
                              {0, -inf, inf},
                              {-T(0), -inf, inf},
                              {0, inf, 0},
                              {-T(0), inf, 0},
                              {-T(0), odd, -T(0)},
                              {-T(0), -odd, -inf},
                              {inf, 2, inf},
                              {inf, -2, 0},
                              {inf, T(.5), inf},
                              {-inf, 3, -inf},
                              {-inf, 2, inf},
                              {-inf, T(.5), inf},
                              {-inf, T(1.5), inf},
                              {-inf, -3, -T(0)},
                              {-inf, -2, 0},
                              {-inf, T(-.5), 0},
                              {-inf, inf, inf},
                              {-inf, -inf, 0},
                              {2, inf, inf},
                              {2, -inf, 0},
                              {T(.5), inf, 0},
                              {T(.5), -inf, inf},
                              {-2, inf, inf},
                              {-2, -inf, 0},
                              {T(-.5), inf, 0},
                              {-2, T(.5), nan},
                              {-large, T(.5), nan},
                              {-tiny, T(-1.5), nan},
                              {-2, 3, -8},
                              {-2, -3, T(-.125)},
                              {-2, 2, 4},
                              {-2, large, inf},
                              {-2, -large, 0},
                              {2, large, inf},
                              {2, -large, 0},
                              {-2, odd, -inf},
                              {-2, -odd, -T(0)},
                              {nan, 1, nan},
                              {1, 1, 1},
                              {2, nan, nan},
                              {-2, nan, nan},
                              {0, nan, nan},
                              {nan, nan, nan},
                              {nan, inf, nan},
                              {inf, nan, nan},
                              {tiny, 1, tiny},
                              {-tiny, 1, -tiny},
                              {-tiny, -1, -inf},
                              {tiny, 2, 0},
                              {-tiny, 3, -T(0)},
                              {large, 1, large},
                              {large, 2, inf},
                              {-large, 3, -inf},
                              {large, -2, 0},
                              {-large, -3, -T(0)}};
  std::vector<T> x, y, power;
  for (const Row& row : rows) {
    x.push_back(row.x);
    y.push_back(row.y);
    power.push_back(row.power);
  }
  expect_values(Op::kPow, x, y, power);
}

template <class T>
class IntegerPow : public testing::Test {};
using Integers =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(IntegerPow, Integers);

TYPED_TEST(IntegerPow, Wraps) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const std::vector<T> bases{0,
                             1,
                             2,
                             3,
                             5,
                             10,
                             77,
                             100,
                             Limits::max(),
                             Limits::min(),
                             static_cast<T>(-1),
                             static_cast<T>(-3)};
  const std::vector<T> exponents{0, 1, 2, 3, 5, 7, 8, 31, 63, 64, 100, 127, Limits::max()};
  std::vector<T> x, y, power;
  for (const T base : bases) {
    for (const T exponent : exponents) {
      x.push_back(base);
      y.push_back(exponent);
      uint64_t result = 1, square = static_cast<uint64_t>(base);
      for (uint64_t bits = exponent; bits != 0; bits >>= 1, square *= square) {
        if (bits & 1) result *= square;
      }
      power.push_back(static_cast<T>(result));
    }
  }
  EXPECT_EQ(apply_op<T>(Op::kPow, x, y), power);
}

}  // namespace
}  // namespace lanewise::ir
