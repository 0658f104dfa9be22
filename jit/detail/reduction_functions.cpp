#include "jit/detail/reduction_functions.h"

#include <llvm/IR/Module.h>

#include <limits>
#include <string>

#include "ir/reduction_order.h"
#include "jit/detail/primitives.h"

namespace lanewise::jit {

using ir::Op;

// ---- reducers -----------------------------------------------------------------------------

namespace {

template <class T>
T identity_of(Op op) {
  using Limits = std::numeric_limits<T>;
  constexpr bool kFloat = std::is_floating_point_v<T>;
  switch (op) {
    case Op::kSum:
      return static_cast<T>(kFloat ? -0.0 : 0);
    case Op::kProd:
    case Op::kAll:
      return T(1);
    case Op::kMin:
      return kFloat ? Limits::infinity() : Limits::max();
    case Op::kMax:
      return static_cast<T>(kFloat ? -Limits::infinity() : Limits::lowest());
    default:
      return T(0);
  }
}

// The elementwise op that combines two elements.
Op combining_op(Op op) {
  switch (op) {
    case Op::kSum:
      return Op::kAdd;
    case Op::kProd:
      return Op::kMultiply;
    case Op::kMin:
    case Op::kAll:
      return Op::kMinimum;
    default:
      return Op::kMaximum;
  }
}

}  // namespace

llvm::Constant* Reducer::identity(VectorBuilder& b) const {
  return visit_dtype(
      dtype_, [&](auto zero) { return b.constant(Scalar::of(identity_of<decltype(zero)>(op_))); });
}

llvm::Value* Reducer::combine(VectorBuilder& b, llvm::Value* earlier, llvm::Value* later) const {
  const Op op = combining_op(op_);
  const ir::Node node{.op = op, .dtype = dtype_, .shape = {}};
  return emitter_of(op)(b, {.node = node, .dtype = dtype_, .operands = {earlier, later}});
}

llvm::Value* Reducer::halve(VectorBuilder& b, llvm::Value* vector) const {
  const int lanes = b.lanes;
  auto count =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(vector->getType())->getNumElements());
  while (count > 1) {
    count /= 2;
    b.lanes = count;
    const auto part = [&](int start) {
      return count == 1 ? b.CreateExtractElement(vector, static_cast<uint64_t>(start))
                        : b.slice(vector, start, count);
    };
    vector = combine(b, part(0), part(count));
  }
  b.lanes = lanes;
  return vector;
}

// ---- functions ----------------------------------------------------------------------------

llvm::Function* ReductionFunctions::function(const char* name, llvm::Type* result,
                                             llvm::ArrayRef<llvm::Type*> parameters,
                                             void (ReductionFunctions::*emit)(VectorBuilder&)) {
  llvm::Module& module = *b_.function->getParent();
  const std::string full = std::string(name) + "." + std::string(ir::name(reducer_.op())) + "." +
                           std::string(text_name(reducer_.dtype())) + "x" + std::to_string(rows_);
  if (llvm::Function* known = module.getFunction(full)) return known;
  auto* const type = llvm::FunctionType::get(result, parameters, false);
  llvm::Function* const made =
      new_function(module, full, type, llvm::GlobalValue::InternalLinkage, b_.target);
  made->addFnAttr(llvm::Attribute::NoInline);
  VectorBuilder b(made, b_.target);
  b.SetInsertPoint(b.block("entry"));
  (this->*emit)(b);
  return made;
}

llvm::Value* ReductionFunctions::block(llvm::Value* elements, llvm::Value* count) {
  return b_.CreateCall(function("block", element(), {b_.getPtrTy(), b_.getInt64Ty()},
                                &ReductionFunctions::emit_block),
                       {elements, count});
}

