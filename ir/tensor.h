// An array in host memory, row-major: what the interpreter works on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "ir/dtype.h"

namespace lanewise::ir {

struct Tensor {
  DType dtype = DType::kF64;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;

  Tensor() = default;
  // All bytes zero.
  Tensor(DType dtype, std::vector<int64_t> shape);

  // `values` in row-major order, as many as the shape has elements.
  template <class T>
  static Tensor of(std::vector<int64_t> shape, std::span<const T> values) {
    Tensor tensor(dtype_of<T>(), std::move(shape));
    tensor.require_count(static_cast<int64_t>(values.size()));
    std::ranges::copy(values, tensor.values<T>().begin());
    return tensor;
  }
  template <class T>
  static Tensor of(std::vector<int64_t> shape, std::initializer_list<T> values) {
    return of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor of(std::vector<int64_t> shape, const std::vector<T>& values) {
    return of<T>(std::move(shape), std::span<const T>(values));
  }

  int64_t element_count() const;

  // All elements in row-major order, and element `index` of that order. T is the dtype's C++ type;
  // another throws InternalError.
  template <class T>
  std::span<T> values() {
    require_dtype(dtype_of<T>());
    return {reinterpret_cast<T*>(data.data()), static_cast<size_t>(element_count())};
  }
  template <class T>
  std::span<const T> values() const {
    require_dtype(dtype_of<T>());
    return {reinterpret_cast<const T*>(data.data()), static_cast<size_t>(element_count())};
  }
  template <class T>
  T& at(int64_t index) {
    return values<T>()[static_cast<size_t>(index)];
  }
  template <class T>
  const T& at(int64_t index) const {
    return values<T>()[static_cast<size_t>(index)];
  }

  // Element `index` of the row-major order, of any dtype.
  Scalar element(int64_t index) const;
  void set_element(int64_t index, Scalar value);

 private:
  void require_dtype(DType wanted) const;
  void require_count(int64_t count) const;
};

// Equal dtype and shape, and equal bits except that all NaNs count as one: payload and sign of a
// NaN are left open.
bool same_bits(const Tensor& a, const Tensor& b);
bool same_bits(const Scalar& a, const Scalar& b);

// The position (i, j, ...) of element `index` of the row-major order of `shape`.
std::vector<int64_t> unravel(int64_t index, std::span<const int64_t> shape);

}  // namespace lanewise::ir
