#include "frontend/strides.h"

namespace lanewise::frontend {

std::vector<int64_t> constant_sizes(const ir::Shape& shape) {
  std::vector<int64_t> sizes;
  for (const ir::Dim& dim : shape) sizes.push_back(dim.value());
  return sizes;
}

std::vector<int64_t> row_major_byte_strides(const ir::Shape& shape, DType dtype) {
  std::vector<int64_t> strides;
  append_byte_strides(strides, ir::row_major_strides(shape), dtype);
  return strides;
}

}  // namespace lanewise::frontend
