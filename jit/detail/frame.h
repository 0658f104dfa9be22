// A kernel's function under construction: its arguments, the loops around its rows, and where the
// operands are.
#pragma once

#include <functional>
#include <vector>

#include "jit/detail/body.h"
#include "jit/detail/kernel_plan.h"
#include "jit/detail/operands.h"

namespace lanewise::jit {

class Frame {
 public:
  Frame(llvm::Function* function, const ir::Kernel& kernel, const ir::Program& program,
        const runtime::Layout& layout, Target target);

  const ir::Kernel& kernel;
  const runtime::Layout& layout;
  const KernelPlan plan;
  VectorBuilder b;
  Operands operands;
  Body body;

  llvm::Value* line_size = nullptr;  // trips of the loop that vectors lie along
  llvm::Value* first = nullptr;      // of a range: where in the rows it starts
  std::vector<llvm::Value*> places;  // of the operands: where the loops are

  // Where the states of rows are.
  llvm::Value* state_place() const { return places[kernel.operands.size()]; }

  // Starts the function: arguments, and places at the start of the nest.
  void enter();

  // Loops `first` up to but not including `last`, with what `inside` emits in the innermost. Places
  // move along, and are afterwards as before.
  void emit_loops(int first, int last, const std::function<void()>& inside);

  // At the start of a line: operands are loaded from here on.
  void enter_line() { operands.enter_row(places, line_strides_); }

  // At the start of a row: the element of an operand that does not move along the row.
  llvm::Value* load_invariant(const ir::Node& node) {
    return operands.load_invariant(slot(node), node.dtype);
  }
  llvm::Value* load_scalar(const ir::Node& node);
  static size_t slot(const ir::Node& node) {
    return static_cast<size_t>(node.get<ir::Slot>().index);
  }

  llvm::Value* size(int loop) {
    return load_argument(sizes_, static_cast<size_t>(loop), b.getInt64Ty());
  }
  llvm::Value* stride(size_t operand, int loop);

  // Emits the section and the vectors of what points use of it.
  void emit(const ScalarSection& section, const Body::Leaf& leaf);

 private:
  llvm::Value* load_argument(llvm::Value* array, size_t index, llvm::Type* type);

  llvm::Value* bases_ = nullptr;
  llvm::Value* strides_ = nullptr;
  llvm::Value* sizes_ = nullptr;
  llvm::Value* scalars_ = nullptr;
  std::vector<llvm::Value*> line_strides_;
};

}  // namespace lanewise::jit
