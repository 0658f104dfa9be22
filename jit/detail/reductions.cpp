#include "jit/detail/reductions.h"

#include "ir/reduction_order.h"

namespace lanewise::jit {

Reductions::Reductions(Frame& frame, const Walk& walk) : frame_(frame), b_(frame.b) {
  for (const uint32_t number : walk.reductions) {
    const ir::Node& node = frame.kernel.body[ir::Value{number}];
    const Reducer reducer(node.op, node.dtype);
    if (reducer.is_ordered()) {
      llvm::Type* const buffer = llvm::ArrayType::get(b_.element(node.dtype),
                                                      ir::kReductionBlock + ir::kMaxReductionLanes);
      ordered_.push_back({number, reducer, b_.stack(buffer),
                          b_.stack(ReductionFunctions::tree_type(b_, node.dtype))});
    } else {
      llvm::Type* const vector = b_.vector_of(b_.element(node.dtype), frame.plan.lanes);
      unordered_.push_back({number, reducer, b_.stack(vector)});
    }
  }
  if (!ordered_.empty()) fill_ = b_.stack(b_.getInt64Ty());
}

void Reductions::begin() {
  if (fill_ != nullptr) b_.CreateStore(b_.getInt64(0), fill_);
  for (const Ordered& r : ordered_) b_.CreateStore(b_.getInt64(0), r.blocks);
  b_.lanes = frame_.plan.lanes;
  for (const Unordered& r : unordered_) b_.CreateStore(r.reducer.identity(b_), r.partial);
  b_.lanes = 1;
}

llvm::Value* Reductions::operand(uint32_t node) {
  return frame_.body.value(frame_.kernel.body[ir::Value{node}].operands[0]);
}

void Reductions::add(const Position& position) {
  for (const Unordered& r : unordered_) {
    llvm::Value* const before = b_.CreateLoad(b_.vector(r.reducer.dtype()), r.partial);
    llvm::Value* after = r.reducer.combine(b_, before, operand(r.node));
    if (b_.active != nullptr) after = b_.select(b_.active, after, before);
    b_.CreateStore(after, r.partial);
  }
  if (ordered_.empty()) return;
  // All lanes are stored; those that hold nothing are overwritten by what comes next.
  llvm::Value* const fill = b_.CreateLoad(b_.getInt64Ty(), fill_);
  for (const Ordered& r : ordered_) {
    llvm::Value* const end = b_.CreateGEP(b_.element(r.reducer.dtype()), r.elements, fill);
    b_.CreateAlignedStore(operand(r.node), end, llvm::Align());
  }
  llvm::Value* const count = position.count != nullptr ? position.count : b_.getInt64(b_.lanes);
  llvm::Value* const filled = b_.CreateAdd(fill, count);
  b_.CreateStore(filled, fill_);
  llvm::BasicBlock* const full = b_.block("block_full");
  llvm::BasicBlock* const after = b_.block("block_open");
  llvm::Value* const block = b_.getInt64(ir::kReductionBlock);
  b_.CreateCondBr(b_.CreateICmpUGE(filled, block), full, after);
  b_.SetInsertPoint(full);
  end_block(block);
  for (const Ordered& r : ordered_) {
    llvm::Type* const vector = b_.vector(r.reducer.dtype());
    llvm::Value* const excess = b_.CreateGEP(b_.element(r.reducer.dtype()), r.elements, block);
    b_.CreateStore(b_.CreateAlignedLoad(vector, excess, llvm::Align()), r.elements);
  }
  b_.CreateStore(b_.CreateSub(filled, block), fill_);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void Reductions::end_block(llvm::Value* count) {
  for (const Ordered& r : ordered_) {
    ReductionFunctions functions(b_, r.reducer);
    functions.push(r.blocks, functions.block(r.elements, count));
  }
}

void Reductions::finish() {
  if (!ordered_.empty()) {
    llvm::BasicBlock* const last = b_.block("last_block");
    llvm::BasicBlock* const after = b_.block("blocks_done");
    llvm::Value* const fill = b_.CreateLoad(b_.getInt64Ty(), fill_);
    b_.CreateCondBr(b_.CreateICmpNE(fill, b_.getInt64(0)), last, after);
    b_.SetInsertPoint(last);
    end_block(fill);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }
  for (const Ordered& r : ordered_) {
    frame_.body.set({r.node}, ReductionFunctions(b_, r.reducer).finish(r.blocks));
  }
  for (const Unordered& r : unordered_) {
    llvm::Type* const vector = b_.vector_of(b_.element(r.reducer.dtype()), frame_.plan.lanes);
    frame_.body.set({r.node}, r.reducer.halve(b_, b_.CreateLoad(vector, r.partial)));
  }
}

}  // namespace lanewise::jit
