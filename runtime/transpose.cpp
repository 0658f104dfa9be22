#include "runtime/transpose.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace lanewise::runtime {

namespace {

constexpr int64_t kLineBytes = 64;

// A tile takes four lines each way, so that copies of some operands stay in the first cache.
constexpr int64_t kTileBytes = 256;
// Points of a tile are at least about so many, since a call of a kernel must be worth it.
constexpr int64_t kTilePoints = 2048;
constexpr int64_t kColumnsAhead = 8;
// Shorter loops are left as they are.
constexpr int64_t kShortestInner = 16;
constexpr int64_t kShortestOther = 4;

// The loop along which an operand's elements share cache lines while each step of the innermost
// takes a line of its own; -1 if there is none.
int loop_across(const Nest& nest, const NestOperand& operand) {
  if (operand.written || operand.element_size == 0) return -1;
  if (std::abs(operand.strides.back()) < kLineBytes) return -1;
  for (int loop = static_cast<int>(nest.sizes.size()) - 2; loop >= 0; --loop) {
    const int64_t stride = std::abs(operand.strides[loop]);
    if (stride > 0 && stride < kLineBytes && nest.sizes[loop] >= kShortestOther) return loop;
  }
  return -1;
}

template <class T>
void copy_elements(const char* source, int64_t row_stride, int64_t column_stride, char* target,
                   int64_t pitch, int64_t rows, int64_t columns) {
  // Along the source's lines: each is loaded once, even where a power of two lies between columns
  // and the cache can hold few of them. No hardware foresees the next column.
  const int64_t rows_of_line = kLineBytes / std::abs(row_stride);
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t r = 0; r < rows; r += rows_of_line) {
      __builtin_prefetch(source + r * row_stride + (c + kColumnsAhead) * column_stride);
    }
    for (int64_t r = 0; r < rows; ++r) {
      T element;
      std::memcpy(&element, source + r * row_stride + c * column_stride, sizeof element);
      std::memcpy(target + (r * pitch + c) * static_cast<int64_t>(sizeof element), &element,
                  sizeof element);
    }
  }
}

}  // namespace

void pack_transposed(Nest& nest) {
  if (nest.reduced > 0 || nest.sizes.back() < kShortestInner) return;
  int loop = -1;
  for (NestOperand& operand : nest.operands) {
    const int across = loop_across(nest, operand);
    if (across < 0 || (loop >= 0 && across != loop)) continue;
    loop = across;
    operand.packed = true;
  }
}

detail::Tiling::Tiling(const Nest& nest) {
  int64_t widest = 1;
  for (size_t i = 0; i < nest.operands.size(); ++i) {
    const NestOperand& operand = nest.operands[i];
    if (!operand.packed) continue;
    loop = loop_across(nest, operand);
    packed.push_back(static_cast<int>(i));
    element_sizes.push_back(operand.element_size);
    widest = std::max<int64_t>(widest, operand.element_size);
  }
  if (!any()) return;
  const int64_t side = std::min(kTileBytes / widest, kTileBytes / 4);
  sizes.assign(nest.sizes.size(), 1);
  sizes[loop] = std::min(nest.sizes[loop], side);
  const int64_t inner = std::max(side, kTilePoints / sizes[loop] / kLineBytes * kLineBytes);
  sizes.back() = std::min(nest.sizes.back(), inner);
  offsets.push_back(0);
  for (const int element_size : element_sizes) {
    const int64_t bytes = sizes[loop] * sizes.back() * element_size;
    offsets.push_back(offsets.back() + (bytes + kLineBytes - 1) / kLineBytes * kLineBytes);
  }
}

int64_t detail::Tiling::count(const int64_t* whole) const {
  int64_t tiles = 1;
  for (size_t i = 0; i < sizes.size(); ++i) tiles *= (whole[i] + sizes[i] - 1) / sizes[i];
  return tiles;
}

void detail::copy_tile(const char* source, int64_t row_stride, int64_t column_stride, char* target,
                       int64_t pitch, int64_t rows, int64_t columns, int element_size) {
  const auto copy = [&]<class T>(T) {
    copy_elements<T>(source, row_stride, column_stride, target, pitch, rows, columns);
  };
  switch (element_size) {
    case 1:
      return copy(uint8_t());
    case 2:
      return copy(uint16_t());
    case 4:
      return copy(uint32_t());
    default:
      return copy(uint64_t());
  }
}

}  // namespace lanewise::runtime
