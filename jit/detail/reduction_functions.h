// The functions of a module that combine the elements of blocks and the blocks of a row in the
// order of ir/reduction_order.h.
#pragma once

#include "jit/detail/reducer.h"

namespace lanewise::jit {

// Calls to functions that are made at their first use in a module.
class ReductionFunctions {
 public:
  // Of one row, or of `rows` rows side by side: what is one element for one row is a vector then.
  ReductionFunctions(VectorBuilder& builder, const Reducer& reducer, int rows = 1)
      : b_(builder), reducer_(reducer), rows_(rows) {}

  // The result of a block of `count` elements, 1 to kReductionBlock, of one row. Memory after them
  // is read, for less than kMaxReductionLanes elements.
  Parts block(llvm::Value* elements, llvm::Value* count);

  // The result of a block of `count` elements of one row that are combined to lanes.
  Parts halve(const Parts& lanes, llvm::Value* count);

  // The lanes of a block of `rows` rows, in memory.
  llvm::Type* table_type();
  Parts load_lane(llvm::Value* table, llvm::Value* lane) { return load_lane(b_, table, lane); }
  void store_lane(llvm::Value* table, llvm::Value* lane, const Parts& parts) {
    store_lane(b_, table, lane, parts);
  }
  // The result of a block of `count` elements that are combined to lanes; overwrites them. Lanes
  // that no element went to are not read.
  Parts halve_table(llvm::Value* table, llvm::Value* count);

  // Results of neighbouring runs of 2^i blocks each, one for each bit i of the number of blocks so
  // far. Starts with that number, as an i64.
  llvm::Type* tree_type();
  void clear(llvm::Value* tree) { b_.CreateStore(b_.getInt64(0), tree); }
  void push(llvm::Value* tree, const Parts& block);
  // The result of all blocks, at least one.
  Parts finish(llvm::Value* tree);

 private:
  using Types = llvm::SmallVector<llvm::Type*, 3>;

  llvm::Function* function(const char* name, llvm::Type* result,
                           llvm::ArrayRef<llvm::Type*> parameters,
                           void (ReductionFunctions::*emit)(VectorBuilder&));
  Parts call(llvm::Function* function, llvm::ArrayRef<llvm::Value*> arguments);
  void emit_block(VectorBuilder& b);
  void emit_halve(VectorBuilder& b);
  void emit_halve_table(VectorBuilder& b);
  void emit_closing(VectorBuilder& b, llvm::Value* table, llvm::Value* in_use);
  void emit_halving(VectorBuilder& b, llvm::Value* table, llvm::Value* pairs, llvm::Value* half);
  void emit_push(VectorBuilder& b);
  void emit_finish(VectorBuilder& b);

  int lanes() const;
  // Of one part each, for `rows` rows; and of all parts as what a function returns.
  Types part_types();
  llvm::Type* result_type();
  void emit_return(VectorBuilder& b, const Parts& parts);
  llvm::Value* lane_counts(VectorBuilder& b, llvm::Value* count);
  Parts load_lane(VectorBuilder& b, llvm::Value* table, llvm::Value* lane);
  void store_lane(VectorBuilder& b, llvm::Value* table, llvm::Value* lane, const Parts& parts);
  llvm::Value* part_at(VectorBuilder& b, llvm::Type* type, llvm::Value* memory, size_t field,
                       llvm::Value* number);
  Parts load_level(VectorBuilder& b, llvm::Value* tree, llvm::Value* number);

  VectorBuilder& b_;
  const Reducer& reducer_;
  int rows_;
};

}  // namespace lanewise::jit
