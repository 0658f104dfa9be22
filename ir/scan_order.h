// The order in which floating-point running sums and products are formed: like that of reductions
// part of what the op means, the same to the bit in the interpreter and in machine code.
//
// The elements of a row are cut into blocks of kScanBlock, and these into chunks of kScanChunk; the
// last ones may be shorter.
//   chunk   for h = 1, 2, 4, 8: each element i that has bit h in its number takes element
//           (i with the bits up to h cleared) + h - 1, so that it then covers 0 to i
//   block   each element of a chunk takes the last one of the chunk before
//   row     each element of a block takes the last one of the block before
// What is taken is the left operand. The first chunk and the first block take nothing.
#pragma once

#include <algorithm>
#include <span>

namespace lanewise::ir {

inline constexpr int kScanBlock = 1024;
inline constexpr int kScanChunk = 16;

template <class T, class Combine>
void scan_chunk(std::span<T> elements, Combine combine) {
  for (size_t h = 1; h < elements.size(); h *= 2) {
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i & h) elements[i] = combine(elements[(i & ~(2 * h - 1)) + h - 1], elements[i]);
    }
  }
}

template <class T, class Combine>
void scan_block(std::span<T> elements, Combine combine) {
  for (size_t start = 0; start < elements.size(); start += kScanChunk) {
    const auto chunk =
        elements.subspan(start, std::min<size_t>(kScanChunk, elements.size() - start));
    scan_chunk(chunk, combine);
    if (start == 0) continue;
    for (T& element : chunk) element = combine(elements[start - 1], element);
  }
}

// A whole row, in place.
template <class T, class Combine>
void scan_in_order(std::span<T> elements, Combine combine) {
  for (size_t start = 0; start < elements.size(); start += kScanBlock) {
    const auto block =
        elements.subspan(start, std::min<size_t>(kScanBlock, elements.size() - start));
    scan_block(block, combine);
    if (start == 0) continue;
    for (T& element : block) element = combine(elements[start - 1], element);
  }
}

}  // namespace lanewise::ir
