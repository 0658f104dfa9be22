// Comparisons and choice.
#include "jit/detail/primitives.h"

namespace lanewise::jit {

namespace {

llvm::Value* compare(VectorBuilder& b, const Operation& op, llvm::CmpInst::Predicate of_floats,
                     llvm::CmpInst::Predicate of_signed, llvm::CmpInst::Predicate of_unsigned) {
  if (is_float(op.dtype)) return b.CreateFCmp(of_floats, op.a(), op.b());
  return b.CreateICmp(is_signed_int(op.dtype) ? of_signed : of_unsigned, op.a(), op.b());
}

}  // namespace

llvm::Value* emit_equal(VectorBuilder& b, const Operation& op) {
  return compare(b, op, llvm::CmpInst::FCMP_OEQ, llvm::CmpInst::ICMP_EQ, llvm::CmpInst::ICMP_EQ);
}

llvm::Value* emit_not_equal(VectorBuilder& b, const Operation& op) {
  return compare(b, op, llvm::CmpInst::FCMP_UNE, llvm::CmpInst::ICMP_NE, llvm::CmpInst::ICMP_NE);
}

llvm::Value* emit_less(VectorBuilder& b, const Operation& op) {
  return compare(b, op, llvm::CmpInst::FCMP_OLT, llvm::CmpInst::ICMP_SLT, llvm::CmpInst::ICMP_ULT);
}

llvm::Value* emit_less_equal(VectorBuilder& b, const Operation& op) {
  return compare(b, op, llvm::CmpInst::FCMP_OLE, llvm::CmpInst::ICMP_SLE, llvm::CmpInst::ICMP_ULE);
}

llvm::Value* emit_greater(VectorBuilder& b, const Operation& op) {
  return compare(b, op, llvm::CmpInst::FCMP_OGT, llvm::CmpInst::ICMP_SGT, llvm::CmpInst::ICMP_UGT);
}

llvm::Value* emit_greater_equal(VectorBuilder& b, const Operation& op) {
  return compare(b, op, llvm::CmpInst::FCMP_OGE, llvm::CmpInst::ICMP_SGE, llvm::CmpInst::ICMP_UGE);
}

llvm::Value* emit_select(VectorBuilder& b, const Operation& op) {
  return b.select(op.a(), op.b(), op.c());
}

// Where the rare value costs nothing of its own; else the body puts its code apart.
llvm::Value* emit_rare(VectorBuilder& b, const Operation& op) {
  return b.select(op.a(), op.c(), op.b());
}

}  // namespace lanewise::jit
