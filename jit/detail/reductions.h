// The reductions of one walk over a row, or over neighbouring rows side by side.
#pragma once

#include <llvm/IR/MDBuilder.h>

#include <memory>
#include <vector>

#include "jit/detail/frame.h"
#include "jit/detail/reduction_functions.h"

namespace lanewise::jit {

Reducer reducer_of(const ir::Kernel& kernel, uint32_t node);

class Reductions {
 public:
  static std::unique_ptr<Reductions> make(Frame& frame, const Walk& walk);
  // Joins the states of the ranges of a row.
  static void join(Frame& frame, const Walk& walk);
  static int64_t state_bytes(const ir::Kernel& kernel, const Walk& walk);
  virtual ~Reductions() = default;

  virtual void begin() = 0;                        // of a row
  virtual void add(const Position& position) = 0;  // the elements there
  // Then: whether no further element changes any result; null if that cannot be told.
  virtual llvm::Value* decided() { return nullptr; }
  virtual void finish() = 0;  // makes the results values of the body
  // Instead of that, for a range of a row: puts what it comes to into a state.
  virtual void store_state(llvm::Value* state);

 protected:
  explicit Reductions(Frame& frame) : frame_(frame), b_(frame.b) {}

  // What the node reduces, as a vector.
  llvm::Value* operand(uint32_t node) {
    return frame_.body.value(frame_.kernel.body[ir::Value{node}].operands[0]);
  }
  Reducer reducer(uint32_t node) const { return reducer_of(frame_.kernel, node); }
  llvm::MDNode* rarely() { return llvm::MDBuilder(b_.getContext()).createBranchWeights(1, 1000); }

  Frame& frame_;
  VectorBuilder& b_;
};

}  // namespace lanewise::jit
