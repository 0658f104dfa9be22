#include "tests/support/random_window.h"

#include <algorithm>

namespace lanewise::test {

using ir::Dim;
using ir::Shape;
using ir::Window;

Window any_window(Random& random, int64_t count, const Shape& shape) {
  Window window{0, std::vector<Dim>(static_cast<size_t>(shape.rank()), Dim(0))};
  if (shape.element_count().is(0) || count == 0) return window;
  int64_t low = 0;
  int64_t high = 0;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t last = shape[axis].value() - 1;
    const int64_t room = count - 1 - (high - low);
    const int64_t most = last > 0 ? std::min<int64_t>(room / last, 12) : 3;
    const int64_t stride = uniform(random, -most, most);
    window.strides[static_cast<size_t>(axis)] = stride;
    (stride < 0 ? low : high) += stride * last;
  }
  window.offset = uniform(random, -low, count - 1 - high);
  return window;
}

Slice any_slice(Random& random, const Shape& from) {
  constexpr int64_t kSteps[] = {1, 1, 2, 3, -1, -2};
  const std::vector<Dim> row_major = row_major_strides(from);
  std::vector<int> order(static_cast<size_t>(from.rank()));
  for (int axis = 0; axis < from.rank(); ++axis) order[static_cast<size_t>(axis)] = axis;
  if (chance(random, 40)) std::ranges::shuffle(order, random);
  Dim offset = 0;
  std::vector<Dim> sizes, strides;
  for (const int axis : order) {
    const int64_t size = from[axis].value();
    const Dim& stride = row_major[static_cast<size_t>(axis)];
    const int64_t step = pick(random, kSteps);
    const int64_t end = step > 0 ? 0 : size - 1;
    const int64_t first = size == 0 ? 0 : chance(random, 60) ? end : uniform(random, 0, size - 1);
    const int64_t after = step > 0 ? size - first : first + 1;  // elements in that direction
    offset = offset + Dim(first) * stride;
    if (chance(random, 20) && size > 0) continue;  // one index: the axis goes
    const int64_t most = size == 0 ? 0 : (after - 1) / std::abs(step) + 1;
    sizes.push_back(chance(random, 60) ? most : uniform(random, 0, most));
    strides.push_back(Dim(step) * stride);
  }
  return {Shape(std::move(sizes)), Window{offset, std::move(strides)}};
}

Shape any_reshape(Random& random, const Shape& from, int max_rank) {
  int64_t rest = from.element_count().value();
  std::vector<Dim> dims;
  while (rest > 1 && static_cast<int>(dims.size()) < max_rank - 1) {
    int64_t factor = uniform(random, 1, rest);
    while (rest % factor != 0) --factor;
    dims.insert(dims.begin(), factor);
    rest /= factor;
  }
  if (max_rank > 0) dims.insert(dims.begin(), rest);
  const Shape result(std::move(dims));
  return result.element_count() == from.element_count() ? result : from;
}

ir::Value random_window(Random& random, ir::Builder& builder, ir::Value value) {
  const Shape from = builder[value].shape;
  switch (uniform(random, 0, 3)) {
    case 0: {
      const Shape shape = any_reshape(random, from, 3);
      return builder.window(value, shape, {0, row_major_strides(shape)});
    }
    case 1: {
      std::vector<Dim> dims(from.begin(), from.end());
      dims.insert(dims.begin(), uniform(random, 1, 3));
      return builder.broadcast(value, Shape(std::move(dims)));
    }
    default: {
      Slice slice = any_slice(random, from);
      return builder.window(value, std::move(slice.shape), std::move(slice.window));
    }
  }
}

}  // namespace lanewise::test
