// Checks an op against MPFR, within the error that the op table states.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <random>

#include "support/format.h"
#include "tests/support/apply.h"
#include "tests/support/ulp.h"

namespace lanewise::test {

// An op and what it approximates.
struct ExactFunction {
  ir::Op op;
  Exact1 exact;
};

// ---- points --------------------------------------------------------------------------------

template <std::floating_point T>
std::vector<T> uniform(double low, double high, int count, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> distribution(low, high);
  std::vector<T> points(static_cast<size_t>(count));
  for (T& x : points) x = static_cast<T>(distribution(random));
  return points;
}

// Magnitudes from 2^low to 2^high, each octave alike, with both signs.
template <std::floating_point T>
std::vector<T> octaves(double low, double high, int count, uint64_t seed = 1) {
  std::mt19937_64 random(seed + 1);
  std::vector<T> points = uniform<T>(low, high, count, seed);
  for (T& x : points) x = std::exp2(x) * static_cast<T>(random() % 2 == 0 ? 1 : -1);
  return points;
}

// Every magnitude, subnormals included.
template <std::floating_point T>
std::vector<T> all_octaves(int count, uint64_t seed = 1) {
  using Limits = std::numeric_limits<T>;
  return octaves<T>(Limits::min_exponent - Limits::digits, Limits::max_exponent, count, seed);
}

// x and `reach` numbers on each side.
template <std::floating_point T>
void add_neighbours(std::vector<T>& points, T x, int reach) {
  const T infinity = std::numeric_limits<T>::infinity();
  for (int i = 0; i < reach; ++i) x = std::nextafter(x, -infinity);
  for (int i = 0; i <= 2 * reach; ++i, x = std::nextafter(x, infinity)) points.push_back(x);
}

// ---- checks --------------------------------------------------------------------------------

template <std::floating_point T>
void expect_accurate(ir::Op op, Exact1 exact, const std::vector<T>& x) {
  const std::vector<T> y = apply_op<T>(op, x);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = ulp_error(y[i], exact, x[i]);
    if (error > worst) worst = error, where = i;
  }
  EXPECT_LE(worst, ir::spec(op).max_ulp)
      << format("{}({}) = {} in {}", op, x[where], y[where], dtype_of<T>());
}

template <std::floating_point T>
void expect_accurate(ir::Op op, Exact2 exact, const std::vector<T>& x1, const std::vector<T>& x2) {
  const std::vector<T> y = apply_op<T>(op, x1, x2);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x1.size(); ++i) {
    const double error = ulp_error(y[i], exact, x1[i], x2[i]);
    if (error > worst) worst = error, where = i;
  }
  EXPECT_LE(worst, ir::spec(op).max_ulp)
      << format("{}({}, {}) = {} in {}", op, x1[where], x2[where], y[where], dtype_of<T>());
}

// Equal, any NaN to any NaN, and zeros with their sign.
template <std::floating_point T>
bool same_value(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

template <std::floating_point T>
void expect_values(ir::Op op, const std::vector<T>& x, const std::vector<T>& expected) {
  const std::vector<T> y = apply_op<T>(op, x);
  for (size_t i = 0; i < x.size(); ++i) {
    EXPECT_TRUE(same_value(y[i], expected[i]))
        << format("{}({}) = {}, not {}", op, x[i], y[i], expected[i]);
  }
}

template <std::floating_point T>
void expect_values(ir::Op op, const std::vector<T>& x1, const std::vector<T>& x2,
                   const std::vector<T>& expected) {
  const std::vector<T> y = apply_op<T>(op, x1, x2);
  for (size_t i = 0; i < x1.size(); ++i) {
    EXPECT_TRUE(same_value(y[i], expected[i]))
        << format("{}({}, {}) = {}, not {}", op, x1[i], x2[i], y[i], expected[i]);
  }
}

}  // namespace lanewise::test
