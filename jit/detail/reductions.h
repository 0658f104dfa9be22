// The reductions of one walk over a row, or over neighbouring rows side by side.
#pragma once

#include <memory>
#include <vector>

#include "jit/detail/frame.h"
#include "jit/detail/reduction_functions.h"

namespace lanewise::jit {

class Reductions {
 public:
  static std::unique_ptr<Reductions> make(Frame& frame, const Walk& walk);
  virtual ~Reductions() = default;

  virtual void begin() = 0;                        // of a row
  virtual void add(const Position& position) = 0;  // the elements there
  virtual void finish() = 0;                       // makes the results values of the body

 protected:
  explicit Reductions(Frame& frame) : frame_(frame), b_(frame.b) {}

  // What the node reduces, as a vector.
  llvm::Value* operand(uint32_t node) {
    return frame_.body.value(frame_.kernel.body[ir::Value{node}].operands[0]);
  }
  Reducer reducer(uint32_t node) const {
    return {frame_.kernel.body[ir::Value{node}].op, frame_.kernel.body[ir::Value{node}].dtype};
  }

  Frame& frame_;
  VectorBuilder& b_;
};

}  // namespace lanewise::jit
