// Integer division, wide products, bits and shifts.
#include "jit/detail/primitives.h"

namespace lanewise::jit {

namespace {

llvm::Value* to_float(VectorBuilder& b, llvm::Value* x, bool is_signed, llvm::Type* element) {
  llvm::Type* const type = b.vector_of(element);
  return is_signed ? b.CreateSIToFP(x, type) : b.CreateUIToFP(x, type);
}

// Exact for up to 32 bits: the float64 quotient of two such integers is never rounded up to the
// next integer. Adding 1.5 * 2^52 leaves the integer in the low bits, wrapped.
llvm::Value* quotient_by_float64(VectorBuilder& b, llvm::Value* x, llvm::Value* y, bool is_signed) {
  llvm::Value* const quotient = b.CreateFDiv(to_float(b, x, is_signed, b.getDoubleTy()),
                                             to_float(b, y, is_signed, b.getDoubleTy()));
  llvm::Value* const whole = b.call(llvm::Intrinsic::trunc, quotient);
  llvm::Value* const shifted = b.CreateFAdd(whole, b.like(whole, 0x1.8p52));
  return b.CreateTrunc(b.CreateBitCast(shifted, b.integer_like(shifted)), x->getType());
}

// The same for 8 and 16 bits.
llvm::Value* quotient_by_float32(VectorBuilder& b, llvm::Value* x, llvm::Value* y, bool is_signed) {
  llvm::Value* const quotient = b.CreateFDiv(to_float(b, x, is_signed, b.getFloatTy()),
                                             to_float(b, y, is_signed, b.getFloatTy()));
  return b.CreateTrunc(b.CreateFPToSI(quotient, b.vector_of(b.getInt32Ty())), x->getType());
}

llvm::Value* quotient_by_division(VectorBuilder& b, llvm::Value* x, llvm::Value* y,
                                  bool is_signed) {
  if (!is_signed) return b.CreateUDiv(x, y);
  // smallest / -1 faults in the CPU.
  llvm::Value* const negates = b.CreateICmpEQ(y, b.like(y, -1));
  llvm::Value* const quotient = b.CreateSDiv(x, b.select(negates, b.like(y, 1), y));
  return b.select(negates, b.CreateNeg(x), quotient);
}

}  // namespace

llvm::Value* emit_quotient(VectorBuilder& b, const Operation& op) {
  llvm::Value* const by_zero = b.CreateICmpEQ(op.b(), b.like(op.b(), 0));
  llvm::Value* const divisor = b.select(by_zero, b.like(op.b(), 1), op.b());
  const auto divide = size_of(op.dtype) == 8   ? &quotient_by_division
                      : size_of(op.dtype) == 4 ? &quotient_by_float64
                                               : &quotient_by_float32;
  llvm::Value* const quotient = divide(b, op.a(), divisor, is_signed_int(op.dtype));
  return b.select(by_zero, b.like(quotient, 0), quotient);
}

namespace {

// From the four products of 32-bit halves.
llvm::Value* multiply_high_by_halves(VectorBuilder& b, llvm::Value* x, llvm::Value* y) {
  llvm::Constant* const low_half = b.like_bits(x, UINT32_MAX);
  const auto low = [&](llvm::Value* v) { return b.CreateAnd(v, low_half); };
  const auto high = [&](llvm::Value* v) { return b.CreateLShr(v, 32); };
  llvm::Value* const low_low = b.CreateMul(low(x), low(y));
  llvm::Value* const high_low = b.CreateMul(high(x), low(y));
  llvm::Value* const low_high = b.CreateMul(low(x), high(y));
  llvm::Value* const high_high = b.CreateMul(high(x), high(y));
  // Neither sum overflows.
  llvm::Value* const middle = b.CreateAdd(high_low, high(low_low));
  llvm::Value* const carry = b.CreateAdd(low(middle), low_high);
  return b.CreateAdd(b.CreateAdd(high_high, high(middle)), high(carry));
}

}  // namespace

llvm::Value* emit_multiply_high(VectorBuilder& b, const Operation& op) {
  const int bits = 8 * size_of(op.dtype);
  const bool is_signed = is_signed_int(op.dtype);
  if (bits == 64 && b.lanes > 1) {
    llvm::Value* result = multiply_high_by_halves(b, op.a(), op.b());
    if (!is_signed) return result;
    // A negative operand was taken 2^64 too large.
    const auto if_negative = [&](llvm::Value* sign, llvm::Value* value) {
      return b.CreateAnd(b.CreateAShr(sign, 63), value);
    };
    result = b.CreateSub(result, if_negative(op.a(), op.b()));
    return b.CreateSub(result, if_negative(op.b(), op.a()));
  }
  llvm::Type* const wide = b.vector_of(b.getIntNTy(2 * static_cast<unsigned>(bits)));
  const auto widen = [&](llvm::Value* x) {
    return is_signed ? b.CreateSExt(x, wide) : b.CreateZExt(x, wide);
  };
  llvm::Value* const product = b.CreateMul(widen(op.a()), widen(op.b()));
  return b.CreateTrunc(b.CreateLShr(product, static_cast<uint64_t>(bits)), op.a()->getType());
}

// ---- bits ---------------------------------------------------------------------------------

llvm::Value* emit_bitwise_and(VectorBuilder& b, const Operation& op) {
  return b.CreateAnd(op.a(), op.b());
}

llvm::Value* emit_bitwise_or(VectorBuilder& b, const Operation& op) {
  return b.CreateOr(op.a(), op.b());
}

llvm::Value* emit_bitwise_xor(VectorBuilder& b, const Operation& op) {
  return b.CreateXor(op.a(), op.b());
}

llvm::Value* emit_bitwise_invert(VectorBuilder& b, const Operation& op) {
  return b.CreateNot(op.a());
}

// A shift by too much is poison, which `select` does not let through.
llvm::Value* emit_shift_left(VectorBuilder& b, const Operation& op) {
  llvm::Value* const fits = b.CreateICmpULT(op.b(), b.like(op.b(), 8 * size_of(op.dtype)));
  return b.select(fits, b.CreateShl(op.a(), op.b()), b.like(op.a(), 0));
}

llvm::Value* emit_shift_right(VectorBuilder& b, const Operation& op) {
  const int width = 8 * size_of(op.dtype);
  if (is_signed_int(op.dtype)) {
    llvm::Value* const count = b.call(llvm::Intrinsic::umin, op.b(), b.like(op.b(), width - 1));
    return b.CreateAShr(op.a(), count);
  }
  llvm::Value* const fits = b.CreateICmpULT(op.b(), b.like(op.b(), width));
  return b.select(fits, b.CreateLShr(op.a(), op.b()), b.like(op.a(), 0));
}

}  // namespace lanewise::jit
