// The reductions of one walk over a row. Sums and products of floats follow the order of
// ir/reduction_order.h: their elements are collected block by block.
#pragma once

#include <vector>

#include "jit/detail/frame.h"
#include "jit/detail/reduction_functions.h"

namespace lanewise::jit {

class Reductions {
 public:
  Reductions(Frame& frame, const Walk& walk);

  void begin();                        // of a row
  void add(const Position& position);  // the elements there
  void finish();                       // makes the results values of the body

 private:
  struct Ordered {
    uint32_t node;
    Reducer reducer;
    llvm::Value* elements;  // of the current block, and some of the next
    llvm::Value* blocks;    // BlockTree
  };
  struct Unordered {
    uint32_t node;
    Reducer reducer;
    llvm::Value* partial;  // a vector in memory
  };

  llvm::Value* operand(uint32_t node);
  void end_block(llvm::Value* count);

  Frame& frame_;
  VectorBuilder& b_;
  std::vector<Ordered> ordered_;
  std::vector<Unordered> unordered_;
  llvm::Value* fill_ = nullptr;  // in memory: how many elements are collected
};

}  // namespace lanewise::jit
