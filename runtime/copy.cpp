#include "runtime/copy.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace lanewise::runtime {

namespace {

void copy_row(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t count,
              int64_t element_size) {
  if (to_stride == element_size && from_stride == element_size) {
    std::memcpy(to, from, static_cast<size_t>(count * element_size));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, static_cast<size_t>(element_size));
  }
}

}  // namespace

void copy_strided(char* to, std::span<const int64_t> to_strides, const char* from,
                  std::span<const int64_t> from_strides, std::span<const int64_t> sizes,
                  int64_t element_size) {
  if (std::ranges::find(sizes, 0) != sizes.end()) return;
  if (sizes.empty()) {
    std::memcpy(to, from, static_cast<size_t>(element_size));
    return;
  }
  // Rows along the last axis; the other indices count up like an odometer.
  const size_t outer = sizes.size() - 1;
  std::vector<int64_t> index(outer, 0);
  while (true) {
    copy_row(to, to_strides[outer], from, from_strides[outer], sizes[outer], element_size);
    size_t axis = outer;
    while (true) {
      if (axis == 0) return;
      --axis;
      to += to_strides[axis];
      from += from_strides[axis];
      if (++index[axis] < sizes[axis]) break;
      to -= to_strides[axis] * sizes[axis];
      from -= from_strides[axis] * sizes[axis];
      index[axis] = 0;
    }
  }
}

}  // namespace lanewise::runtime
