#include "ir/tensor.h"

#include <cmath>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

namespace {

int64_t product(std::span<const int64_t> sizes) {
  int64_t count = 1;
  for (const int64_t size : sizes) count *= size;
  return count;
}

}  // namespace

Tensor::Tensor(DType dtype, std::vector<int64_t> shape)
    : dtype(dtype),
      shape(std::move(shape)),
      data(static_cast<size_t>(product(this->shape) * size_of(dtype))) {}

int64_t Tensor::element_count() const { return product(shape); }

void Tensor::require_dtype(DType wanted) const {
  if (dtype != wanted) throw InternalError(format("tensor of {} read as {}", dtype, wanted));
}

void Tensor::require_count(int64_t count) const {
  if (count != element_count()) {
    throw ShapeError(format("tensor: {} values for shape {}", count, format_tuple(shape)));
  }
}

Scalar Tensor::element(int64_t index) const {
  Scalar result{dtype, 0};
  const auto bytes = static_cast<size_t>(size_of(dtype));
  std::memcpy(&result.bits, data.data() + static_cast<size_t>(index) * bytes, bytes);
  return result;
}

void Tensor::set_element(int64_t index, Scalar value) {
  require_dtype(value.dtype);
  const auto bytes = static_cast<size_t>(size_of(dtype));
  std::memcpy(data.data() + static_cast<size_t>(index) * bytes, &value.bits, bytes);
}

bool same_bits(const Scalar& a, const Scalar& b) {
  if (a == b) return true;
  if (a.dtype != b.dtype || !is_float(a.dtype)) return false;
  return std::isnan(a.to_double()) && std::isnan(b.to_double());
}

bool same_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype != b.dtype || a.shape != b.shape) return false;
  if (a.data == b.data) return true;
  for (int64_t i = 0; i < a.element_count(); ++i) {
    if (!same_bits(a.element(i), b.element(i))) return false;
  }
  return true;
}

std::vector<int64_t> unravel(int64_t index, std::span<const int64_t> shape) {
  std::vector<int64_t> position(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return position;
}

}  // namespace lanewise::ir