void ReductionFunctions::emit_block(VectorBuilder& b) {
  llvm::Value* const elements = b.function->getArg(0);
  llvm::Value* const count = b.function->getArg(1);
  b.lanes = ir::reduction_lanes(reducer_.dtype());
  llvm::Constant* const identity = reducer_.identity(b);
  llvm::BasicBlock* const fill_up = b.block("fill_up");
  llvm::BasicBlock* const loop = b.block("lanes");
  llvm::BasicBlock* const after = b.block("lanes_done");
  llvm::BasicBlock* const before = b.GetInsertBlock();
  // After a whole block elements of the next may lie.
  b.CreateCondBr(b.CreateICmpEQ(count, b.getInt64(ir::kReductionBlock)), loop, fill_up);
  b.SetInsertPoint(fill_up);
  b.CreateAlignedStore(identity, b.CreateGEP(element(), elements, count), llvm::Align());
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* const index = b.CreatePHI(b.getInt64Ty(), 3);
  llvm::PHINode* const lanes = b.CreatePHI(identity->getType(), 3);
  llvm::Value* const loaded = b.CreateAlignedLoad(
      identity->getType(), b.CreateGEP(element(), elements, index), llvm::Align());
  llvm::Value* const next_lanes = reducer_.combine(b, lanes, loaded);
  llvm::Value* const next = b.CreateAdd(index, b.getInt64(b.lanes));
  index->addIncoming(b.getInt64(0), before);
  index->addIncoming(b.getInt64(0), fill_up);
  index->addIncoming(next, loop);
  lanes->addIncoming(identity, before);
  lanes->addIncoming(identity, fill_up);
  lanes->addIncoming(next_lanes, loop);
  b.CreateCondBr(b.CreateICmpULT(next, count), loop, after);
  b.SetInsertPoint(after);
  b.CreateRet(reducer_.halve(b, next_lanes));
}

llvm::Value* ReductionFunctions::halve_table(llvm::Value* table, llvm::Value* count) {
  return b_.CreateCall(function("halve_table", element(), {b_.getPtrTy(), b_.getInt64Ty()},
                                &ReductionFunctions::emit_halve_table),
                       {table, count});
}

// A lane without elements holds the identity, so combining with it is left out.
void ReductionFunctions::emit_halve_table(VectorBuilder& b) {
  llvm::Value* const table = b.function->getArg(0);
  llvm::Value* const lanes = b.getInt64(ir::reduction_lanes(reducer_.dtype()));
  llvm::Value* const in_use = b.call(llvm::Intrinsic::umin, b.function->getArg(1), lanes);
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock* const step = b.block("step");
  llvm::BasicBlock* const after = b.block("done");
  b.CreateBr(step);
  b.SetInsertPoint(step);
  llvm::PHINode* const live = b.CreatePHI(b.getInt64Ty(), 2);
  llvm::PHINode* const half = b.CreatePHI(b.getInt64Ty(), 2);
  emit_halving(b, table, b.call(llvm::Intrinsic::usub_sat, live, half), half);
  llvm::Value* const next_live = b.call(llvm::Intrinsic::umin, live, half);
  llvm::Value* const next_half = b.CreateLShr(half, 1);
  live->addIncoming(in_use, before);
  live->addIncoming(next_live, b.GetInsertBlock());
  half->addIncoming(b.CreateLShr(lanes, 1), before);
  half->addIncoming(next_half, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpNE(next_half, b.getInt64(0)), step, after);
  b.SetInsertPoint(after);
  b.CreateRet(b.CreateLoad(element(), table));
}

// Lanes 0 ... pairs - 1 each take the one `half` further.
void ReductionFunctions::emit_halving(VectorBuilder& b, llvm::Value* table, llvm::Value* pairs,
                                      llvm::Value* half) {
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock* const test = b.block("pair_test");
  llvm::BasicBlock* const pair = b.block("pair");
  llvm::BasicBlock* const after = b.block("pairs_done");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode* const lane = b.CreatePHI(b.getInt64Ty(), 2);
  b.CreateCondBr(b.CreateICmpULT(lane, pairs), pair, after);
  b.SetInsertPoint(pair);
  llvm::Value* const lower = b.CreateGEP(element(), table, lane);
  llvm::Value* const upper = b.CreateGEP(element(), table, b.CreateAdd(lane, half));
  b.lanes = rows_;
  b.CreateStore(reducer_.combine(b, b.CreateLoad(element(), lower), b.CreateLoad(element(), upper)),
                lower);
  b.lanes = 1;
  lane->addIncoming(b.getInt64(0), before);
  lane->addIncoming(b.CreateAdd(lane, b.getInt64(1)), pair);
  b.CreateBr(test);
  b.SetInsertPoint(after);
}

