// Comparing results with references, the inner loops of the measurement.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "tests/accuracy/functions.h"

namespace lanewise::accuracy {

// How far filters may be off, in units in the last place.
template <std::floating_point T>
double filter_tolerance(ir::Op op);

// For a block of results, by point: the error in units in the last place (NaN where result and
// reference contradict each other) and what MPFR must decide or confirm.
enum Flag : uint8_t {
  kMisrounded = 1,  // not the number nearest to the reference
  kUnclear = 2,     // the reference is near a midpoint
  kZeroSign = 4,    // a zero of the other sign
};

struct Comparison {
  double errors[kBlock];
  uint8_t flags[kBlock];
  double largest;  // NaN if there is one
  uint8_t any_flag;
  uint64_t misrounded;
};

// `smallest_unit`: see measure.h.
void compare(const float* results, const double* references, double smallest_unit,
             Comparison& comparison);
void compare(const double* results, const long double* references, double tolerance,
             double smallest_unit, Comparison& comparison);

// Equal bits, any NaN to any NaN: how many are not, and where the last of them is.
template <std::floating_point T>
size_t count_differing(const T* a, const T* b, size_t count, size_t& where);

}  // namespace lanewise::accuracy
