// The states of ranges of a row: the parts of each reduction in turn, one in each 8 bytes. Of an
// ordered reduction they are a node of the tree that all ranges but the last have whole.
#include "jit/detail/reduction_kinds.h"

namespace lanewise::jit {

namespace {

constexpr int64_t kPartBytes = 8;

class Joining {
 public:
  Joining(Frame& frame, const Walk& walk) : frame_(frame), b_(frame.b) {
    for (const uint32_t node : walk.reductions) {
      const Reducer reducer = reducer_of(frame.kernel, node);
      Joined joined{node, reducer, nullptr, {}};
      if (reducer.is_ordered()) {
        joined.tree = b_.stack(ReductionFunctions(b_, reducer).tree_type());
      } else {
        for (llvm::Type* type : reducer.part_types(b_)) joined.memory.push_back(b_.stack(type));
      }
      joined_.push_back(joined);
    }
  }

  void emit() {
    for (const Joined& j : joined_) begin(j);
    frame_.emit_loops(frame_.plan.outer_loops, frame_.layout.rank, [&] {
      int64_t offset = 0;
      for (const Joined& j : joined_) {
        const Parts parts = load_parts(b_, j.reducer, frame_.state_place(), offset);
        if (j.tree != nullptr) {
          ReductionFunctions(b_, j.reducer).push(j.tree, parts);
        } else {
          store(j, j.reducer.merge(b_, load(j), parts));
        }
        offset += kPartBytes * static_cast<int64_t>(parts.size());
      }
    });
    for (const Joined& j : joined_) {
      const Parts parts =
          j.tree != nullptr ? ReductionFunctions(b_, j.reducer).finish(j.tree) : load(j);
      frame_.body.set({j.node}, j.reducer.result(parts));
    }
  }

 private:
  struct Joined {
    uint32_t node;
    Reducer reducer;
    llvm::Value* tree;                 // of ordered reductions
    std::vector<llvm::Value*> memory;  // of others: the parts
  };

  void begin(const Joined& j) {
    if (j.tree != nullptr) {
      ReductionFunctions(b_, j.reducer).clear(j.tree);
    } else {
      store(j, j.reducer.identity(b_));
    }
  }
  void store(const Joined& j, const Parts& parts) {
    for (size_t i = 0; i < parts.size(); ++i) b_.CreateStore(parts[i], j.memory[i]);
  }
  Parts load(const Joined& j) {
    Parts parts;
    for (llvm::Type* type : j.reducer.part_types(b_)) {
      parts.push_back(b_.CreateLoad(type, j.memory[parts.size()]));
    }
    return parts;
  }
  static Parts load_parts(VectorBuilder& b, const Reducer& reducer, llvm::Value* state,
                          int64_t offset) {
    Parts parts;
    for (llvm::Type* type : reducer.part_types(b)) {
      llvm::Value* const place =
          b.CreateConstGEP1_64(b.getInt8Ty(), state, static_cast<uint64_t>(offset));
      parts.push_back(b.CreateLoad(type, place));
      offset += kPartBytes;
    }
    return parts;
  }

  Frame& frame_;
  VectorBuilder& b_;
  std::vector<Joined> joined_;
};

}  // namespace

int64_t Reductions::state_bytes(const ir::Kernel& kernel, const Walk& walk) {
  int64_t bytes = 0;
  for (const uint32_t node : walk.reductions) {
    bytes += kPartBytes * static_cast<int64_t>(reducer_of(kernel, node).part_count());
  }
  return bytes;
}

void Reductions::join(Frame& frame, const Walk& walk) { Joining(frame, walk).emit(); }

void store_parts(VectorBuilder& b, const Parts& parts, llvm::Value*& state) {
  for (llvm::Value* part : parts) {
    b.CreateStore(part, state);
    state = b.CreateConstGEP1_64(b.getInt8Ty(), state, kPartBytes);
  }
}

}  // namespace lanewise::jit
