// Common dtypes, as NumPy 2 has them for the dtypes we have; Python numbers are weak.
#pragma once

#include <optional>
#include <span>

#include "ir/op.h"

namespace lanewise::frontend {

// The kind of a Python number: it adapts to the arrays it meets.
enum class Weak : uint8_t { kBool, kInt, kFloat };

// result_type(int64, float32) = float64, (uint64, int64) = float64, (int16, float32) = float32...
DType promote(DType a, DType b);
// A Python number with an array: bool with int gives int64, int32 with float gives float64, ...
DType promote(DType a, Weak b);
// The dtype a Python number has alone: bool, int64, float64.
DType default_dtype(Weak weak);

// The dtype in which `op` computes for an argument of this common dtype: integers become
// floating point for Promotion::kInexact (bool, int8, uint8, int16, uint16: float32, else
// float64, and float64 for all of them in a division), anything becomes bool for kLogical.
// DTypeError where the op takes no such dtype.
DType compute_dtype(ir::Op op, DType common);

// NumPy's casting rules: may a result of dtype `from` be stored in `to`?
bool can_cast_same_kind(DType from, DType to);

}  // namespace lanewise::frontend
