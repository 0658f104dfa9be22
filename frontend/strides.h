// Shapes and strides as numbers, where no size is a symbol.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/dim.h"
#include "ir/dtype.h"

namespace lanewise::frontend {

std::vector<int64_t> constant_sizes(const ir::Shape& shape);

// Adds strides that count elements, in bytes. Calls of compiled functions come through here.
template <class Strides>
void append_byte_strides(Strides& to, std::span<const ir::Dim> strides, DType dtype) {
  const int64_t size = size_of(dtype);
  for (const ir::Dim& stride : strides) to.push_back(stride.value() * size);
}

// Of a row-major array without gaps.
std::vector<int64_t> row_major_byte_strides(const ir::Shape& shape, DType dtype);

}  // namespace lanewise::frontend
