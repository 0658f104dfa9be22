// Sizes that are names while a function is traced for ahead-of-time compilation: what is assumed of
// them, and their values as numbers in expressions.
#pragma once

#include <vector>

#include "frontend/ops.h"

namespace lanewise::frontend {

// left == right, or left >= right: checked when the compiled function is called.
struct SizeConstraint {
  bool is_equality = true;
  Dim left, right;
};

// While one of these lives, this thread traces with names for sizes.
class SymbolicSizes {
 public:
  // Values of sizes become scalar arguments of the trace from this number on.
  explicit SymbolicSizes(size_t first_scalar);
  ~SymbolicSizes();
  SymbolicSizes(const SymbolicSizes&) = delete;
  SymbolicSizes& operator=(const SymbolicSizes&) = delete;
  static SymbolicSizes* current();

  const std::vector<SizeConstraint>& constraints() const { return constraints_; }
  const std::vector<Dim>& scalars() const { return scalars_; }

  void require(bool is_equality, const Dim& left, const Dim& right);
  // The value of a size as an int64 argument of the trace.
  NodeRef scalar(const Dim& size);

 private:
  size_t first_scalar_;
  std::vector<SizeConstraint> constraints_;
  std::vector<Dim> scalars_;
  SymbolicSizes* outer_;
};

// Whether the sizes are the same, or are taken to be from here on, to be checked at each call.
bool agree(const Dim& a, const Dim& b);
// Nothing for constants: the caller has checked them.
void require_at_least(const Dim& size, const Dim& least);
// start, start + 1, ... below stop, which must not be less.
Array arange_of_sizes(const Dim& start, const Dim& stop, DType dtype);
// A size as Python's integer of that value.
Number size_number(const Dim& size);

}  // namespace lanewise::frontend
