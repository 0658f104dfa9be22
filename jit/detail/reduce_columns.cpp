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
    llvm::Value* lanes;   // a table: of the current block
    llvm::Value* blocks;  // a tree
  };
  struct Unordered {
    uint32_t node;
    Reducer reducer;
    std::vector<llvm::Value*> memory;  // a vector for each part
  };

  ReductionFunctions functions(const Ordered& r) { return {b_, r.reducer, b_.lanes}; }
  Parts load(const Unordered& r);
  void store(const Unordered& r, const Parts& parts);
  void take(const Unordered& r, llvm::Value* place);
  void take(const Ordered& r, llvm::Value* in_block);
  void end_block(llvm::Value* count);

  std::vector<Ordered> ordered_;
  std::vector<Unordered> unordered_;
  llvm::Value* place_;  // in memory: the number of the next element
};

ColumnReductions::ColumnReductions(Frame& frame, const Walk& walk)
    : Reductions(frame), place_(b_.stack(b_.getInt64Ty())) {
  for (const uint32_t number : walk.reductions) {
    const Reducer reducer = this->reducer(number);
    if (!reducer.is_ordered()) {
      Unordered& r = unordered_.emplace_back(Unordered{number, reducer, {}});
      for (llvm::Type* type : reducer.part_types(b_)) {
        r.memory.push_back(b_.stack(b_.vector_of(type)));
      }
      continue;
    }
    ReductionFunctions functions(b_, reducer, b_.lanes);
    ordered_.push_back(
        {number, reducer, b_.stack(functions.table_type()), b_.stack(functions.tree_type())});
  }
}

Parts ColumnReductions::load(const Unordered& r) {
  Parts parts;
  for (llvm::Type* type : r.reducer.part_types(b_)) {
    parts.push_back(b_.CreateLoad(b_.vector_of(type), r.memory[parts.size()]));
  }
  return parts;
}

void ColumnReductions::store(const Unordered& r, const Parts& parts) {
  for (size_t i = 0; i < parts.size(); ++i) b_.CreateStore(parts[i], r.memory[i]);
}

void ColumnReductions::begin() {
  b_.CreateStore(b_.getInt64(0), place_);
  for (const Ordered& r : ordered_) functions(r).clear(r.blocks);
  for (const Unordered& r : unordered_) store(r, r.reducer.identity(b_));
}

void ColumnReductions::take(const Unordered& r, llvm::Value* place) {
  Taken taken{operand(r.node)};
  if (r.reducer.wants_index()) taken.index = b_.broadcast(place);
  store(r, r.reducer.take(b_, load(r), taken));
}

// Lanes need no preparation: what they hold before their first element is not used.
void ColumnReductions::take(const Ordered& r, llvm::Value* in_block) {
  llvm::Value* const lanes =
      b_.getInt64(static_cast<uint64_t>(ir::reduction_lanes(r.reducer.dtype())));
  llvm::Value* const lane = b_.CreateAnd(in_block, b_.CreateSub(lanes, b_.getInt64(1)));
  llvm::Value* const is_first = b_.CreateICmpULT(in_block, lanes);
  const Parts held =
      select(b_, is_first, r.reducer.identity(b_), functions(r).load_lane(r.lanes, lane));
  functions(r).store_lane(r.lanes, lane, r.reducer.take(b_, held, {operand(r.node), is_first}));
}

void ColumnReductions::add(const Position&) {
  llvm::Value* const place = b_.CreateLoad(b_.getInt64Ty(), place_);
  llvm::Value* const next = b_.CreateAdd(place, b_.getInt64(1));
  b_.CreateStore(next, place_);
  for (const Unordered& r : unordered_) take(r, place);
  if (ordered_.empty()) return;
  llvm::Value* const last = b_.getInt64(ir::kReductionBlock - 1);
  llvm::Value* const in_block = b_.CreateAnd(place, last);
  for (const Ordered& r : ordered_) take(r, in_block);
  llvm::BasicBlock* const full = b_.block("block_full");
  llvm::BasicBlock* const after = b_.block("block_open");
  b_.CreateCondBr(b_.CreateICmpEQ(in_block, last), full, after, rarely());
  b_.SetInsertPoint(full);
  end_block(b_.getInt64(ir::kReductionBlock));
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void ColumnReductions::end_block(llvm::Value* count) {
  for (const Ordered& r : ordered_) {
    functions(r).push(r.blocks, functions(r).halve_table(r.lanes, count));
  }
}

void ColumnReductions::finish() {
  if (!ordered_.empty()) {
    llvm::BasicBlock* const last = b_.block("last_block");
    llvm::BasicBlock* const after = b_.block("blocks_done");
    llvm::Value* const rest =
        b_.CreateAnd(b_.CreateLoad(b_.getInt64Ty(), place_), b_.getInt64(ir::kReductionBlock - 1));
    b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt64(0)), last, after);
    b_.SetInsertPoint(last);
    end_block(rest);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }
  for (const Ordered& r : ordered_) {
    frame_.body.set({r.node}, r.reducer.result(functions(r).finish(r.blocks)));
  }
  for (const Unordered& r : unordered_) {
    frame_.body.set({r.node}, r.reducer.result(load(r)));
  }
}

}  // namespace

std::unique_ptr<Reductions> reduce_columns(Frame& frame, const Walk& walk) {
  return std::make_unique<ColumnReductions>(frame, walk);
}

}  // namespace lanewise::jit
