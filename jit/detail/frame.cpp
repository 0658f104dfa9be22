#include "jit/detail/frame.h"

#include <cstddef>

namespace lanewise::jit {

using runtime::KernelArguments;

Frame::Frame(llvm::Function* function, const ir::Kernel& kernel, const ir::Program& program,
             const runtime::Layout& layout, Target target)
    : kernel(kernel),
      layout(layout),
      plan(make_plan(kernel, program, layout, target)),
      b(function, target),
      operands(b, kernel, program, layout),
      body(b, kernel.body) {}

llvm::Value* Frame::load_argument(llvm::Value* array, size_t index, llvm::Type* type) {
  return b.CreateLoad(type, b.CreateConstGEP1_64(b.getInt64Ty(), array, index));
}

void Frame::enter() {
  b.SetInsertPoint(b.block("entry"));
  const auto field = [&](size_t offset) {
    llvm::Value* const arguments = b.function->getArg(0);
    return b.CreateLoad(b.getPtrTy(), b.CreateConstGEP1_64(b.getInt8Ty(), arguments, offset));
  };
  bases_ = field(offsetof(KernelArguments, bases));
  strides_ = field(offsetof(KernelArguments, strides));
  sizes_ = field(offsetof(KernelArguments, sizes));
  scalars_ = field(offsetof(KernelArguments, scalars));
  if (layout.portion == runtime::Portion::kRange) {
    llvm::Value* const place = b.CreateConstGEP1_64(b.getInt8Ty(), b.function->getArg(0),
                                                    offsetof(KernelArguments, first));
    first = b.CreateLoad(b.getInt64Ty(), place);
  }
  const int loop = runtime::vector_loop(layout);
  line_size = load_argument(sizes_, static_cast<size_t>(loop), b.getInt64Ty());
  for (size_t i = 0; i < operands.size(); ++i) {
    line_strides_.push_back(stride(i, loop));
    places.push_back(load_argument(bases_, i, operands.place_type(i)));
  }
}

llvm::Value* Frame::stride(size_t operand, int loop) {
  const size_t index = operand * static_cast<size_t>(layout.rank) + static_cast<size_t>(loop);
  return load_argument(strides_, index, b.getInt64Ty());
}

llvm::Value* Frame::load_scalar(const ir::Node& node) {
  llvm::Value* const value = load_argument(scalars_, slot(node), b.element_in_memory(node.dtype));
  return is_bool(node.dtype) ? b.CreateICmpNE(value, b.getInt8(0)) : value;
}

void Frame::emit(const ScalarSection& section, const Body::Leaf& leaf) {
  body.emit(section.section, leaf);
  for (const uint32_t node : section.broadcast) body.broadcast(node, plan.lanes);
}

void Frame::emit_loops(int first, int last, const std::function<void()>& inside) {
  if (first == last) return inside();
  llvm::BasicBlock* const before = b.GetInsertBlock();
  llvm::BasicBlock* const head = b.block("loop");
  b.CreateBr(head);
  b.SetInsertPoint(head);
  const std::vector<llvm::Value*> start = places;
  llvm::PHINode* const index = b.CreatePHI(b.getInt64Ty(), 2);
  std::vector<llvm::PHINode*> moving;
  for (llvm::Value*& place : places) {
    moving.push_back(b.CreatePHI(place->getType(), 2));
    moving.back()->addIncoming(place, before);
    place = moving.back();
  }
  emit_loops(first + 1, last, inside);
  // Strides are read from memory here: registers are for what is inside.
  llvm::BasicBlock* const end = b.GetInsertBlock();
  llvm::Value* const next = b.CreateAdd(index, b.getInt64(1));
  index->addIncoming(b.getInt64(0), before);
  index->addIncoming(next, end);
  for (size_t i = 0; i < moving.size(); ++i) {
    moving[i]->addIncoming(operands.advance(i, moving[i], stride(i, first)), end);
  }
  llvm::Value* const size = load_argument(sizes_, static_cast<size_t>(first), b.getInt64Ty());
  llvm::BasicBlock* const after = b.block("loop_done");
  b.CreateCondBr(b.CreateICmpNE(next, size), head, after);
  b.SetInsertPoint(after);
  places = start;
}

}  // namespace lanewise::jit