namespace {

// More than any memory holds.
constexpr uint64_t kTreeLevels = 40;

llvm::Value* load_count(VectorBuilder& b, llvm::Value* tree) {
  return b.CreateLoad(b.getInt64Ty(), tree);
}

}  // namespace

llvm::Type* ReductionFunctions::tree_type() {
  return llvm::StructType::get(b_.getInt64Ty(), llvm::ArrayType::get(element(), kTreeLevels));
}

llvm::Value* ReductionFunctions::level(VectorBuilder& b, llvm::Value* tree, llvm::Value* number) {
  return b.CreateGEP(tree_type(), tree, {b.getInt64(0), b.getInt32(1), number});
}

void ReductionFunctions::push(llvm::Value* tree, llvm::Value* block) {
  b_.CreateCall(
      function("push", b_.getVoidTy(), {b_.getPtrTy(), element()}, &ReductionFunctions::emit_push),
      {tree, block});
}

// As adding 1 to the number of blocks carries: a run joins the run of equal length before it.
void ReductionFunctions::emit_push(VectorBuilder& b) {
  b.lanes = rows_;
  llvm::Value* const tree = b.function->getArg(0);
  llvm::Value* const count = load_count(b, tree);
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock* const test = b.block("carry_test");
  llvm::BasicBlock* const carry = b.block("carry");
  llvm::BasicBlock* const after = b.block("carried");
  b.CreateStore(b.CreateAdd(count, b.getInt64(1)), tree);
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode* const run = b.CreatePHI(element(), 2);
  llvm::PHINode* const rest = b.CreatePHI(b.getInt64Ty(), 2);
  llvm::PHINode* const number = b.CreatePHI(b.getInt64Ty(), 2);
  b.CreateCondBr(b.CreateTrunc(rest, b.getInt1Ty()), carry, after);
  b.SetInsertPoint(carry);
  llvm::Value* const earlier = b.CreateLoad(element(), level(b, tree, number));
  run->addIncoming(b.function->getArg(1), before);
  run->addIncoming(reducer_.combine(b, earlier, run), carry);
  rest->addIncoming(count, before);
  rest->addIncoming(b.CreateLShr(rest, 1), carry);
  number->addIncoming(b.getInt64(0), before);
  number->addIncoming(b.CreateAdd(number, b.getInt64(1)), carry);
  b.CreateBr(test);
  b.SetInsertPoint(after);
  b.CreateStore(run, level(b, tree, number));
  b.CreateRetVoid();
}

llvm::Value* ReductionFunctions::finish(llvm::Value* tree) {
  return b_.CreateCall(
      function("finish", element(), {b_.getPtrTy()}, &ReductionFunctions::emit_finish), {tree});
}

// From the shortest run, the last, to the longest.
void ReductionFunctions::emit_finish(VectorBuilder& b) {
  b.lanes = rows_;
  llvm::Value* const tree = b.function->getArg(0);
  llvm::Value* const count = load_count(b, tree);
  const auto lowest_bit = [&](llvm::Value* bits) {
    return b.CreateIntrinsic(llvm::Intrinsic::cttz, {b.getInt64Ty()}, {bits, b.getTrue()});
  };
  const auto without_lowest_bit = [&](llvm::Value* bits) {
    return b.CreateAnd(bits, b.CreateSub(bits, b.getInt64(1)));
  };
  llvm::Value* const last = b.CreateLoad(element(), level(b, tree, lowest_bit(count)));
  llvm::Value* const others = without_lowest_bit(count);
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock* const test = b.block("runs_test");
  llvm::BasicBlock* const join = b.block("run");
  llvm::BasicBlock* const after = b.block("runs_done");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode* const result = b.CreatePHI(element(), 2);
  llvm::PHINode* const rest = b.CreatePHI(b.getInt64Ty(), 2);
  b.CreateCondBr(b.CreateICmpNE(rest, b.getInt64(0)), join, after);
  b.SetInsertPoint(join);
  llvm::Value* const earlier = b.CreateLoad(element(), level(b, tree, lowest_bit(rest)));
  result->addIncoming(last, before);
  result->addIncoming(reducer_.combine(b, earlier, result), join);
  rest->addIncoming(others, before);
  rest->addIncoming(without_lowest_bit(rest), join);
  b.CreateBr(test);
  b.SetInsertPoint(after);
  b.CreateRet(result);
}

}  // namespace lanewise::jit
