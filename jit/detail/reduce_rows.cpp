// Rows one after the other. Sums and products of floats follow the order of ir/reduction_order.h:
// their elements are collected block by block.
#include "ir/reduction_order.h"
#include "jit/detail/reduction_kinds.h"

namespace lanewise::jit {

namespace {

class RowReductions final : public Reductions {
 public:
  RowReductions(Frame& frame, const Walk& walk);
  void begin() override;
  void add(const Position& position) override;
  void finish() override;

 private:
  struct Ordered {
    uint32_t node;
    Reducer reducer;
    llvm::Value* elements;  // of the current block, and some of the next
    llvm::Value* blocks;    // a tree
  };
  struct Unordered {
    uint32_t node;
    Reducer reducer;
    llvm::Value* partial;  // a vector in memory
  };

  void end_block(llvm::Value* count);

  std::vector<Ordered> ordered_;
  std::vector<Unordered> unordered_;
  llvm::Value* fill_ = nullptr;  // in memory: how many elements are collected
};

RowReductions::RowReductions(Frame& frame, const Walk& walk) : Reductions(frame) {
  for (const uint32_t number : walk.reductions) {
    const Reducer reducer = this->reducer(number);
    if (reducer.is_ordered()) {
      llvm::Type* const buffer = llvm::ArrayType::get(b_.element(reducer.dtype()),
                                                      ir::kReductionBlock + ir::kMaxReductionLanes);
      ordered_.push_back({number, reducer, b_.stack(buffer),
                          b_.stack(ReductionFunctions(b_, reducer).tree_type())});
    } else {
      llvm::Type* const vector = b_.vector_of(b_.element(reducer.dtype()), frame.plan.lanes);
      unordered_.push_back({number, reducer, b_.stack(vector)});
    }
  }
  if (!ordered_.empty()) fill_ = b_.stack(b_.getInt64Ty());
}

void RowReductions::begin() {
  if (fill_ != nullptr) b_.CreateStore(b_.getInt64(0), fill_);
  for (const Ordered& r : ordered_) b_.CreateStore(b_.getInt64(0), r.blocks);
  b_.lanes = frame_.plan.lanes;
  for (const Unordered& r : unordered_) b_.CreateStore(r.reducer.identity(b_), r.partial);
  b_.lanes = 1;
}

void RowReductions::add(const Position& position) {
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

void RowReductions::end_block(llvm::Value* count) {
  for (const Ordered& r : ordered_) {
    ReductionFunctions functions(b_, r.reducer);
    functions.push(r.blocks, functions.block(r.elements, count));
  }
}

void RowReductions::finish() {
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

}  // namespace

std::unique_ptr<Reductions> reduce_rows(Frame& frame, const Walk& walk) {
  return std::make_unique<RowReductions>(frame, walk);
}

}  // namespace lanewise::jit
