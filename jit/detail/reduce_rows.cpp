// Rows one after the other. Sums and the like of floats follow the order of ir/reduction_order.h:
// along one line, elements go to the lanes at once; rows of several lines, whose vectors start
// anywhere in a block, are collected block by block.
#include "ir/reduction_order.h"
#include "jit/detail/reduction_kinds.h"

namespace lanewise::jit {

namespace {

class RowReductions final : public Reductions {
 public:
  RowReductions(Frame& frame, const Walk& walk);
  void begin() override;
  void add(const Position& position) override;
  llvm::Value* decided() override;
  void finish() override;
  void store_state(llvm::Value* state) override;

 private:
  struct Unordered {
    uint32_t node;
    Reducer reducer;
    std::vector<llvm::Value*> memory;  // a vector for each part
  };
  struct Ordered {
    uint32_t node;
    Reducer reducer;
    llvm::Value* blocks;               // a tree
    llvm::Value* elements = nullptr;   // collected: of the current block, and some of the next
    std::vector<llvm::Value*> memory;  // else, for each part: the lanes of the current block
  };

  bool collects() const { return frame_.layout.reduced > 1; }
  llvm::Value* block_size() { return b_.getInt64(ir::kReductionBlock); }
  ReductionFunctions functions(const Ordered& r) { return {b_, r.reducer}; }
  void clear_lanes(const Ordered& r);
  std::vector<llvm::Value*> slots(const Ordered& r, llvm::Value* index);
  Parts load(const std::vector<llvm::Value*>& memory, const Reducer& reducer);
  void take(const Reducer& reducer, const std::vector<llvm::Value*>& memory, const Taken& taken);
  Parts block(const Ordered& r, llvm::Value* count);
  void end_block(llvm::Value* count);
  void collect(llvm::Value* count);
  void add_to_lanes(llvm::Value* index, llvm::Value* count);
  void end_collecting();
  Parts sum_of_lanes(const Ordered& r);
  // Calls visit(node, reducer, parts) for each reduction, in order.
  template <class Visit>
  void for_results(const Visit& visit);

