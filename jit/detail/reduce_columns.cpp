// Neighbouring rows side by side, one a lane. In a block, element i of each row goes to lane i mod
// L of the order of ir/reduction_order.h: a vector of all rows in a table in memory.
#include "ir/reduction_order.h"
#include "jit/detail/reduction_kinds.h"

namespace lanewise::jit {

namespace {

class ColumnReductions final : public Reductions {
 public:
  ColumnReductions(Frame& frame, const Walk& walk);
  void begin() override;
  void add(const Position& position) override;
  void finish() override;

 private:
  struct Ordered {
    uint32_t node;
    Reducer reducer;
    llvm::Value* lanes;     // of the current block
    llvm::Value* identity;  // a vector in memory
    llvm::Value* blocks;    // a tree
  };
  struct Unordered {
    uint32_t node;
    Reducer reducer;
    llvm::Value* partial;  // a vector in memory
  };

  ReductionFunctions functions(const Ordered& r) { return {b_, r.reducer, b_.lanes}; }
  void add_ordered(const Ordered& r, llvm::Value* count);
  void end_block(llvm::Value* count);

  std::vector<Ordered> ordered_;
  std::vector<Unordered> unordered_;
  llvm::Value* count_ = nullptr;  // in memory: elements of the block so far
};

ColumnReductions::ColumnReductions(Frame& frame, const Walk& walk) : Reductions(frame) {
  for (const uint32_t number : walk.reductions) {
    const Reducer reducer = this->reducer(number);
    llvm::Type* const vector = b_.vector(reducer.dtype());
    if (!reducer.is_ordered()) {
      unordered_.push_back({number, reducer, b_.stack(vector)});
      continue;
    }
    const auto lanes = static_cast<uint64_t>(ir::reduction_lanes(reducer.dtype()));
    ordered_.push_back({number, reducer, b_.stack(llvm::ArrayType::get(vector, lanes)),
                        b_.stack(vector),
                        b_.stack(ReductionFunctions(b_, reducer, b_.lanes).tree_type())});
  }
  if (!ordered_.empty()) count_ = b_.stack(b_.getInt64Ty());
}

void ColumnReductions::begin() {
  if (count_ != nullptr) b_.CreateStore(b_.getInt64(0), count_);
  for (const Ordered& r : ordered_) {
    b_.CreateStore(b_.getInt64(0), r.blocks);
    b_.CreateStore(r.reducer.identity(b_), r.identity);
  }
  for (const Unordered& r : unordered_) b_.CreateStore(r.reducer.identity(b_), r.partial);
}

void ColumnReductions::add(const Position&) {
  for (const Unordered& r : unordered_) {
    llvm::Value* const before = b_.CreateLoad(b_.vector(r.reducer.dtype()), r.partial);
    b_.CreateStore(r.reducer.combine(b_, before, operand(r.node)), r.partial);
  }
  if (ordered_.empty()) return;
  llvm::Value* const count = b_.CreateLoad(b_.getInt64Ty(), count_);
  for (const Ordered& r : ordered_) add_ordered(r, count);
  llvm::Value* const next = b_.CreateAdd(count, b_.getInt64(1));
  b_.CreateStore(next, count_);
  llvm::BasicBlock* const full = b_.block("block_full");
  llvm::BasicBlock* const after = b_.block("block_open");
  b_.CreateCondBr(b_.CreateICmpEQ(next, b_.getInt64(ir::kReductionBlock)), full, after);
  b_.SetInsertPoint(full);
  end_block(next);
  b_.CreateStore(b_.getInt64(0), count_);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// The first element of a lane is combined with the identity, so that lanes need no preparation.
void ColumnReductions::add_ordered(const Ordered& r, llvm::Value* count) {
  llvm::Type* const vector = b_.vector(r.reducer.dtype());
  llvm::Value* const lanes = b_.getInt64(ir::reduction_lanes(r.reducer.dtype()));
  llvm::Value* const lane =
      b_.CreateGEP(vector, r.lanes, b_.CreateAnd(count, b_.CreateSub(lanes, b_.getInt64(1))));
  llvm::Value* const is_first = b_.CreateICmpULT(count, lanes);
  llvm::Value* const before = b_.CreateLoad(vector, b_.CreateSelect(is_first, r.identity, lane));
  b_.CreateStore(r.reducer.combine(b_, before, operand(r.node)), lane);
}

void ColumnReductions::end_block(llvm::Value* count) {
  for (const Ordered& r : ordered_) {
    ReductionFunctions functions = this->functions(r);
    functions.push(r.blocks, functions.halve_table(r.lanes, count));
  }
}

void ColumnReductions::finish() {
  if (!ordered_.empty()) {
    llvm::BasicBlock* const last = b_.block("last_block");
    llvm::BasicBlock* const after = b_.block("blocks_done");
    llvm::Value* const count = b_.CreateLoad(b_.getInt64Ty(), count_);
    b_.CreateCondBr(b_.CreateICmpNE(count, b_.getInt64(0)), last, after);
    b_.SetInsertPoint(last);
    end_block(count);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }
  for (const Ordered& r : ordered_) frame_.body.set({r.node}, functions(r).finish(r.blocks));
  for (const Unordered& r : unordered_) {
    frame_.body.set({r.node}, b_.CreateLoad(b_.vector(r.reducer.dtype()), r.partial));
  }
}

}  // namespace

std::unique_ptr<Reductions> reduce_columns(Frame& frame, const Walk& walk) {
  return std::make_unique<ColumnReductions>(frame, walk);
}

}  // namespace lanewise::jit
