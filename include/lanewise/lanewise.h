// lanewise for C++: the arrays that Python has, with the same functions, names and results.
//
//   #include <lanewise/lanewise.h>
//   using namespace lanewise;
//
//   const Array X = asarray<float>({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
//   const auto y = pow(X(all, 0), 2) + pow(X(all, 1), 3);
//   for (float value : to_vector<float>(y)) ...
//
// Expressions are recorded, and computed when their values are asked for. Copies of an Array are
// the same array. Errors are exceptions derived from lanewise::Error. What a program does with
// arrays at the same time, it does under a lock of its own; computing uses all threads.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "frontend/evaluate.h"
#include "frontend/functions.h"
#include "support/error.h"

namespace lanewise {

using frontend::Array;
using frontend::Axes;
using frontend::Ellipsis;
using frontend::NewAxis;
using frontend::Shape;
using frontend::Slice;

// In X(all, 0): the whole of an axis.
inline constexpr Slice all = {};

#define LANEWISE_USE(id, name) using frontend::name;
LANEWISE_FUNCTIONS_OF_1(LANEWISE_USE)
LANEWISE_FUNCTIONS_OF_2(LANEWISE_USE)
LANEWISE_FUNCTIONS_OF_3(LANEWISE_USE)
#undef LANEWISE_USE
using frontend::all_of;
using frontend::any_of;
using frontend::arange;
using frontend::assign;
using frontend::astype;
using frontend::eye;
using frontend::full;
using frontend::linspace;
using frontend::manual_seed;
using frontend::max;
using frontend::mean;
using frontend::min;
using frontend::prod;
using frontend::rand;
using frontend::randn;
using frontend::sum;
using frontend::where;

// A copy of these elements, in row-major order. ShapeError if their number is not that of the
// shape.
template <class T>
Array asarray(const Shape& shape, std::span<const T> values) {
  if (!shape.element_count().is(static_cast<int64_t>(values.size()))) {
    throw ShapeError("asarray: the number of elements is not that of the shape");
  }
  return frontend::from_bytes(dtype_of<T>(), shape, values.data());
}
template <class T>
Array asarray(const Shape& shape, std::initializer_list<T> values) {
  return asarray<T>(shape, std::span<const T>(values.begin(), values.size()));
}
template <class T>
Array asarray(const std::vector<T>& values) {
  return asarray<T>({static_cast<int64_t>(values.size())}, std::span<const T>(values));
}

// Computes several at once, sharing work.
template <class... Arrays>
void eval(const Arrays&... arrays) {
  const Array all_arrays[] = {arrays...};
  frontend::evaluate(all_arrays);
}

// The elements in row-major order. DTypeError if T is not their type.
template <class T>
std::vector<T> to_vector(const Array& array) {
  if (array.dtype() != dtype_of<T>()) throw DTypeError("to_vector: elements of another dtype");
  const Array whole = *array.reshape(array.shape(), true);
  const frontend::StridedData data = frontend::strided_data(whole);
  const T* first = reinterpret_cast<const T*>(data.data);
  return std::vector<T>(first, first + whole.shape().element_count().value());
}

// The only element.
template <class T>
T item(const Array& array) {
  if (!array.shape().element_count().is(1)) throw ShapeError("item: not one element");
  return to_vector<T>(array)[0];
}

}  // namespace lanewise
