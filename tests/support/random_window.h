// Random windows: what indexing, permuting, reshaping and broadcasting make, and others.
#pragma once

#include "ir/builder.h"
#include "tests/support/random_values.h"

namespace lanewise::test {

// A window of `shape` inside an array of `count` elements, at any strides.
ir::Window any_window(Random& random, int64_t count, const ir::Shape& shape);

// A slice with any steps, with axes permuted and dropped. Visits no element twice.
struct Slice {
  ir::Shape shape;
  ir::Window window;
};
Slice any_slice(Random& random, const ir::Shape& from);

// All elements in order, cut into other axes.
ir::Shape any_reshape(Random& random, const ir::Shape& from, int max_rank);

// A slice, reshape or broadcast of `value`.
ir::Value random_window(Random& random, ir::Builder& builder, ir::Value value);

}  // namespace lanewise::test
