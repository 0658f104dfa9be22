// Size classes of blocks: multiples of 64 bytes up to 1 KiB, then eight steps for each doubling.
#pragma once

#include <bit>
#include <cstddef>

namespace lanewise::runtime::detail {

inline constexpr size_t kGranule = 64;
inline constexpr size_t kLinearLimit = 1024;
inline constexpr int kLinearClasses = kLinearLimit / kGranule;
inline constexpr int kStepsPerDoubling = 8;
inline constexpr size_t kLargestBlock = size_t{1} << 47;

// The class of the smallest blocks with at least `bytes`, which are 1 to kLargestBlock.
constexpr int size_class_of(size_t bytes) {
  if (bytes <= kLinearLimit) return static_cast<int>((bytes + kGranule - 1) / kGranule) - 1;
  const int exponent = std::bit_width(bytes - 1) - 1;  // 2^exponent < bytes <= 2^(exponent + 1)
  const size_t step = (bytes - 1) >> (exponent - 3);   // 8 to 15
  return kLinearClasses + (exponent - 10) * kStepsPerDoubling + static_cast<int>(step) - 8;
}

constexpr size_t bytes_of_class(int size_class) {
  if (size_class < kLinearClasses) return (static_cast<size_t>(size_class) + 1) * kGranule;
  const int above = size_class - kLinearClasses;
  const int exponent = 10 + above / kStepsPerDoubling;
  return static_cast<size_t>(above % kStepsPerDoubling + 9) << (exponent - 3);
}

inline constexpr int kClasses = size_class_of(kLargestBlock) + 1;

static_assert(bytes_of_class(size_class_of(1)) == 64);
static_assert(bytes_of_class(size_class_of(1024)) == 1024);
static_assert(bytes_of_class(size_class_of(1025)) == 1152);
static_assert(bytes_of_class(size_class_of(kLargestBlock)) == kLargestBlock);

}  // namespace lanewise::runtime::detail