  const std::vector<uint32_t>& nodes_;
  std::vector<Ordered> ordered_;
  std::vector<Unordered> unordered_;
  llvm::Value* fill_ = nullptr;   // in memory: how many elements are collected
  llvm::Value* place_ = nullptr;  // in memory: the number of the next element in the row
};

RowReductions::RowReductions(Frame& frame, const Walk& walk)
    : Reductions(frame), nodes_(walk.reductions) {
  const int lanes = frame.plan.lanes;
  for (const uint32_t number : walk.reductions) {
    const Reducer reducer = this->reducer(number);
    if (!reducer.is_ordered()) {
      Unordered& r = unordered_.emplace_back(Unordered{number, reducer, {}});
      for (llvm::Type* type : reducer.part_types(b_)) {
        r.memory.push_back(b_.stack(b_.vector_of(type, lanes)));
      }
      if (reducer.wants_index() && collects() && place_ == nullptr) {
        place_ = b_.stack(b_.getInt64Ty());
      }
      continue;
    }
    Ordered& r = ordered_.emplace_back(
        Ordered{number, reducer, b_.stack(ReductionFunctions(b_, reducer).tree_type()), {}, {}});
    llvm::Type* const element = b_.element(reducer.dtype());
    if (collects()) {
      r.elements =
          b_.stack(llvm::ArrayType::get(element, ir::kReductionBlock + ir::kMaxReductionLanes));
      continue;
    }
    const int vectors = ir::reduction_lanes(reducer.dtype()) / lanes;
    llvm::Type* const vector = b_.vector_of(element, lanes);
    for (size_t i = 0; i < reducer.part_count(); ++i) {
      r.memory.push_back(b_.stack(
          vectors == 1 ? vector : llvm::ArrayType::get(vector, static_cast<uint64_t>(vectors))));
    }
  }
  if (!ordered_.empty() && collects()) fill_ = b_.stack(b_.getInt64Ty());
}

void RowReductions::begin() {
  if (fill_ != nullptr) b_.CreateStore(b_.getInt64(0), fill_);
  if (place_ != nullptr) b_.CreateStore(b_.getInt64(0), place_);
  for (const Ordered& r : ordered_) functions(r).clear(r.blocks);
  b_.lanes = frame_.plan.lanes;
  for (const Ordered& r : ordered_) clear_lanes(r);
  for (const Unordered& r : unordered_) {
    const Parts start = r.reducer.identity(b_);
    for (size_t i = 0; i < start.size(); ++i) b_.CreateStore(start[i], r.memory[i]);
  }
  b_.lanes = 1;
}

void RowReductions::clear_lanes(const Ordered& r) {
  if (collects()) return;
  const Parts start = r.reducer.identity(b_);
  for (int lane = 0; lane < ir::reduction_lanes(r.reducer.dtype()); lane += b_.lanes) {
    const std::vector<llvm::Value*> memory = slots(r, b_.getInt64(static_cast<uint64_t>(lane)));
    for (size_t i = 0; i < start.size(); ++i) b_.CreateStore(start[i], memory[i]);
  }
}

// The lanes of the vector at the `index`-th element of a row.
std::vector<llvm::Value*> RowReductions::slots(const Ordered& r, llvm::Value* index) {
  const int lanes = ir::reduction_lanes(r.reducer.dtype());
  if (lanes == b_.lanes) return r.memory;
  llvm::Type* const element = b_.element(r.reducer.dtype());
  llvm::Value* const lane = b_.CreateAnd(index, b_.getInt64(static_cast<uint64_t>(lanes - 1)));
  std::vector<llvm::Value*> result;
  for (llvm::Value* memory : r.memory) result.push_back(b_.CreateGEP(element, memory, lane));
  return result;
}

Parts RowReductions::load(const std::vector<llvm::Value*>& memory, const Reducer& reducer) {
  Parts parts;
  for (llvm::Type* type : reducer.part_types(b_)) {
    parts.push_back(b_.CreateLoad(b_.vector_of(type), memory[parts.size()]));
  }
  return parts;
}

void RowReductions::take(const Reducer& reducer, const std::vector<llvm::Value*>& memory,
                         const Taken& taken) {
  const Parts before = load(memory, reducer);
  Parts after = reducer.take(b_, before, taken);
  if (b_.active != nullptr) after = select(b_, b_.active, after, before);
  for (size_t i = 0; i < after.size(); ++i) b_.CreateStore(after[i], memory[i]);
}

void RowReductions::add(const Position& position) {
  llvm::Value* const count = position.count != nullptr ? position.count : b_.getInt64(b_.lanes);
  llvm::Value* place = position.index;
  if (place_ != nullptr) {
    place = b_.CreateLoad(b_.getInt64Ty(), place_);
    b_.CreateStore(b_.CreateAdd(place, count), place_);
  }
  for (const Unordered& r : unordered_) {
    Taken taken{operand(r.node)};
    if (r.reducer.wants_index()) {
      llvm::Value* const first = b_.broadcast(place);
      taken.index = b_.CreateAdd(first, b_.CreateStepVector(first->getType()));
    }
    take(r.reducer, r.memory, taken);
  }
  if (ordered_.empty()) return;
  collects() ? collect(count) : add_to_lanes(position.index, count);
}

llvm::Value* RowReductions::decided() {
  if (!ordered_.empty() || unordered_.empty()) return nullptr;
  llvm::Value* all_decided = nullptr;
  for (const Unordered& r : unordered_) {
    const bool any = r.reducer.op() == ir::Op::kAny;
    if (!any && r.reducer.op() != ir::Op::kAll) return nullptr;
    llvm::Value* const lanes = load(r.memory, r.reducer)[0];
    llvm::Value* const decided =
        any ? b_.CreateOrReduce(lanes) : b_.CreateNot(b_.CreateAndReduce(lanes));
    all_decided = all_decided == nullptr ? decided : b_.CreateAnd(all_decided, decided);
  }
  return all_decided;
}

// ---- a row of one line --------------------------------------------------------------------

void RowReductions::add_to_lanes(llvm::Value* index, llvm::Value* count) {
  llvm::Value* const in_block = b_.CreateAnd(index, b_.getInt64(ir::kReductionBlock - 1));
  for (const Ordered& r : ordered_) {
    const auto lanes = static_cast<uint64_t>(ir::reduction_lanes(r.reducer.dtype()));
    const Taken taken{operand(r.node), b_.CreateICmpULT(in_block, b_.getInt64(lanes))};
    take(r.reducer, slots(r, index), taken);
  }
  llvm::BasicBlock* const full = b_.block("block_full");
  llvm::BasicBlock* const after = b_.block("block_open");
  llvm::Value* const end = b_.CreateAdd(in_block, count);
  b_.CreateCondBr(b_.CreateICmpEQ(end, block_size()), full, after, rarely());
  b_.SetInsertPoint(full);
  end_block(block_size());
  for (const Ordered& r : ordered_) clear_lanes(r);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// The result of the current block, which may be shorter than others.
Parts RowReductions::block(const Ordered& r, llvm::Value* count) {
  if (collects()) return functions(r).block(r.elements, count);
  Parts lanes;
  for (llvm::Value* memory : r.memory) {
    llvm::Type* const type =
        b_.vector_of(b_.element(r.reducer.dtype()), ir::reduction_lanes(r.reducer.dtype()));
    lanes.push_back(b_.CreateAlignedLoad(type, memory, llvm::Align(64)));
  }
  return functions(r).halve(lanes, count);
}

void RowReductions::end_block(llvm::Value* count) {
  for (const Ordered& r : ordered_) functions(r).push(r.blocks, block(r, count));
}

// A row of less than a block needs no tree.
Parts RowReductions::sum_of_lanes(const Ordered& r) {
  llvm::BasicBlock* const is_short = b_.block("short_row");
  llvm::BasicBlock* const is_long = b_.block("long_row");
  llvm::BasicBlock* const last = b_.block("last_block");
  llvm::BasicBlock* const tree = b_.block("tree");
  llvm::BasicBlock* const after = b_.block("row_done");
  llvm::Value* const rest = b_.CreateAnd(frame_.line_size, b_.getInt64(ir::kReductionBlock - 1));
  b_.CreateCondBr(b_.CreateICmpULT(frame_.line_size, block_size()), is_short, is_long);
  b_.SetInsertPoint(is_short);
  const Parts one_block = block(r, frame_.line_size);
  b_.CreateBr(after);
  b_.SetInsertPoint(is_long);
  b_.CreateCondBr(b_.CreateICmpNE(rest, b_.getInt64(0)), last, tree);
  b_.SetInsertPoint(last);
  functions(r).push(r.blocks, block(r, rest));
  b_.CreateBr(tree);
  b_.SetInsertPoint(tree);
  const Parts many_blocks = functions(r).finish(r.blocks);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
  Parts result;
  for (size_t i = 0; i < one_block.size(); ++i) {
    llvm::PHINode* const phi = b_.CreatePHI(one_block[i]->getType(), 2);
    phi->addIncoming(one_block[i], is_short);
    phi->addIncoming(many_blocks[i], tree);
    result.push_back(phi);
  }
  return result;
}

// ---- a row of several lines ---------------------------------------------------------------

// All lanes are stored; those that hold nothing are overwritten by what comes next.
void RowReductions::collect(llvm::Value* count) {
  llvm::Value* const fill = b_.CreateLoad(b_.getInt64Ty(), fill_);
  for (const Ordered& r : ordered_) {
    llvm::Value* const end = b_.CreateGEP(b_.element(r.reducer.dtype()), r.elements, fill);
    b_.CreateAlignedStore(operand(r.node), end, llvm::Align());
  }
  llvm::Value* const filled = b_.CreateAdd(fill, count);
  b_.CreateStore(filled, fill_);
  llvm::BasicBlock* const full = b_.block("block_full");
  llvm::BasicBlock* const after = b_.block("block_open");
  b_.CreateCondBr(b_.CreateICmpUGE(filled, block_size()), full, after, rarely());
  b_.SetInsertPoint(full);
  end_block(block_size());
  for (const Ordered& r : ordered_) {
    llvm::Type* const vector = b_.vector(r.reducer.dtype());
    llvm::Value* const excess =
        b_.CreateGEP(b_.element(r.reducer.dtype()), r.elements, block_size());
    b_.CreateAlignedStore(b_.CreateAlignedLoad(vector, excess, llvm::Align()), r.elements,
                          llvm::Align());
  }
  b_.CreateStore(b_.CreateSub(filled, block_size()), fill_);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

void RowReductions::end_collecting() {
  llvm::BasicBlock* const last = b_.block("last_block");
  llvm::BasicBlock* const after = b_.block("blocks_done");
  llvm::Value* const fill = b_.CreateLoad(b_.getInt64Ty(), fill_);
  b_.CreateCondBr(b_.CreateICmpNE(fill, b_.getInt64(0)), last, after);
  b_.SetInsertPoint(last);
  end_block(fill);
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// -------------------------------------------------------------------------------------------

template <class Visit>
void RowReductions::for_results(const Visit& visit) {
  if (!ordered_.empty() && collects()) end_collecting();
  for (const uint32_t node : nodes_) {
    for (const Ordered& r : ordered_) {
      if (r.node != node) continue;
      visit(node, r.reducer, collects() ? functions(r).finish(r.blocks) : sum_of_lanes(r));
    }
    for (const Unordered& r : unordered_) {
      if (r.node != node) continue;
      b_.lanes = frame_.plan.lanes;
      const Parts lanes = load(r.memory, r.reducer);
      b_.lanes = 1;
      visit(node, r.reducer, r.reducer.halve(b_, lanes));
    }
  }
}

void RowReductions::finish() {
  for_results([&](uint32_t node, const Reducer& reducer, const Parts& parts) {
    frame_.body.set({node}, reducer.result(parts));
  });
}

void RowReductions::store_state(llvm::Value* state) {
  for_results([&](uint32_t, const Reducer& reducer, Parts parts) {
    if (reducer.wants_index()) parts[1] = b_.CreateAdd(parts[1], frame_.first);
    store_parts(b_, parts, state);
  });
}

}  // namespace

std::unique_ptr<Reductions> reduce_rows(Frame& frame, const Walk& walk) {
  return std::make_unique<RowReductions>(frame, walk);
}

}  // namespace lanewise::jit
