// Conversions between dtypes.
#include <cmath>
#include <limits>

#include "jit/detail/primitives.h"

namespace lanewise::jit {

namespace {

llvm::Value* bits_of(VectorBuilder& b, llvm::Value* x) {
  return b.CreateBitCast(x, b.integer_like(x));
}

// ---- integers to floats -------------------------------------------------------------------

// AVX2 has no conversion of 64-bit integers to float64. The halves are put in the mantissas of
// 2^84 and 2^52; only the last addition rounds.
llvm::Value* float64_of_wide(VectorBuilder& b, llvm::Value* x, bool is_signed) {
  llvm::Type* const type = b.vector(DType::kF64);
  const uint64_t high_tag = is_signed ? 0x4530000080000000 : 0x4530000000000000;
  llvm::Value* const low =
      b.CreateOr(b.CreateAnd(x, b.like_bits(x, UINT32_MAX)), b.like_bits(x, 0x4330000000000000));
  llvm::Value* const high = b.CreateXor(b.CreateLShr(x, 32), b.like_bits(x, high_tag));
  llvm::Value* const high_float = b.CreateBitCast(high, type);
  llvm::Constant* const excess = b.like(high_float, 0x1p84 + 0x1p52 + (is_signed ? 0x1p63 : 0));
  return b.CreateFAdd(b.CreateFSub(high_float, excess), b.CreateBitCast(low, type));
}

llvm::Value* integer_to_float(VectorBuilder& b, llvm::Value* x, DType from, DType to) {
  if (size_of(from) == 8 && to == DType::kF64 && b.lanes > 1 && !b.has_avx512()) {
    return float64_of_wide(b, x, is_signed_int(from));
  }
  return is_signed_int(from) ? b.CreateSIToFP(x, b.vector(to)) : b.CreateUIToFP(x, b.vector(to));
}

// ---- floats to integers: saturating, NaN becomes 0 ------------------------------------------

struct Limits {
  double smallest;
  double largest;  // the largest value of the float dtype that is in the integer's range
  double beyond;   // the power of two above
  uint64_t largest_integer;
};

Limits limits_of(DType integer, DType floating) {
  return visit_dtype(integer, [&](auto zero) {
    using Of = std::numeric_limits<decltype(zero)>;
    const double beyond = std::ldexp(1.0, Of::digits);
    const int mantissa = floating == DType::kF32 ? 24 : 53;
    const double step = std::ldexp(1.0, std::max(0, Of::digits - mantissa));
    return Limits{static_cast<double>(Of::min()), beyond - step, beyond,
                  static_cast<uint64_t>(Of::max())};
  });
}

// The float64 whole number x, in the range of `to`, from the bits of x + magic numbers: AVX2 has
// no such conversion to 64 bits.
llvm::Value* wide_of_float64(VectorBuilder& b, llvm::Value* x, DType to) {
  llvm::Value* const whole = b.call(llvm::Intrinsic::trunc, x);
  llvm::Value* const high =
      b.call(llvm::Intrinsic::floor, b.CreateFMul(whole, b.like(whole, 0x1p-32)));
  // Exact: both terms are multiples of a power of two within 53 bits of each other.
  llvm::Value* const low = b.CreateFSub(whole, b.CreateFMul(high, b.like(high, 0x1p32)));
  const double magic = is_signed_int(to) ? 0x1.8p52 : 0x1p52;
  llvm::Value* const high_bits = bits_of(b, b.CreateFAdd(high, b.like(high, magic)));
  llvm::Value* const low_bits = bits_of(b, b.CreateFAdd(low, b.like(low, 0x1p52)));
  return b.CreateOr(b.CreateShl(high_bits, 32),
                    b.CreateAnd(low_bits, b.like_bits(low_bits, UINT32_MAX)));
}

// x is in range.
llvm::Value* truncate_to_integer(VectorBuilder& b, llvm::Value* x, DType to) {
  if (size_of(to) < 4) {
    return b.CreateTrunc(b.CreateFPToSI(x, b.vector(DType::kI32)), b.vector(to));
  }
  if (size_of(to) == 8 && b.lanes > 1 && !b.has_avx512()) return wide_of_float64(b, x, to);
  return is_signed_int(to) ? b.CreateFPToSI(x, b.vector(to)) : b.CreateFPToUI(x, b.vector(to));
}

llvm::Value* float_to_integer(VectorBuilder& b, llvm::Value* x, DType from, DType to) {
  if (from == DType::kF32 && size_of(to) == 8 && b.lanes > 1 && !b.has_avx512()) {
    x = b.CreateFPExt(x, b.vector(DType::kF64));
    from = DType::kF64;
  }
  const Limits limits = limits_of(to, from);
  const auto bound = [&](double number) { return b.like(x, number); };
  // Written so that NaN becomes a bound.
  llvm::Value* const below =
      b.select(b.CreateFCmpOLT(x, bound(limits.largest)), x, bound(limits.largest));
  llvm::Value* const inside =
      b.select(b.CreateFCmpOGT(below, bound(limits.smallest)), below, bound(limits.smallest));
  llvm::Value* result = truncate_to_integer(b, inside, to);
  if (static_cast<uint64_t>(limits.largest) != limits.largest_integer) {
    result = b.select(b.CreateFCmpOGE(x, bound(limits.beyond)),
                      b.like_bits(result, limits.largest_integer), result);
  }
  return b.select(b.is_nan(x), b.like(result, 0), result);
}

}  // namespace

llvm::Value* emit_cast(VectorBuilder& b, const Operation& op) {
  const DType from = op.dtype;
  const DType to = op.node.dtype;
  llvm::Value* const x = op.a();
  if (from == to) return x;
  if (is_bool(to)) {
    return is_float(from) ? b.CreateFCmpUNE(x, b.like(x, 0)) : b.CreateICmpNE(x, b.like(x, 0));
  }
  if (is_float(to)) {
    if (is_float(from)) return b.CreateFPCast(x, b.vector(to));
    return integer_to_float(b, x, from, to);
  }
  if (is_float(from)) return float_to_integer(b, x, from, to);
  return b.CreateIntCast(x, b.vector(to), is_signed_int(from));
}

llvm::Value* emit_bitcast(VectorBuilder& b, const Operation& op) {
  return b.CreateBitCast(op.a(), b.vector(op.node.dtype));
}

}  // namespace lanewise::jit
