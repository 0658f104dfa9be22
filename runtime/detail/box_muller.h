// The Box-Muller transform from uniform to normal numbers. Computed in float64 with nothing but
// operations that IEEE 754 defines: the same bits on every machine. Needs AVX2 and the default
// floating-point environment.
#pragma once

#include <cstdint>

namespace lanewise::runtime::detail {

// Each block of 16 uniforms in [0, 1) becomes 16 normal values: with a of element j and b of
// j + 8, sqrt(-2 log(1 - a)) times cos(2 pi b) and sin(2 pi b). Error below .5001 ULP.
void box_muller_blocks(float* data, int64_t blocks);

struct NormalPair {
  double first;   // the one with the cosine
  double second;  // with the sine
};

// The same for one pair of float64; error below 1e-12 of the radius.
NormalPair box_muller(double radius_uniform, double angle_uniform);

}  // namespace lanewise::runtime::detail
