#include "frontend/sizes.h"

#include <algorithm>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

thread_local SymbolicSizes* current_sizes = nullptr;

}  // namespace

SymbolicSizes::SymbolicSizes(size_t first_scalar)
    : first_scalar_(first_scalar), outer_(current_sizes) {
  current_sizes = this;
}

SymbolicSizes::~SymbolicSizes() { current_sizes = outer_; }

SymbolicSizes* SymbolicSizes::current() { return current_sizes; }

void SymbolicSizes::require(bool is_equality, const Dim& left, const Dim& right) {
  const bool known = std::ranges::any_of(constraints_, [&](const SizeConstraint& other) {
    return other.is_equality == is_equality && other.left == left && other.right == right;
  });
  if (!known) constraints_.push_back({is_equality, left, right});
}

NodeRef SymbolicSizes::scalar(const Dim& size) {
  const auto found = std::ranges::find(scalars_, size);
  const auto number = static_cast<size_t>(found - scalars_.begin());
  if (found == scalars_.end()) scalars_.push_back(size);
  return Node::make(Op::kScalar, DType::kI64, {}, {},
                    ir::Slot{static_cast<int>(first_scalar_ + number)});
}

bool agree(const Dim& a, const Dim& b) {
  if (a == b) return true;
  if (current_sizes == nullptr) return false;
  const Dim difference = a - b;
  if (difference.is_constant()) return false;
  current_sizes->require(true, a, b);
  return true;
}

void require_at_least(const Dim& size, const Dim& least) {
  const Dim room = size - least;
  if (room.is_constant()) {
    if (room.value() >= 0) return;
    throw IndexError(format("index: size {} is less than {}", size, least));
  }
  if (current_sizes != nullptr) current_sizes->require(false, size, least);
}

Array arange_of_sizes(const Dim& start, const Dim& stop, DType dtype) {
  require_at_least(stop, start);
  const Array index(Node::make(Op::kIota, DType::kI64, Shape{stop - start}, {}, ir::Slot{0}));
  return astype(apply(Op::kAdd, {index, size_number(start)}), dtype);
}

Number size_number(const Dim& size) {
  if (size.is_constant()) return {Weak::kInt, size.value(), {}};
  if (current_sizes == nullptr) {
    throw UnsupportedError(
        format("size '{}' has no value outside of the function that is traced", size));
  }
  return {Weak::kInt, int64_t{0}, current_sizes->scalar(size)};
}

}  // namespace lanewise::frontend
