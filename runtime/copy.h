// Copying strided arrays where no kernel is wanted: results that overlap arguments, and the like.
#pragma once

#include <cstdint>
#include <span>

namespace lanewise::runtime {

// Copies elements of `element_size` bytes over `sizes`. Strides in bytes. The arrays must not
// overlap.
void copy_strided(char* to, std::span<const int64_t> to_strides, const char* from,
                  std::span<const int64_t> from_strides, std::span<const int64_t> sizes,
                  int64_t element_size);

}  // namespace lanewise::runtime
