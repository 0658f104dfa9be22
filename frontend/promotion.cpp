#include "frontend/promotion.h"

#include <algorithm>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

// The smallest signed integer, else float64, that holds every value of an unsigned `dtype`.
DType signed_above(DType dtype) {
  return size_of(dtype) < 8 ? signed_of_width(2 * size_of(dtype)) : DType::kF64;
}

DType wider(DType a, DType b) { return size_of(a) >= size_of(b) ? a : b; }

}  // namespace

DType promote(DType a, DType b) {
  if (a == b || is_bool(b)) return a;
  if (is_bool(a)) return b;
  if (is_float(a) && is_float(b)) return wider(a, b);
  if (is_float(a) || is_float(b)) {
    const auto [real, integer] = is_float(a) ? std::pair(a, b) : std::pair(b, a);
    return size_of(integer) <= 2 ? real : DType::kF64;
  }
  if (is_signed_int(a) == is_signed_int(b)) return wider(a, b);
  const auto [with_sign, without] = is_signed_int(a) ? std::pair(a, b) : std::pair(b, a);
  return size_of(with_sign) > size_of(without) ? with_sign : signed_above(without);
}

DType default_dtype(Weak weak) {
  switch (weak) {
    case Weak::kBool:
      return DType::kBool;
    case Weak::kInt:
      return DType::kI64;
    case Weak::kFloat:
      return DType::kF64;
  }
  __builtin_unreachable();
}

DType promote(DType a, Weak b) {
  const auto kind = [](DType d) { return is_float(d) ? 2 : is_int(d) ? 1 : 0; };
  return kind(a) >= static_cast<int>(b) ? a : default_dtype(b);
}

DType compute_dtype(ir::Op op, DType common) {
  const ir::OpSpec& row = ir::spec(op);
  DType dtype = common;
  if (row.promotion == ir::Promotion::kLogical) dtype = DType::kBool;
  if (row.promotion == ir::Promotion::kInexact && !is_float(common)) {
    // NumPy has a floating-point dtype of their size for small integers, but not to divide them.
    const bool is_small = size_of(common) <= 2 && op != ir::Op::kDivide;
    dtype = is_small ? DType::kF32 : DType::kF64;
  }
  if (!ir::contains(row.accepts, dtype)) {
    throw DTypeError(format("{}: not defined for {}", op, python_name(common)));
  }
  return dtype;
}

bool can_cast_same_kind(DType from, DType to) {
  if (is_bool(from) || from == to) return true;
  if (is_bool(to)) return false;
  if (is_float(to)) return true;
  if (is_float(from)) return false;
  return is_signed_int(to) || is_unsigned_int(from);
}

}  // namespace lanewise::frontend
