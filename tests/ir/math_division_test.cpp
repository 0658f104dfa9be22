#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

// ---- floating point ------------------------------------------------------------------------

template <class T>
struct Divided {
  T quotient;
  T remainder;
};

// float.__divmod__ of CPython, with the results of the array API standard where Python raises or
// an operand is infinite.
template <class T>
Divided<T> python_divmod(T a, T b) {
  const T remainder = std::fmod(a, b);
  const bool negative = remainder != 0 && (b < 0) != (remainder < 0);
  Divided<T> r{(a - remainder) / b, negative ? remainder + b : remainder};
  if (remainder == 0) r.remainder = std::copysign(T{0}, b);
  if (!std::isfinite(a) || !std::isfinite(b) || b == 0) {
    r.quotient = a / b;
    return r;
  }
  if (negative) r.quotient -= 1;
  if (r.quotient == 0) {
    r.quotient = std::copysign(T{0}, a / b);
  } else {
    const T rounded = std::floor(r.quotient);
    r.quotient = r.quotient - rounded > T{.5} ? rounded + 1 : rounded;
  }
  return r;
}

template <class T>
class FloatDivision : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatDivision, Floats);

template <class T>
void expect_division(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> quotients, remainders, fmods;
  for (size_t i = 0; i < a.size(); ++i) {
    const Divided<T> r = python_divmod(a[i], b[i]);
    quotients.push_back(r.quotient);
    remainders.push_back(r.remainder);
    fmods.push_back(std::fmod(a[i], b[i]));
  }
  expect_values(Op::kFloorDivide, a, b, quotients);
  expect_values(Op::kRemainder, a, b, remainders);
  expect_values(Op::kFmod, a, b, fmods);
}

TYPED_TEST(FloatDivision, SpecialValues) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  const T inf = Limits::infinity();
  const std::vector<T> numbers{0,
                               1,
                               3,
                               T(.1),
                               inf,
                               Limits::quiet_NaN(),
                               Limits::denorm_min(),
                               Limits::min(),
                               Limits::max(),
                               T(0x1p21),
                               T(0x1p22),
                               T(0x1p50),
                               T(0x1p51),
                               T(0x1p52)};
  std::vector<T> a, b;
  for (const T x : numbers) {
    for (const T y : numbers) {
      for (const int signs : {0, 1, 2, 3}) {
        a.push_back(signs & 1 ? -x : x);
        b.push_back(signs & 2 ? -y : y);
      }
    }
  }
  expect_division(a, b);
}

TYPED_TEST(FloatDivision, AnyMagnitudes) {
  using T = TypeParam;
  expect_division(all_octaves<T>(30000, 1), all_octaves<T>(30000, 2));
  expect_division(octaves<T>(-3, 60, 30000, 3), octaves<T>(-3, 3, 30000, 4));
}

TYPED_TEST(FloatDivision, ExactMultiples) {
  using T = TypeParam;
  const std::vector<T> b = octaves<T>(-20, 20, 30000, 5);
  std::vector<T> a = octaves<T>(0, std::numeric_limits<T>::digits + 4, 30000, 6);
  for (size_t i = 0; i < a.size(); ++i) a[i] = std::round(a[i]) * b[i];
  expect_division(a, b);
}

// Python's documented corner: the remainder is the divisor after rounding.
TEST(FloatDivisionCorners, RemainderOfATinyNegativeNumber) {
  expect_values<double>(Op::kRemainder, {-1e-100, 1e-100}, {1, -1}, {1, -1});
  expect_values<double>(Op::kFloorDivide, {-1e-100, 1e-100}, {1, -1}, {-1, -1});
}

TEST(FloatDivisionCorners, InfiniteOperandsFollowTheArrayApi) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_values<double>(Op::kFloorDivide, {inf, -inf, 1, -1, inf}, {2, 2, -inf, inf, inf},
                        {inf, -inf, -0., -0., nan});
  expect_values<double>(Op::kRemainder, {inf, 1, -1, 1, -1}, {2, inf, inf, -inf, -inf},
                        {nan, 1, inf, -inf, -1});
}

// ---- integers ------------------------------------------------------------------------------

__extension__ using Int128 = __int128;  // holds every quotient without wrapping

template <class T>
class IntegerDivision : public testing::Test {};
using Integers =
    testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(IntegerDivision, Integers);

TYPED_TEST(IntegerDivision, FloorsAndIsTotal) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  std::vector<T> numbers{Limits::min(), static_cast<T>(Limits::min() + 1), Limits::max()};
  for (int i = -7; i <= 7; ++i) numbers.push_back(static_cast<T>(i));
  std::vector<T> a, b, quotients, remainders, truncated;
  for (const T x : numbers) {
    for (const T y : numbers) {
      a.push_back(x);
      b.push_back(y);
      Int128 quotient = y == 0 ? 0 : static_cast<Int128>(x) / y;
      Int128 remainder = y == 0 ? 0 : static_cast<Int128>(x) % y;
      truncated.push_back(static_cast<T>(remainder));
      if (remainder != 0 && (remainder < 0) != (y < 0)) --quotient, remainder += y;
      quotients.push_back(static_cast<T>(quotient));
      remainders.push_back(static_cast<T>(remainder));
    }
  }
  EXPECT_EQ(apply_op<T>(Op::kFloorDivide, a, b), quotients);
  EXPECT_EQ(apply_op<T>(Op::kRemainder, a, b), remainders);
  EXPECT_EQ(apply_op<T>(Op::kFmod, a, b), truncated);
}

}  // namespace
}  // namespace lanewise::ir
