// The order in which a floating-point sum or product, or sum of squared deviations is formed. It is
// part of what the op means: the interpreter and machine code follow it to the bit, whatever the
// layout, the vector width or the number of threads.
//
// The reduced elements, numbered in row-major order over the reduced axes, are cut into blocks of
// kReductionBlock; the last may be shorter.
//   lanes     in a block, element i goes to lane i mod L; a lane combines its elements in order
//   halving   lane j takes lane j + L/2 for j < L/2, then lane j + L/4 for j < L/4, ... to lane 0
//   tree      neighbouring blocks 2j and 2j + 1 combine, an odd last one stays as it is, and so on
//             with the results until one is left
// The left operand is always the lower-numbered one. A lane without elements holds the identity
// (-0 of a sum, 1 of a product), which changes nothing it is combined with. Without any element a
// sum is +0 and a product 1.
//
// Of squared deviations a lane holds its first element, and sums of the distances to it and of
// their squares. Lanes are then turned into the number of elements, their mean, and the sum of
// squared deviations from that (struct Moments), which halving and tree merge as Chan, Golub and
// LeVeque do.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "ir/dtype.h"

namespace lanewise::ir {

inline constexpr int kReductionBlock = 1024;

// L. Depends on the width of an element only, never on the machine.
constexpr int reduction_lanes(DType dtype) { return size_of(dtype) <= 4 ? 64 : 32; }
inline constexpr int kMaxReductionLanes = 64;

// One block, of 1 to kReductionBlock elements.
template <class T, class Combine>
T reduce_block(std::span<const T> elements, T identity, Combine combine) {
  constexpr int kLanes = reduction_lanes(dtype_of<T>());
  T lanes[kLanes];
  for (T& lane : lanes) lane = identity;
  for (size_t i = 0; i < elements.size(); ++i) {
    T& lane = lanes[i % kLanes];
    lane = combine(lane, elements[i]);
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) lanes[j] = combine(lanes[j], lanes[j + half]);
  }
  return lanes[0];
}

// The results of all blocks, in order; at least one.
template <class T, class Combine>
T reduce_tree(std::vector<T> blocks, Combine combine) {
  while (blocks.size() > 1) {
    size_t count = 0;
    for (size_t j = 0; j + 1 < blocks.size(); j += 2) {
      blocks[count++] = combine(blocks[j], blocks[j + 1]);
    }
    if (blocks.size() % 2 == 1) blocks[count++] = blocks.back();
    blocks.resize(count);
  }
  return blocks[0];
}

template <class T>
struct Moments {
  T count = 0;
  T mean = 0;
  T squares = 0;  // sum of squared deviations from the mean

  static Moments merge(const Moments& a, const Moments& b) {
    if (b.count == 0) return a;
    const T count = a.count + b.count;
    const T weight = b.count / count;
    const T distance = b.mean - a.mean;
    const T between = (distance * distance) * (a.count * weight);
    return {count, a.mean + distance * weight, (a.squares + b.squares) + between};
  }
};

template <class T>
Moments<T> block_moments(std::span<const T> elements) {
  constexpr int kLanes = reduction_lanes(dtype_of<T>());
  Moments<T> lanes[kLanes];
  for (size_t lane = 0; lane < std::min<size_t>(kLanes, elements.size()); ++lane) {
    const T origin = elements[lane];
    T count = 0, sum = 0, squares = 0;
    for (size_t i = lane; i < elements.size(); i += kLanes) {
      const T distance = elements[i] - origin;
      count += 1;
      sum = sum + distance;
      squares = squares + distance * distance;
    }
    const T shift = sum / count;
    squares = squares - sum * shift;
    lanes[lane] = {count, origin + shift, squares < 0 ? T{0} : squares};
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    for (int j = 0; j < half; ++j) lanes[j] = Moments<T>::merge(lanes[j], lanes[j + half]);
  }
  return lanes[0];
}

// Of all elements; at least one.
template <class T>
T deviations_in_order(std::span<const T> elements) {
  std::vector<Moments<T>> blocks;
  for (size_t start = 0; start < elements.size(); start += kReductionBlock) {
    const size_t length = std::min<size_t>(kReductionBlock, elements.size() - start);
    blocks.push_back(block_moments(elements.subspan(start, length)));
  }
  return reduce_tree(std::move(blocks), Moments<T>::merge).squares;
}

// All elements; at least one.
template <class T, class Combine>
T reduce_in_order(std::span<const T> elements, T identity, Combine combine) {
  std::vector<T> blocks;
  for (size_t start = 0; start < elements.size(); start += kReductionBlock) {
    const size_t length = std::min<size_t>(kReductionBlock, elements.size() - start);
    blocks.push_back(reduce_block(elements.subspan(start, length), identity, combine));
  }
  return reduce_tree(std::move(blocks), combine);
}

}  // namespace lanewise::ir
