// Reductions and scans of arrays. docs/numerics.md says in which order they combine elements.
// All throw IndexError or ValueError for axes that the array does not have or that appear twice.
#pragma once

#include <optional>
#include <vector>

#include "frontend/ops.h"

namespace lanewise::frontend {

struct ReductionOptions {
  std::optional<std::vector<int>> axes = {};  // negative ones count from the end; nullopt: all
  bool keepdims = false;                      // axes stay, with size 1
  std::optional<DType> dtype = {};            // to compute in
  std::optional<Array> where = {};            // the elements that count; broadcasts to the array
};

// sum, prod, min, max, any, all. Sums and products of small integers are in int64 or uint64.
// ValueError for min and max of no elements; where `where` leaves none, they give the largest and
// the smallest value there is.
Array reduce(Op op, const Array& array, const ReductionOptions& options, Source source = 0);

// Integers give float64. Of no elements NaN.
Array mean(const Array& array, const ReductionOptions& options, Source source = 0);
// Squared deviations from the mean divided by their number - correction, and by 0 where that is
// negative.
Array variance(const Array& array, double correction, const ReductionOptions& options,
               Source source = 0);
Array standard_deviation(const Array& array, double correction, const ReductionOptions& options,
                         Source source = 0);

// argmin, argmax: int64; along one axis or, in row-major order, over all. ValueError for an empty
// axis.
Array find_extreme(Op op, const Array& array, std::optional<int> axis, bool keepdims,
                   Source source = 0);

Array count_nonzero(const Array& array, const ReductionOptions& options, Source source = 0);
// log(sum(exp(x))) without leaving the range on the way; -inf of no elements.
Array logsumexp(const Array& array, const ReductionOptions& options, Source source = 0);
// Sum of products along an axis of both; other axes broadcast. In the result type of both.
Array vecdot(const Array& a, const Array& b, int axis, Source source = 0);
// Order 1, 2, inf, -inf, or 0 for the number of elements that are not 0; else UnsupportedError.
Array vector_norm(const Array& array, double order, const ReductionOptions& options,
                  Source source = 0);

// cumulative_sum, cumulative_prod. An array of one axis needs none named. With `include_initial`,
// the axis is one longer and starts with 0 or 1.
Array scan(Op op, const Array& array, std::optional<int> axis, std::optional<DType> dtype,
           bool include_initial, Source source = 0);

}  // namespace lanewise::frontend
