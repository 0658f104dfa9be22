#include "jit/detail/reduction_functions.h"

#include <llvm/IR/Module.h>

#include <bit>
#include <string>

#include "ir/reduction_order.h"
#include "support/format.h"

namespace lanewise::jit {

int ReductionFunctions::lanes() const { return ir::reduction_lanes(reducer_.dtype()); }

ReductionFunctions::Types ReductionFunctions::part_types() {
  Types types = reducer_.part_types(b_);
  for (llvm::Type*& type : types) type = b_.vector_of(type, rows_);
  return types;
}

llvm::Type* ReductionFunctions::result_type() {
  const Types types = part_types();
  return types.size() == 1 ? types[0] : llvm::StructType::get(b_.getContext(), types);
}

llvm::Function* ReductionFunctions::function(const char* name, llvm::Type* result,
                                             llvm::ArrayRef<llvm::Type*> parameters,
                                             void (ReductionFunctions::*emit)(VectorBuilder&)) {
  llvm::Module& module = *b_.function->getParent();
  // A module of an ahead-of-time library has kernels for several targets.
  const std::string full =
      format("{}.{}.{}x{}.{}", name, reducer_.op(), reducer_.dtype(), rows_, b_.target);
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

Parts ReductionFunctions::call(llvm::Function* function, llvm::ArrayRef<llvm::Value*> arguments) {
  llvm::Value* const result = b_.CreateCall(function, arguments);
  if (reducer_.part_count() == 1) return {result};
  Parts parts;
  for (unsigned i = 0; i < reducer_.part_count(); ++i) {
    parts.push_back(b_.CreateExtractValue(result, i));
  }
  return parts;
}

void ReductionFunctions::emit_return(VectorBuilder& b, const Parts& parts) {
  if (parts.size() == 1) {
    b.CreateRet(parts[0]);
    return;
  }
  llvm::Value* result = llvm::PoisonValue::get(result_type());
  for (unsigned i = 0; i < parts.size(); ++i) result = b.CreateInsertValue(result, parts[i], i);
  b.CreateRet(result);
}

// ---- one row ------------------------------------------------------------------------------

// Elements that went to each lane.
llvm::Value* ReductionFunctions::lane_counts(VectorBuilder& b, llvm::Value* count) {
  llvm::Type* const integers = b.vector_of(b.getInt32Ty());
  llvm::Value* const rounding = b.CreateAdd(b.CreateTrunc(count, b.getInt32Ty()),
                                            b.getInt32(static_cast<uint32_t>(lanes() - 1)));
  llvm::Value* const left = b.CreateSub(b.broadcast(rounding), b.CreateStepVector(integers));
  const int shift = std::countr_zero(static_cast<unsigned>(lanes()));
  return b.CreateSIToFP(b.CreateLShr(left, b.like(left, shift)), b.vector(reducer_.dtype()));
}

Parts ReductionFunctions::block(llvm::Value* elements, llvm::Value* count) {
  return call(function("block", result_type(), {b_.getPtrTy(), b_.getInt64Ty()},
                       &ReductionFunctions::emit_block),
              {elements, count});
}

void ReductionFunctions::emit_block(VectorBuilder& b) {
  llvm::Value* const elements = b.function->getArg(0);
  llvm::Value* const count = b.function->getArg(1);
  b.lanes = lanes();
  const Parts start = reducer_.identity(b);
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock* const loop = b.block("lanes");
  llvm::BasicBlock* const after = b.block("lanes_done");
  b.CreateBr(loop);
  b.SetInsertPoint(loop);
  llvm::PHINode* const index = b.CreatePHI(b.getInt64Ty(), 2);
  Parts held;
  for (llvm::Value* part : start) {
    llvm::PHINode* const phi = b.CreatePHI(part->getType(), 2);
    phi->addIncoming(part, before);
    held.push_back(phi);
  }
  llvm::Type* const element = b.element(reducer_.dtype());
  llvm::Value* const address = b.CreateGEP(element, elements, index);
  llvm::Value* const loaded = b.CreateAlignedLoad(b.vector_of(element), address, llvm::Align());
  llvm::Value* const left = b.broadcast(b.CreateTrunc(b.CreateSub(count, index), b.getInt32Ty()));
  llvm::Value* const mask = b.CreateICmpSLT(b.CreateStepVector(left->getType()), left);
  const Taken taken{loaded, b.CreateICmpEQ(index, b.getInt64(0))};
  const Parts next_held = select(b, mask, reducer_.take(b, held, taken), held);
  llvm::Value* const next = b.CreateAdd(index, b.getInt64(b.lanes));
  index->addIncoming(b.getInt64(0), before);
  index->addIncoming(next, loop);
  for (size_t i = 0; i < held.size(); ++i) {
    llvm::cast<llvm::PHINode>(held[i])->addIncoming(next_held[i], loop);
  }
  b.CreateCondBr(b.CreateICmpULT(next, count), loop, after);
  b.SetInsertPoint(after);
  const Parts closed = reducer_.close(b, next_held, [&] { return lane_counts(b, count); });
  emit_return(b, reducer_.halve(b, closed));
}

Parts ReductionFunctions::halve(const Parts& lanes, llvm::Value* count) {
  llvm::SmallVector<llvm::Type*, 4> parameters{b_.getInt64Ty()};
  llvm::SmallVector<llvm::Value*, 4> arguments{count};
  for (llvm::Value* part : lanes) {
    parameters.push_back(part->getType());
    arguments.push_back(part);
  }
  return call(function("halve", result_type(), parameters, &ReductionFunctions::emit_halve),
              arguments);
}

void ReductionFunctions::emit_halve(VectorBuilder& b) {
  b.lanes = lanes();
  Parts lanes;
  for (llvm::Argument& argument : b.function->args()) lanes.push_back(&argument);
  llvm::Value* const count = lanes[0];
  lanes.erase(lanes.begin());
  const Parts closed = reducer_.close(b, lanes, [&] { return lane_counts(b, count); });
  emit_return(b, reducer_.halve(b, closed));
}

// ---- rows side by side --------------------------------------------------------------------

llvm::Type* ReductionFunctions::table_type() {
  Types fields;
  for (llvm::Type* part : part_types()) {
    fields.push_back(llvm::ArrayType::get(part, static_cast<uint64_t>(lanes())));
  }
  return llvm::StructType::get(b_.getContext(), fields);
}

llvm::Value* ReductionFunctions::part_at(VectorBuilder& b, llvm::Type* type, llvm::Value* memory,
                                         size_t field, llvm::Value* number) {
  return b.CreateGEP(type, memory,
                     {b.getInt64(0), b.getInt32(static_cast<uint32_t>(field)), number});
}

Parts ReductionFunctions::load_lane(VectorBuilder& b, llvm::Value* table, llvm::Value* lane) {
  Parts parts;
  for (llvm::Type* type : part_types()) {
    parts.push_back(b.CreateLoad(type, part_at(b, table_type(), table, parts.size(), lane)));
  }
  return parts;
}

void ReductionFunctions::store_lane(VectorBuilder& b, llvm::Value* table, llvm::Value* lane,
                                    const Parts& parts) {
  for (size_t i = 0; i < parts.size(); ++i) {
    b.CreateStore(parts[i], part_at(b, table_type(), table, i, lane));
  }
}

Parts ReductionFunctions::halve_table(llvm::Value* table, llvm::Value* count) {
  return call(function("halve_table", result_type(), {b_.getPtrTy(), b_.getInt64Ty()},
                       &ReductionFunctions::emit_halve_table),
              {table, count});
}

namespace {

// Calls inside(i) for i = 0 ... count - 1.
template <class Inside>
void emit_count(VectorBuilder& b, llvm::Value* count, const Inside& inside) {
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock* const test = b.block("count_test");
  llvm::BasicBlock* const body = b.block("count");
  llvm::BasicBlock* const after = b.block("counted");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode* const index = b.CreatePHI(b.getInt64Ty(), 2);
  b.CreateCondBr(b.CreateICmpULT(index, count), body, after);
  b.SetInsertPoint(body);
  inside(index);
  index->addIncoming(b.getInt64(0), before);
  index->addIncoming(b.CreateAdd(index, b.getInt64(1)), b.GetInsertBlock());
  b.CreateBr(test);
  b.SetInsertPoint(after);
}

}  // namespace

// A lane without elements holds the identity, so merging with it is left out.
void ReductionFunctions::emit_halve_table(VectorBuilder& b) {
  b.lanes = rows_;
  llvm::Value* const table = b.function->getArg(0);
  llvm::Value* const count = b.function->getArg(1);
  llvm::Value* const lanes = b.getInt64(static_cast<uint64_t>(this->lanes()));
  llvm::Value* const in_use = b.call(llvm::Intrinsic::umin, count, lanes);
  if (reducer_.op() == ir::Op::kDeviations) emit_closing(b, table, in_use);
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
  emit_return(b, load_lane(b, table, b.getInt64(0)));
}

void ReductionFunctions::emit_closing(VectorBuilder& b, llvm::Value* table, llvm::Value* in_use) {
  llvm::Value* const last =
      b.CreateAdd(b.function->getArg(1), b.getInt64(static_cast<uint64_t>(lanes() - 1)));
  const auto shift = static_cast<uint64_t>(std::countr_zero(static_cast<unsigned>(lanes())));
  emit_count(b, in_use, [&](llvm::Value* lane) {
    const auto counts = [&] {
      llvm::Value* const elements = b.CreateLShr(b.CreateSub(last, lane), shift);
      return b.broadcast(b.CreateSIToFP(elements, b.element(reducer_.dtype())));
    };
    store_lane(b, table, lane, reducer_.close(b, load_lane(b, table, lane), counts));
  });
}

// Lanes 0 ... pairs - 1 each take the one `half` further.
void ReductionFunctions::emit_halving(VectorBuilder& b, llvm::Value* table, llvm::Value* pairs,
                                      llvm::Value* half) {
  emit_count(b, pairs, [&](llvm::Value* lane) {
    const Parts later = load_lane(b, table, b.CreateAdd(lane, half));
    store_lane(b, table, lane, reducer_.merge(b, load_lane(b, table, lane), later));
  });
}

// ---- blocks -------------------------------------------------------------------------------

namespace {

// More than any memory holds.
constexpr uint64_t kTreeLevels = 40;

llvm::Value* load_count(VectorBuilder& b, llvm::Value* tree) {
  return b.CreateLoad(b.getInt64Ty(), tree);
}

}  // namespace

llvm::Type* ReductionFunctions::tree_type() {
  Types fields{b_.getInt64Ty()};
  for (llvm::Type* part : part_types()) fields.push_back(llvm::ArrayType::get(part, kTreeLevels));
  return llvm::StructType::get(b_.getContext(), fields);
}

Parts ReductionFunctions::load_level(VectorBuilder& b, llvm::Value* tree, llvm::Value* number) {
  Parts parts;
  for (llvm::Type* type : part_types()) {
    parts.push_back(b.CreateLoad(type, part_at(b, tree_type(), tree, 1 + parts.size(), number)));
  }
  return parts;
}

void ReductionFunctions::push(llvm::Value* tree, const Parts& block) {
  Types parameters = part_types();
  parameters.insert(parameters.begin(), b_.getPtrTy());
  llvm::SmallVector<llvm::Value*, 4> arguments{tree};
  arguments.append(block.begin(), block.end());
  b_.CreateCall(function("push", b_.getVoidTy(), parameters, &ReductionFunctions::emit_push),
                arguments);
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
  Parts run;
  for (llvm::Type* type : part_types()) {
    llvm::PHINode* const phi = b.CreatePHI(type, 2);
    phi->addIncoming(b.function->getArg(static_cast<unsigned>(run.size()) + 1), before);
    run.push_back(phi);
  }
  llvm::PHINode* const rest = b.CreatePHI(b.getInt64Ty(), 2);
  llvm::PHINode* const number = b.CreatePHI(b.getInt64Ty(), 2);
  b.CreateCondBr(b.CreateTrunc(rest, b.getInt1Ty()), carry, after);
  b.SetInsertPoint(carry);
  const Parts joined = reducer_.merge(b, load_level(b, tree, number), run);
  for (size_t i = 0; i < run.size(); ++i) {
    llvm::cast<llvm::PHINode>(run[i])->addIncoming(joined[i], carry);
  }
  rest->addIncoming(count, before);
  rest->addIncoming(b.CreateLShr(rest, 1), carry);
  number->addIncoming(b.getInt64(0), before);
  number->addIncoming(b.CreateAdd(number, b.getInt64(1)), carry);
  b.CreateBr(test);
  b.SetInsertPoint(after);
  for (size_t i = 0; i < run.size(); ++i) {
    b.CreateStore(run[i], part_at(b, tree_type(), tree, 1 + i, number));
  }
  b.CreateRetVoid();
}

Parts ReductionFunctions::finish(llvm::Value* tree) {
  return call(function("finish", result_type(), {b_.getPtrTy()}, &ReductionFunctions::emit_finish),
              {tree});
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
  const Parts last = load_level(b, tree, lowest_bit(count));
  llvm::Value* const others = without_lowest_bit(count);
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock* const test = b.block("runs_test");
  llvm::BasicBlock* const join = b.block("run");
  llvm::BasicBlock* const after = b.block("runs_done");
  b.CreateBr(test);
  b.SetInsertPoint(test);
  Parts result;
  for (llvm::Value* part : last) {
    llvm::PHINode* const phi = b.CreatePHI(part->getType(), 2);
    phi->addIncoming(part, before);
    result.push_back(phi);
  }
  llvm::PHINode* const rest = b.CreatePHI(b.getInt64Ty(), 2);
  b.CreateCondBr(b.CreateICmpNE(rest, b.getInt64(0)), join, after);
  b.SetInsertPoint(join);
  const Parts joined = reducer_.merge(b, load_level(b, tree, lowest_bit(rest)), result);
  for (size_t i = 0; i < result.size(); ++i) {
    llvm::cast<llvm::PHINode>(result[i])->addIncoming(joined[i], join);
  }
  rest->addIncoming(others, before);
  rest->addIncoming(without_lowest_bit(rest), join);
  b.CreateBr(test);
  b.SetInsertPoint(after);
  emit_return(b, result);
}

}  // namespace lanewise::jit
