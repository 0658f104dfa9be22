// Operands that lie across the way a nest is walked: tiles of them are copied to where they lie
// along it.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/nest.h"

namespace lanewise::runtime {

// Marks loaded operands of a simplified nest whose elements share cache lines along another loop
// than the innermost, if that makes lines be loaded again and again. Layout classes and launches
// take marked operands as packed: unit stride along the innermost loop.
void pack_transposed(Nest& nest);

namespace detail {

// How a nest with packed operands is cut into tiles: along the innermost loop and one other; the
// remaining loops take one step at a time.
struct Tiling {
  explicit Tiling(const Nest& nest);

  bool any() const { return loop >= 0; }
  // Tiles of a nest with these sizes.
  int64_t count(const int64_t* sizes) const;

  int loop = -1;               // the other loop; -1 where nothing is packed
  std::vector<int64_t> sizes;  // of a tile, along each loop
  std::vector<int> packed;     // numbers of operands
  std::vector<int> element_sizes;
  std::vector<int64_t> offsets;  // of each one's copy in a worker's memory, and their end
};

// Copies rows * columns elements: element (r, c) is at source + r * row_stride + c * column_stride
// bytes, and goes to element r * pitch + c of the target.
void copy_tile(const char* source, int64_t row_stride, int64_t column_stride, char* target,
               int64_t pitch, int64_t rows, int64_t columns, int element_size);

}  // namespace detail

}  // namespace lanewise::runtime
