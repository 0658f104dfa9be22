// Neighbouring rows side by side, where one walk reduces them. Walking a block row by row in memory
// means to go through its lanes: all elements of lane j of all columns of a tile, then those of
// lane j + 1. So memory is read in as many streams as lanes have elements, each in order, while a
// lane's partial result stays in registers.
#include "jit/detail/column_tiles.h"

#include <algorithm>

#include "ir/reduction_order.h"
#include "jit/detail/line.h"
#include "jit/detail/reductions.h"

namespace lanewise::jit {

namespace {

// Of streams through a block without floating-point sums, whose lanes mean nothing.
constexpr int kAnyLanes = 64;
constexpr int64_t kMostVectors = 16;          // of a tile
constexpr int64_t kMostTableBytes = 1 << 19;  // on the stack

struct Reduction {
  uint32_t node;
  Reducer reducer;
};

std::vector<Reduction> reductions_of(const ir::Kernel& kernel, const Walk& walk) {
  std::vector<Reduction> reductions;
  for (const uint32_t node : walk.reductions) {
    reductions.push_back({node, reducer_of(kernel, node)});
  }
  return reductions;
}

class ColumnTiles {
 public:
  explicit ColumnTiles(Frame& frame) : frame_(frame), b_(frame.b), walk_(frame.plan.walks[0]) {
    for (const Reduction& r : reductions_of(frame.kernel, walk_)) {
      if (r.reducer.is_ordered()) lanes_ = ir::reduction_lanes(r.reducer.dtype());
      held_.push_back(Held{.node = r.node, .reducer = r.reducer, .current = {}});
    }
    make_memory();
  }

  void emit();

 private:
  struct Held {
    uint32_t node;
    Reducer reducer;
    llvm::Type* type = nullptr;       // of what a vector of columns has in `memory`
    llvm::Value* memory = nullptr;    // of all vectors: tables, or partial results
    llvm::Type* tree_type = nullptr;  // of ordered reductions
    llvm::Value* trees = nullptr;
    std::vector<llvm::Value*> current;  // the parts of the lane at hand
  };
  // Every operand's step along some loop.
  using Steps = std::vector<llvm::Value*>;

  void make_memory();
  ReductionFunctions functions(const Held& h) { return {b_, h.reducer, frame_.plan.lanes}; }
  llvm::Value* integer(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }
  llvm::Value* round_up(llvm::Value* count, int64_t unit);
  Steps steps(int loop, int64_t times);
  void emit_counted(llvm::Value* count, const Steps& steps,
                    const std::function<void(llvm::Value*)>& inside);
  void emit_tile(llvm::Value* tile);
  void emit_block(llvm::Value* number);
  void emit_lane(llvm::Value* lane, llvm::Value* elements);
  void emit_vector(const Position& position, llvm::Value* lane, llvm::Value* trips);
  void emit_element(const Position& position, llvm::Value* number);
  void emit_results(const Position& position);
  void emit_columns(const Section& section, const Position& position);
  llvm::Value* of_vector(llvm::Type* type, llvm::Value* memory, llvm::Value* vector) {
    return b_.CreateGEP(type, memory, vector);
  }
  Parts load(const Held& h, llvm::Value* memory);
  void store(const Parts& parts, const Held& h, llvm::Value* memory);
  void enter_vectors(const Position& position);
  void leave_vectors();

