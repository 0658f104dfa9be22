// Measuring the error of one function in one dtype.
//
// Each result is compared with a filter, a reference of higher precision that is fast but only
// nearly right. MPFR decides where the filter cannot: near the largest errors, near the midpoint
// between two results, where the two contradict each other, and at a sample of points, which checks
// the filter.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jit/compiler.h"
#include "tests/accuracy/functions.h"

namespace lanewise::accuracy {

struct Point {
  double x = 0;
  double y = 0;
  double error = -1;  // in units in the last place
};

struct Measurement {
  uint64_t points = 0;
  uint64_t by_mpfr = 0;
  uint64_t misrounded = 0;   // results that are not the nearest number
  uint64_t differing = 0;    // between instruction sets; NaN is NaN
  uint64_t wrong_zeros = 0;  // zeros of the wrong sign
  uint64_t filter_misses = 0;
  Point fault;                 // of the last three kinds, the last
  std::vector<Point> hardest;  // the largest errors, the largest first
};

// Errors are in units in the last place of the true result. Where the op table states an absolute
// error too, that unit is at least so large that the stated error in units is the absolute one.
double smallest_unit(const ir::OpSpec& spec, DType dtype);

struct Effort {
  uint64_t stride = 1;            // of the bits of float32 arguments, for functions of one argument
  uint64_t points = 100'000'000;  // for all others
  int threads = 1;
};
uint64_t point_count(const Function& function, DType dtype, const Effort& effort);

// `progress` gets the share that is done, from 0 to 1, now and then.
Measurement measure(const Function& function, DType dtype, const ir::Program& program,
                    const std::vector<jit::Target>& targets, const Effort& effort,
                    const std::function<void(double)>& progress);

// At these points alone, all by MPFR.
Measurement measure_at(const Function& function, DType dtype, const ir::Program& program,
                       const std::vector<jit::Target>& targets, const std::vector<Point>& points);

}  // namespace lanewise::accuracy
