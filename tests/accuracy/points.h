// The arguments at which functions are measured: point i depends on the function and i alone.
#pragma once

#include <concepts>
#include <cstdint>

#include "tests/accuracy/functions.h"

namespace lanewise::accuracy {

// Arguments `first` .. `first + count - 1` of those that are dense where `function` is hard: near
// its zeros, the ends of its domain and range and the steps of tables, and spread over all numbers.
// `y` is the exponent for x**c, and unused for other functions of one argument.
template <std::floating_point T>
void hard_points(const Function& function, uint64_t first, size_t count, T* x, T* y);

// The float32 numbers with the bits first, first + stride, ...
void all_points(const Function& function, uint64_t first, uint64_t stride, size_t count, float* x,
                float* y);

}  // namespace lanewise::accuracy
