// Arithmetic primitives.
#include "jit/detail/primitives.h"

namespace lanewise::jit {

llvm::Value* emit_add(VectorBuilder& b, const Operation& op) {
  if (is_bool(op.dtype)) return b.CreateOr(op.a(), op.b());
  return is_float(op.dtype) ? b.CreateFAdd(op.a(), op.b()) : b.CreateAdd(op.a(), op.b());
}

llvm::Value* emit_subtract(VectorBuilder& b, const Operation& op) {
  return is_float(op.dtype) ? b.CreateFSub(op.a(), op.b()) : b.CreateSub(op.a(), op.b());
}

llvm::Value* emit_multiply(VectorBuilder& b, const Operation& op) {
  if (is_bool(op.dtype)) return b.CreateAnd(op.a(), op.b());
  return is_float(op.dtype) ? b.CreateFMul(op.a(), op.b()) : b.CreateMul(op.a(), op.b());
}

llvm::Value* emit_divide(VectorBuilder& b, const Operation& op) {
  return b.CreateFDiv(op.a(), op.b());
}

llvm::Value* emit_negative(VectorBuilder& b, const Operation& op) {
  return is_float(op.dtype) ? b.CreateFNeg(op.a()) : b.CreateNeg(op.a());
}

llvm::Value* emit_abs(VectorBuilder& b, const Operation& op) {
  if (is_float(op.dtype)) return b.call(llvm::Intrinsic::fabs, op.a());
  if (is_signed_int(op.dtype)) return b.call(llvm::Intrinsic::abs, op.a(), b.getFalse());
  return op.a();
}

llvm::Value* emit_sqrt(VectorBuilder& b, const Operation& op) {
  return b.call(llvm::Intrinsic::sqrt, op.a());
}

llvm::Value* emit_fma(VectorBuilder& b, const Operation& op) {
  return b.CreateIntrinsic(llvm::Intrinsic::fma, {op.a()->getType()}, {op.a(), op.b(), op.c()});
}

llvm::Value* emit_floor(VectorBuilder& b, const Operation& op) {
  return b.call(llvm::Intrinsic::floor, op.a());
}

llvm::Value* emit_ceil(VectorBuilder& b, const Operation& op) {
  return b.call(llvm::Intrinsic::ceil, op.a());
}

llvm::Value* emit_trunc(VectorBuilder& b, const Operation& op) {
  return b.call(llvm::Intrinsic::trunc, op.a());
}

llvm::Value* emit_round(VectorBuilder& b, const Operation& op) {
  return b.call(llvm::Intrinsic::roundeven, op.a());
}

// ---- minimum and maximum ------------------------------------------------------------------

namespace {

// A constant, the same in all lanes, that is neither 0 nor NaN.
bool is_plain_constant(llvm::Value* value) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant == nullptr) return false;
  if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
  return number != nullptr && !number->isZero() && !number->isNaN();
}

// x < y ? x : y, or with >: one instruction, which gives y if one is NaN or both are zeros.
llvm::Value* bare_extremum(VectorBuilder& b, bool smaller, llvm::Value* x, llvm::Value* y) {
  return b.select(smaller ? b.CreateFCmpOLT(x, y) : b.CreateFCmpOGT(x, y), x, y);
}

llvm::Value* float_extremum(VectorBuilder& b, bool smaller, llvm::Value* x, llvm::Value* y) {
  if (is_plain_constant(x)) return bare_extremum(b, smaller, x, y);
  if (is_plain_constant(y)) return bare_extremum(b, smaller, y, x);
  // Both orders: the results differ only if one operand is NaN, or for zeros of different sign.
  llvm::Type* const integer = b.integer_like(x);
  llvm::Value* const first = b.CreateBitCast(bare_extremum(b, smaller, x, y), integer);
  llvm::Value* const second = b.CreateBitCast(bare_extremum(b, smaller, y, x), integer);
  if (smaller) return b.CreateBitCast(b.CreateOr(first, second), x->getType());
  llvm::Value* const nan = b.CreateSExt(b.CreateFCmpUNO(x, y), integer);
  return b.CreateBitCast(b.CreateOr(b.CreateAnd(first, second), nan), x->getType());
}

llvm::Value* extremum(VectorBuilder& b, const Operation& op, bool smaller) {
  if (is_float(op.dtype)) return float_extremum(b, smaller, op.a(), op.b());
  if (is_bool(op.dtype)) {
    return smaller ? b.CreateAnd(op.a(), op.b()) : b.CreateOr(op.a(), op.b());
  }
  const bool is_signed = is_signed_int(op.dtype);
  const llvm::Intrinsic::ID intrinsic =
      smaller ? (is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin)
              : (is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax);
  return b.call(intrinsic, op.a(), op.b());
}

}  // namespace

llvm::Value* emit_minimum(VectorBuilder& b, const Operation& op) { return extremum(b, op, true); }

llvm::Value* emit_maximum(VectorBuilder& b, const Operation& op) { return extremum(b, op, false); }

}  // namespace lanewise::jit
