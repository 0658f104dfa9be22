// The interpreter's values of all nodes of a kernel's body at all points of its domain.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace lanewise::jit::test {

class ReferenceRows {
 public:
  // `points` points in row-major order; reductions and scans go over `row` neighbouring ones each.
  ReferenceRows(const ir::Graph& body, int64_t points, int64_t row)
      : body_(body), points_(points), row_(row) {}

  // The next node of the body.
  void append_constant(const ir::Node& node, Scalar value);
  void append_values(const ir::Node& node, const std::vector<Scalar>& values);
  void append_computed(const ir::Node& node);

  Scalar at(ir::Value value, int64_t point) const;

 private:
  using Bytes = std::vector<std::byte>;
  Bytes walk_rows(const ir::Node& node) const;

  const ir::Graph& body_;
  int64_t points_;
  int64_t row_;
  std::vector<Bytes> values_;
};

}  // namespace lanewise::jit::test
