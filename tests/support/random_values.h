// Numbers that make trouble, and random ones.
#pragma once

#include <random>
#include <vector>

#include "ir/tensor.h"

namespace lanewise::test {

using Random = std::mt19937_64;

// A uniform integer in low..high.
int64_t uniform(Random& random, int64_t low, int64_t high);
inline bool chance(Random& random, int percent) { return uniform(random, 1, 100) <= percent; }
template <class Range>
auto& pick(Random& random, Range& range) {
  return range[static_cast<size_t>(uniform(random, 0, std::ssize(range) - 1))];
}

// Zeros, ones, extremes; of floats also infinities, NaN, subnormals, the neighbours of 1.
std::vector<Scalar> special_values(DType dtype);
// A special value, small integers, moderate numbers, any bits.
Scalar random_value(Random& random, DType dtype);
ir::Tensor random_tensor(Random& random, DType dtype, std::vector<int64_t> shape);

}  // namespace lanewise::test
