// What a reduction keeps of the elements it has seen, and how it takes further ones.
#pragma once

#include "ir/op.h"
#include "jit/detail/vector_builder.h"

namespace lanewise::jit {

// What is kept, as one vector or several.
using Parts = llvm::SmallVector<llvm::Value*, 3>;

// Elements to take, one a lane.
struct Taken {
  llvm::Value* value;
  llvm::Value* is_first = nullptr;  // i1: the lanes hold nothing yet; for ordered reductions
  llvm::Value* index = nullptr;     // i64 in each lane: where in the row; for argmin and argmax
};

// The functions work in as many lanes as the builder has.
class Reducer {
 public:
  // `dtype` is that of the elements.
  Reducer(ir::Op op, DType dtype) : op_(op), dtype_(dtype) {}

  ir::Op op() const { return op_; }
  DType dtype() const { return dtype_; }
  // Whether the order of combining changes the result.
  bool is_ordered() const;
  bool wants_index() const { return op_ == ir::Op::kArgMin || op_ == ir::Op::kArgMax; }

  // The types of the parts in one lane.
  llvm::SmallVector<llvm::Type*, 3> part_types(VectorBuilder& b) const;
  size_t part_count() const;
  // Of no elements.
  Parts identity(VectorBuilder& b) const;
  Parts take(VectorBuilder& b, const Parts& lanes, const Taken& elements) const;
  // Of ordered reductions: what lanes of `counts` elements are in the tree. `counts` gives the
  // numbers, of the elements' dtype, where they are needed.
  Parts close(VectorBuilder& b, const Parts& lanes,
              const std::function<llvm::Value*()>& counts) const;
  // Of ordered reductions those that are closed, the earlier ones first.
  Parts merge(VectorBuilder& b, const Parts& earlier, const Parts& later) const;
  llvm::Value* result(const Parts& parts) const;

  // Merges the lanes of vectors: the lower half with the upper half, and so on.
  Parts halve(VectorBuilder& b, Parts vectors) const;

 private:
  llvm::Value* combine(VectorBuilder& b, llvm::Value* earlier, llvm::Value* later) const;
  llvm::Value* is_better(VectorBuilder& b, llvm::Value* candidate, llvm::Value* best) const;
  Parts merge_positions(VectorBuilder& b, const Parts& earlier, const Parts& later) const;
  Parts merge_moments(VectorBuilder& b, const Parts& earlier, const Parts& later) const;

  ir::Op op_;
  DType dtype_;
};

// Lane by lane.
Parts select(VectorBuilder& b, llvm::Value* mask, const Parts& yes, const Parts& no);

}  // namespace lanewise::jit
