// What reductions share.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "frontend/ops.h"

namespace lanewise::frontend::detail {

// Ascending, each once; negative ones count from the end; nullopt: all.
std::vector<int> resolve_axes(std::string_view op, int rank,
                              const std::optional<std::vector<int>>& axes);

// A mask as bool, of that shape.
Array mask_for(std::string_view op, const Array& mask, const Shape& shape, Source source);

// A reduction over resolved axes, in the array's dtype; of no elements what changes no result.
Array reduce_axes(Op op, const Array& array, const std::vector<int>& axes, bool keepdims,
                  Source source);

}  // namespace lanewise::frontend::detail
