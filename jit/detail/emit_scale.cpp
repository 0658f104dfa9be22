// x * 2^k with one rounding.
#include <llvm/IR/IntrinsicsX86.h>

#include "jit/detail/primitives.h"

namespace lanewise::jit {

namespace {

// Of float64, or of float32.
struct Exponents {
  int smallest;  // of a normal power of two
  int largest;
  int mantissa_bits;
  double magic;  // adding it leaves an integer in the low bits
};

Exponents exponents_of(llvm::Value* x) {
  if (x->getType()->getScalarType()->isFloatTy()) return {-126, 127, 23, 0x1.8p23};
  return {-1022, 1023, 52, 0x1.8p52};
}

// min(max(k, low), high); NaN stays.
llvm::Value* clamp(VectorBuilder& b, llvm::Value* k, double low, double high) {
  k = b.select(b.CreateFCmpOGT(b.like(k, low), k), b.like(k, low), k);
  return b.select(b.CreateFCmpOLT(b.like(k, high), k), b.like(k, high), k);
}

// 2^k for an integral k from the smallest to the largest exponent.
llvm::Value* power_of_two(VectorBuilder& b, llvm::Value* k) {
  const Exponents e = exponents_of(k);
  llvm::Value* const biased = b.CreateFAdd(k, b.like(k, e.magic + e.largest));
  llvm::Value* const bits = b.CreateBitCast(biased, b.integer_like(k));
  return b.CreateBitCast(b.CreateShl(bits, static_cast<uint64_t>(e.mantissa_bits)), k->getType());
}

// vscalef rounds once, but takes 0 * 2^inf and inf * 2^-inf as invalid.
llvm::Value* scale_by_instruction(VectorBuilder& b, llvm::Value* x, llvm::Value* k) {
  const bool single = x->getType()->getScalarType()->isFloatTy();
  const auto intrinsic = single ? llvm::Intrinsic::x86_avx512_mask_scalef_ps_512
                                : llvm::Intrinsic::x86_avx512_mask_scalef_pd_512;
  const int size = single ? 16 : 8;
  return b.by_pieces(size, {x, clamp(b, k, -4096, 4096)}, [&](llvm::ArrayRef<llvm::Value*> part) {
    llvm::Value* const passed_through = llvm::PoisonValue::get(part[0]->getType());
    llvm::Value* const all_lanes = b.getIntN(static_cast<unsigned>(size), (1U << size) - 1);
    llvm::Value* const current_rounding = b.getInt32(4);
    return b.CreateIntrinsic(intrinsic,
                             {part[0], part[1], passed_through, all_lanes, current_rounding});
  });
}

// Any k. Up to the last product all are exact, or so far out of range that they make no
// difference: the powers beyond those of one factor come first.
llvm::Value* scale_by_products(VectorBuilder& b, llvm::Value* x, llvm::Value* k) {
  const Exponents e = exponents_of(x);
  llvm::Value* rest = clamp(b, k, 3 * e.smallest, 3 * e.largest);
  llvm::Value* powers[3];
  for (llvm::Value*& power : powers) {
    llvm::Value* const part = clamp(b, rest, e.smallest, e.largest);
    rest = b.CreateFSub(rest, part);
    power = power_of_two(b, part);
  }
  llvm::Value* result = x;
  for (int i = 2; i >= 0; --i) result = b.CreateFMul(result, powers[i]);
  return b.select(b.is_nan(k), k, result);
}

}  // namespace

llvm::Value* emit_scale2(VectorBuilder& b, const Operation& op) {
  llvm::Value* const x = op.a();
  llvm::Value* const k = op.b();
  if (b.lanes == 1) return scale_by_products(b, x, k);
  if (b.has_avx512()) return scale_by_instruction(b, x, k);
  const Exponents e = exponents_of(x);
  llvm::Value* const in_range = b.CreateAnd(b.CreateFCmpOGE(k, b.like(k, e.smallest)),
                                            b.CreateFCmpOLE(k, b.like(k, e.largest)));
  return b.unless_any(b.CreateNot(in_range), b.CreateFMul(x, power_of_two(b, k)),
                      [&] { return scale_by_products(b, x, k); });
}

}  // namespace lanewise::jit