  Frame& frame_;
  VectorBuilder& b_;
  const Walk& walk_;
  std::vector<Held> held_;
  int64_t lanes_ = kAnyLanes;
  int64_t vectors_ = kMostVectors;
  llvm::Value* row_size_ = nullptr;
};

// Tables of neighbouring vectors are a vector more apart than their size, which is a power of two:
// stores to one lane of all of them would compete for few lines of the cache.
void ColumnTiles::make_memory() {
  const llvm::DataLayout& layout = b_.function->getParent()->getDataLayout();
  uint64_t bytes = 0;
  b_.lanes = frame_.plan.lanes;
  for (Held& h : held_) {
    llvm::SmallVector<llvm::Type*, 3> parts = h.reducer.part_types(b_);
    for (llvm::Type*& part : parts) part = b_.vector_of(part);
    for (llvm::Type* part : parts) h.current.push_back(b_.stack(part));
    h.type = llvm::StructType::get(b_.getContext(), parts);
    if (h.reducer.is_ordered()) {
      h.tree_type = functions(h).tree_type();
      h.type = llvm::StructType::get(b_.getContext(), {functions(h).table_type(), parts[0]});
      bytes += layout.getTypeAllocSize(h.tree_type);
    }
    bytes += layout.getTypeAllocSize(h.type);
  }
  b_.lanes = 1;
  vectors_ = std::clamp<int64_t>(kMostTableBytes / static_cast<int64_t>(bytes), 1, kMostVectors);
  for (Held& h : held_) {
    const auto of_tile = [&](llvm::Type* type) {
      return b_.stack(llvm::ArrayType::get(type, static_cast<uint64_t>(vectors_)));
    };
    h.memory = of_tile(h.type);
    if (h.tree_type != nullptr) h.trees = of_tile(h.tree_type);
  }
}

llvm::Value* ColumnTiles::round_up(llvm::Value* count, int64_t unit) {
  return b_.CreateUDiv(b_.CreateAdd(count, integer(unit - 1)), integer(unit));
}

ColumnTiles::Steps ColumnTiles::steps(int loop, int64_t times) {
  Steps result;
  for (size_t i = 0; i < frame_.places.size(); ++i) {
    result.push_back(b_.CreateMul(frame_.stride(i, loop), integer(times)));
  }
  return result;
}

// For i = 0 ... count - 1, with places that move along; `count` may be 0.
void ColumnTiles::emit_counted(llvm::Value* count, const Steps& steps,
                               const std::function<void(llvm::Value*)>& inside) {
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  llvm::BasicBlock* const head = b_.block("count");
  llvm::BasicBlock* const after = b_.block("counted");
  b_.CreateCondBr(b_.CreateICmpNE(count, integer(0)), head, after);
  b_.SetInsertPoint(head);
  const std::vector<llvm::Value*> start = frame_.places;
  llvm::PHINode* const index = b_.CreatePHI(b_.getInt64Ty(), 2);
  std::vector<llvm::PHINode*> moving;
  for (llvm::Value*& place : frame_.places) {
    moving.push_back(b_.CreatePHI(place->getType(), 2));
    moving.back()->addIncoming(place, before);
    place = moving.back();
  }
  inside(index);
  llvm::BasicBlock* const end = b_.GetInsertBlock();
  llvm::Value* const next = b_.CreateAdd(index, integer(1));
  index->addIncoming(integer(0), before);
  index->addIncoming(next, end);
  for (size_t i = 0; i < moving.size(); ++i) {
    moving[i]->addIncoming(frame_.operands.advance(i, moving[i], steps[i]), end);
  }
  b_.CreateCondBr(b_.CreateICmpNE(next, count), head, after);
  b_.SetInsertPoint(after);
  frame_.places = start;
}

void ColumnTiles::emit() {
  const int columns = runtime::vector_loop(frame_.layout);
  llvm::Value* const all_columns = frame_.line_size;
  const int64_t tile = vectors_ * frame_.plan.lanes;
  row_size_ = frame_.size(columns + 1);
  emit_counted(round_up(all_columns, tile), steps(columns, tile), [&](llvm::Value* number) {
    llvm::Value* const left = b_.CreateSub(all_columns, b_.CreateMul(number, integer(tile)));
    frame_.line_size = b_.call(llvm::Intrinsic::umin, left, integer(tile));
    emit_tile(number);
  });
  frame_.line_size = all_columns;
}

void ColumnTiles::emit_tile(llvm::Value*) {
  const Steps none(frame_.places.size(), integer(0));
  llvm::Value* const vectors = round_up(frame_.line_size, frame_.plan.lanes);
  emit_counted(vectors, none, [&](llvm::Value* vector) {
    b_.lanes = frame_.plan.lanes;
    for (const Held& h : held_) {
      if (h.trees != nullptr) {
        functions(h).clear(of_vector(h.tree_type, h.trees, vector));
      } else {
        store(h.reducer.identity(b_), h, of_vector(h.type, h.memory, vector));
      }
    }
    b_.lanes = 1;
  });
  const int row = runtime::vector_loop(frame_.layout) + 1;
  emit_counted(round_up(row_size_, ir::kReductionBlock), steps(row, ir::kReductionBlock),
               [&](llvm::Value* number) { emit_block(number); });
  emit_line(frame_, [&](const Position& position, bool) { emit_results(position); });
}

void ColumnTiles::emit_block(llvm::Value* number) {
  llvm::Value* const start = b_.CreateMul(number, integer(ir::kReductionBlock));
  llvm::Value* const elements =
      b_.call(llvm::Intrinsic::umin, b_.CreateSub(row_size_, start), integer(ir::kReductionBlock));
  const int row = runtime::vector_loop(frame_.layout) + 1;
  emit_counted(b_.call(llvm::Intrinsic::umin, elements, integer(lanes_)), steps(row, 1),
               [&](llvm::Value* lane) { emit_lane(lane, elements); });
  const Steps none(frame_.places.size(), integer(0));
  emit_counted(round_up(frame_.line_size, frame_.plan.lanes), none, [&](llvm::Value* vector) {
    for (const Held& h : held_) {
      if (h.trees == nullptr) continue;
      llvm::Value* const table = of_vector(h.type, h.memory, vector);
      functions(h).push(of_vector(h.tree_type, h.trees, vector),
                        functions(h).halve_table(table, elements));
    }
  });
}

void ColumnTiles::emit_lane(llvm::Value* lane, llvm::Value* elements) {
  llvm::Value* const trips = round_up(b_.CreateSub(elements, lane), lanes_);
  emit_line(frame_, [&](const Position& position, bool) { emit_vector(position, lane, trips); });
}

void ColumnTiles::enter_vectors(const Position& position) {
  b_.lanes = frame_.plan.lanes;
  if (position.count != nullptr) b_.active = frame_.operands.lanes_below(position.count);
}

void ColumnTiles::leave_vectors() {
  b_.active = nullptr;
  b_.lanes = 1;
}

// The elements of one lane of the order, of a vector of columns.
void ColumnTiles::emit_vector(const Position& position, llvm::Value* lane, llvm::Value* trips) {
  llvm::Value* const vector = b_.CreateUDiv(position.index, integer(frame_.plan.lanes));
  enter_vectors(position);
  emit_columns(frame_.plan.columns[0], position);
  for (const Held& h : held_) {
    const Parts start =
        h.trees != nullptr ? h.reducer.identity(b_) : load(h, of_vector(h.type, h.memory, vector));
    for (size_t i = 0; i < start.size(); ++i) b_.CreateStore(start[i], h.current[i]);
  }
  const int row = runtime::vector_loop(frame_.layout) + 1;
  emit_counted(trips, steps(row, lanes_),
               [&](llvm::Value* number) { emit_element(position, number); });
  for (const Held& h : held_) {
    Parts parts;
    for (llvm::Value* current : h.current) {
      parts.push_back(
          b_.CreateLoad(llvm::cast<llvm::AllocaInst>(current)->getAllocatedType(), current));
    }
    llvm::Value* const memory = of_vector(h.type, h.memory, vector);
    if (h.trees != nullptr) {
      functions(h).store_lane(memory, lane, parts);
    } else {
      store(parts, h, memory);
    }
  }
  leave_vectors();
}

void ColumnTiles::emit_element(const Position& position, llvm::Value* number) {
  frame_.enter_line();
  b_.lanes = 1;
  frame_.emit(walk_.line, [&](const ir::Node& node) { return frame_.load_invariant(node); });
  b_.lanes = frame_.plan.lanes;
  frame_.operands.enter_position();
  frame_.body.emit(walk_.point, [&](const ir::Node& node) {
    return frame_.operands.load(Frame::slot(node), node.dtype, position);
  });
  llvm::Value* const is_first = b_.CreateICmpEQ(number, integer(0));
  for (const Held& h : held_) {
    Parts before;
    for (llvm::Value* current : h.current) {
      before.push_back(
          b_.CreateLoad(llvm::cast<llvm::AllocaInst>(current)->getAllocatedType(), current));
    }
    llvm::Value* const element =
        frame_.body.value(frame_.kernel.body[ir::Value{h.node}].operands[0]);
    const Parts after = h.reducer.take(b_, before, {element, is_first});
    for (size_t i = 0; i < after.size(); ++i) b_.CreateStore(after[i], h.current[i]);
  }
}

void ColumnTiles::emit_columns(const Section& section, const Position& position) {
  frame_.enter_line();
  frame_.operands.enter_position();
  frame_.body.emit(section, [&](const ir::Node& node) {
    return frame_.operands.load(Frame::slot(node), node.dtype, position);
  });
}

void ColumnTiles::emit_results(const Position& position) {
  llvm::Value* const vector = b_.CreateUDiv(position.index, integer(frame_.plan.lanes));
  enter_vectors(position);
  emit_columns(frame_.plan.columns[0], position);
  for (const Held& h : held_) {
    const Parts parts = h.trees != nullptr
                            ? functions(h).finish(of_vector(h.tree_type, h.trees, vector))
                            : load(h, of_vector(h.type, h.memory, vector));
    frame_.body.set({h.node}, h.reducer.result(parts));
  }
  emit_columns(frame_.plan.columns.back(), position);
  for (const ir::Store* store : frame_.plan.row_stores) {
    frame_.operands.store(static_cast<size_t>(store->operand), frame_.body.value(store->value),
                          position, false);
  }
  leave_vectors();
}

Parts ColumnTiles::load(const Held& h, llvm::Value* memory) {
  Parts parts;
  for (unsigned i = 0; i < h.reducer.part_count(); ++i) {
    parts.push_back(
        b_.CreateLoad(h.type->getStructElementType(i), b_.CreateStructGEP(h.type, memory, i)));
  }
  return parts;
}

void ColumnTiles::store(const Parts& parts, const Held& h, llvm::Value* memory) {
  for (unsigned i = 0; i < parts.size(); ++i) {
    b_.CreateStore(parts[i], b_.CreateStructGEP(h.type, memory, i));
  }
}

}  // namespace

bool reduces_by_tiles(const Frame& frame) {
  const KernelPlan& plan = frame.plan;
  if (!frame.layout.columns || frame.layout.reduced != 1 || plan.walks.size() != 1) return false;
  const Walk& walk = plan.walks[0];
  if (!walk.stores.empty()) return false;
  int lanes = 0;
  for (const Reduction& r : reductions_of(frame.kernel, walk)) {
    if (r.reducer.wants_index()) return false;  // wants elements in order
    if (!r.reducer.is_ordered()) continue;
    const int own = ir::reduction_lanes(r.reducer.dtype());
    if (lanes != 0 && lanes != own) return false;
    lanes = own;
  }
  return std::ranges::none_of(walk.point.nodes, [&](uint32_t node) {
    return ir::is_scan(frame.kernel.body[ir::Value{node}].op);
  });
}

void emit_column_tiles(Frame& frame) { ColumnTiles(frame).emit(); }

}  // namespace lanewise::jit
