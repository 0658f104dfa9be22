// How elements combine, and the functions of a module that combine the elements of blocks and the
// blocks of a row in the order of ir/reduction_order.h.
#pragma once

#include "ir/op.h"
#include "jit/detail/vector_builder.h"

namespace lanewise::jit {

class Reducer {
 public:
  Reducer(ir::Op op, DType dtype) : op_(op), dtype_(dtype) {}

  ir::Op op() const { return op_; }
  DType dtype() const { return dtype_; }
  // Whether the order of combining changes the result.
  bool is_ordered() const {
    return is_float(dtype_) && (op_ == ir::Op::kSum || op_ == ir::Op::kProd);
  }
  // What changes nothing it is combined with.
  llvm::Constant* identity(VectorBuilder& b) const;
  llvm::Value* combine(VectorBuilder& b, llvm::Value* earlier, llvm::Value* later) const;
  // Combines the lanes of a vector: the lower half with the upper half, and so on.
  llvm::Value* halve(VectorBuilder& b, llvm::Value* vector) const;

 private:
  ir::Op op_;
  DType dtype_;
};

// Calls to functions that are made at their first use in a module.
class ReductionFunctions {
 public:
  // Of one row, or of `rows` rows side by side: what is one element for one row is a vector then.
  ReductionFunctions(VectorBuilder& builder, const Reducer& reducer, int rows = 1)
      : b_(builder), reducer_(reducer), rows_(rows) {}

  // The result of a block of `count` elements, 1 to kReductionBlock. If they are fewer, the memory
  // after them is filled up, for at most kMaxReductionLanes elements.
  llvm::Value* block(llvm::Value* elements, llvm::Value* count);

  // The result of a block of `count` elements that are already combined to lanes, one after the
  // other in `table`; overwrites them. Lanes that no element went to are not read.
  llvm::Value* halve_table(llvm::Value* table, llvm::Value* count);

  // Results of neighbouring runs of 2^i blocks each, one for each bit i of the number of blocks so
  // far. Starts with that number, as an i64.
  llvm::Type* tree_type();
  void push(llvm::Value* tree, llvm::Value* block);
  // The result of all blocks, at least one.
  llvm::Value* finish(llvm::Value* tree);

 private:
  llvm::Function* function(const char* name, llvm::Type* result,
                           llvm::ArrayRef<llvm::Type*> parameters,
                           void (ReductionFunctions::*emit)(VectorBuilder&));
  void emit_block(VectorBuilder& b);
  void emit_halve_table(VectorBuilder& b);
  void emit_halving(VectorBuilder& b, llvm::Value* table, llvm::Value* pairs, llvm::Value* half);
  void emit_push(VectorBuilder& b);
  void emit_finish(VectorBuilder& b);
  llvm::Type* element() { return b_.vector_of(b_.element(reducer_.dtype()), rows_); }
  llvm::Value* level(VectorBuilder& b, llvm::Value* tree, llvm::Value* number);

  VectorBuilder& b_;
  const Reducer& reducer_;
  int rows_;
};

}  // namespace lanewise::jit
