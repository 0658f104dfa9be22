#include "tests/accuracy/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace lanewise::accuracy {

namespace {

constexpr double kTolerance32 = 0x1p-18;

#ifdef __clang__
#define LANEWISE_VECTORIZED
#else
#define LANEWISE_VECTORIZED __attribute__((target_clones("arch=x86-64-v4", "default")))
#endif

// Written so that compilers make vector code of it: no branches, integers for what NaN breaks.
struct Compared {
  double error;
  uint32_t flags;
};

Compared compare_one(float result, double reference, double largest_scale) {
  constexpr int64_t kExponent = 0x7ff0'0000'0000'0000;
  constexpr int64_t kSmallestNormal = std::bit_cast<int64_t>(0x1p-126);
  const auto clamped = [](double x) {  // infinity stands for the power of two that overflows
    const double below = x > 0x1p128 ? 0x1p128 : x;
    return below < -0x1p128 ? -0x1p128 : below;
  };
  const double wide = static_cast<double>(result);
  const float nearest = static_cast<float>(reference);
  const double r = clamped(reference);
  const int64_t exponent = std::bit_cast<int64_t>(r) & kExponent;
  const int64_t at_least = exponent < kSmallestNormal ? kSmallestNormal : exponent;
  const double by_ulp = std::bit_cast<double>((int64_t{1023 + 1023 + 23} << 52) - at_least);
  const bool whole = by_ulp <= largest_scale;
  const double scale = whole ? by_ulp : largest_scale;
  const bool both_nan = (result != result) & (reference != reference);
  const double difference = std::abs(clamped(wide) - r) * scale;
  const double from_nearest = std::abs(clamped(static_cast<double>(nearest)) - r) * scale;
  const bool misrounded = whole & !both_nan & !(nearest == result);
  const bool unclear = whole & (std::abs(from_nearest - .5) < kTolerance32);
  const bool zero_sign = (result == 0) & ((static_cast<int64_t>(std::bit_cast<int32_t>(result)) ^
                                           std::bit_cast<int64_t>(reference)) < 0);
  return {both_nan ? 0 : difference, (misrounded ? uint32_t{kMisrounded} : 0) |
                                         (unclear ? uint32_t{kUnclear} : 0) |
                                         (zero_sign ? uint32_t{kZeroSign} : 0)};
}

Compared compare_one(double result, long double reference, double tolerance, double largest_scale) {
  const auto clamped = [](long double x) {
    if (x != x) return x;
    return std::clamp(x, -0x1p1024L, 0x1p1024L);
  };
  if (result != result && reference != reference) return {0, 0};
  const long double r = clamped(reference);
  const int exponent = r == 0 || r != r ? -1022 : std::max(std::ilogb(r), -1022);
  const long double by_ulp = std::ldexp(1.0L, 52 - exponent);
  const bool whole = by_ulp <= largest_scale;
  const long double scale = whole ? by_ulp : static_cast<long double>(largest_scale);
  const auto nearest = static_cast<double>(reference);
  const auto distance = [&](double number) {
    return static_cast<double>(std::abs(clamped(number) - r) * scale);
  };
  uint32_t flags = 0;
  if (whole && nearest != result) flags |= kMisrounded;
  if (whole && std::abs(distance(nearest) - .5) < tolerance) flags |= kUnclear;
  if (result == 0 && std::signbit(result) != std::signbit(reference)) flags |= kZeroSign;
  return {distance(result), flags};
}

LANEWISE_VECTORIZED
void summarize(Comparison& comparison) {
  int64_t largest = 0;
  uint8_t any = 0;
  uint64_t misrounded = 0;
  for (size_t i = 0; i < kBlock; ++i) {  // as integers, NaN is the largest
    const int64_t error = std::bit_cast<int64_t>(comparison.errors[i]) & INT64_MAX;
    largest = error > largest ? error : largest;
  }
  for (size_t i = 0; i < kBlock; ++i) {
    any |= comparison.flags[i];
    misrounded += comparison.flags[i] & kMisrounded;
  }
  comparison.largest = std::bit_cast<double>(largest);
  comparison.any_flag = any;
  comparison.misrounded = misrounded;
}

}  // namespace

template <>
double filter_tolerance<float>(ir::Op) {
  return kTolerance32;
}

template <>
double filter_tolerance<double>(ir::Op op) {
  return op == ir::Op::kLogaddexp ? 0x1p-6 : 0x1p-8;  // it cancels
}

LANEWISE_VECTORIZED
void compare(const float* results, const double* references, double smallest_unit,
             Comparison& comparison) {
  const double largest_scale = 1 / smallest_unit;
  for (size_t i = 0; i < kBlock; ++i) {
    const Compared c = compare_one(results[i], references[i], largest_scale);
    comparison.errors[i] = c.error;
    comparison.flags[i] = static_cast<uint8_t>(c.flags);
  }
  summarize(comparison);
}

void compare(const double* results, const long double* references, double tolerance,
             double smallest_unit, Comparison& comparison) {
  const double largest_scale = 1 / smallest_unit;
  for (size_t i = 0; i < kBlock; ++i) {
    const Compared c = compare_one(results[i], references[i], tolerance, largest_scale);
    comparison.errors[i] = c.error;
    comparison.flags[i] = static_cast<uint8_t>(c.flags);
  }
  summarize(comparison);
}

template <std::floating_point T>
size_t count_differing(const T* a, const T* b, size_t count, size_t& where) {
  if (std::memcmp(a, b, count * sizeof(T)) == 0) return 0;
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  size_t differing = 0;
  for (size_t i = 0; i < count; ++i) {
    if (std::bit_cast<Bits>(a[i]) == std::bit_cast<Bits>(b[i])) continue;
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    ++differing;
    where = i;
  }
  return differing;
}
template size_t count_differing(const float*, const float*, size_t, size_t&);
template size_t count_differing(const double*, const double*, size_t, size_t&);

}  // namespace lanewise::accuracy
