#include "jit/detail/nest.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstddef>

#include "jit/detail/body.h"
#include "jit/detail/operands.h"

namespace lanewise::jit {

namespace {

using runtime::KernelArguments;
using runtime::Stride;

constexpr int64_t kStreamAlignment = 64;

llvm::Function* make_function(llvm::Module& module, const std::string& name, Target target) {
  llvm::LLVMContext& context = module.getContext();
  auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                             {llvm::PointerType::getUnqual(context)}, false);
  auto* const function =
      llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
  function->addFnAttr("target-cpu", to_string(target));
  if (target == Target::kX86_64_v4) function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  function->getArg(0)->addAttr(llvm::Attribute::NonNull);
  return function;
}

// One elementwise kernel: loops outside, vectors inside.
class NestEmitter {
 public:
  NestEmitter(llvm::Function* function, const ir::Kernel& kernel, const ir::Program& program,
              const runtime::Layout& layout, Target target)
      : b_(function, target),
        kernel_(kernel),
        layout_(layout),
        plan_(make_plan(kernel, program, layout, target)),
        operands_(b_, kernel, program, layout),
        body_(b_, kernel.body) {}

  void emit() {
    b_.SetInsertPoint(b_.block("entry"));
    load_arguments();
    body_.emit(plan_.uniform, [&](const ir::Node& node) { return load_scalar(node); });
    for (const uint32_t node : plan_.broadcast_uniform) body_.broadcast(node, plan_.lanes);
    std::vector<llvm::Value*> places;
    for (size_t i = 0; i < operands_.size(); ++i) {
      places.push_back(load_argument(bases_, i, operands_.place_type(i)));
    }
    emit_loops(0, std::move(places));
    if (streams()) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
    b_.CreateRetVoid();
  }

 private:
  // ---- arguments ----

  llvm::Value* load_argument(llvm::Value* array, size_t index, llvm::Type* type) {
    return b_.CreateLoad(type, b_.CreateConstGEP1_64(b_.getInt64Ty(), array, index));
  }

  void load_arguments() {
    const auto field = [&](size_t offset) {
      llvm::Value* const argument = b_.function->getArg(0);
      return b_.CreateLoad(b_.getPtrTy(), b_.CreateConstGEP1_64(b_.getInt8Ty(), argument, offset));
    };
    bases_ = field(offsetof(KernelArguments, bases));
    strides_ = field(offsetof(KernelArguments, strides));
    sizes_ = field(offsetof(KernelArguments, sizes));
    scalars_ = field(offsetof(KernelArguments, scalars));
    const auto inner = static_cast<size_t>(layout_.rank - 1);
    row_size_ = load_argument(sizes_, inner, b_.getInt64Ty());
    for (size_t i = 0; i < operands_.size(); ++i) row_strides_.push_back(stride(i, inner));
  }

  llvm::Value* stride(size_t operand, size_t loop) {
    return load_argument(strides_, operand * static_cast<size_t>(layout_.rank) + loop,
                         b_.getInt64Ty());
  }

  llvm::Value* load_scalar(const ir::Node& node) {
    const auto slot = static_cast<size_t>(node.get<ir::Slot>().index);
    llvm::Value* const value = load_argument(scalars_, slot, b_.element_in_memory(node.dtype));
    return is_bool(node.dtype) ? b_.CreateICmpNE(value, b_.getInt8(0)) : value;
  }

  // ---- loops ----

  // The loop `loop` and those in it, over operands that begin at `places`.
  void emit_loops(int loop, std::vector<llvm::Value*> places) {
    if (loop == layout_.rank - 1) return emit_row(std::move(places));
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    llvm::BasicBlock* const head = b_.block("loop");
    b_.CreateBr(head);
    b_.SetInsertPoint(head);
    llvm::PHINode* const index = b_.CreatePHI(b_.getInt64Ty(), 2);
    std::vector<llvm::PHINode*> moving;
    for (llvm::Value*& place : places) {
      moving.push_back(b_.CreatePHI(place->getType(), 2));
      moving.back()->addIncoming(place, before);
      place = moving.back();
    }
    emit_loops(loop + 1, places);
    // The last block of the loop. Strides are read from memory here: registers are for the rows.
    llvm::BasicBlock* const last = b_.GetInsertBlock();
    llvm::Value* const next = b_.CreateAdd(index, b_.getInt64(1));
    index->addIncoming(b_.getInt64(0), before);
    index->addIncoming(next, last);
    for (size_t i = 0; i < moving.size(); ++i) {
      llvm::Value* const step = stride(i, static_cast<size_t>(loop));
      moving[i]->addIncoming(operands_.advance(i, moving[i], step), last);
    }
    llvm::Value* const size = load_argument(sizes_, static_cast<size_t>(loop), b_.getInt64Ty());
    llvm::BasicBlock* const after = b_.block("done");
    b_.CreateCondBr(b_.CreateICmpNE(next, size), head, after);
    b_.SetInsertPoint(after);
  }

  void emit_row(std::vector<llvm::Value*> places) {
    places_ = places;
    operands_.enter_row(std::move(places), row_strides_);
    body_.emit(plan_.row, [&](const ir::Node& node) {
      return operands_.load_invariant(static_cast<size_t>(node.get<ir::Slot>().index), node.dtype);
    });
    for (const uint32_t node : plan_.broadcast_row) body_.broadcast(node, plan_.lanes);
    if (streams()) {
      emit_streaming_row();
    } else {
      emit_plain_row();
    }
  }

  // ---- rows ----

  // Whole vectors end here at the latest.
  llvm::Value* whole_limit() {
    return operands_.needs_one_more() ? b_.CreateSub(row_size_, b_.getInt64(1)) : row_size_;
  }

  void emit_plain_row() {
    llvm::Value* const whole = b_.CreateAnd(whole_limit(), b_.getInt64(-plan_.lanes));
    llvm::BasicBlock* const main = b_.block("vectors");
    llvm::BasicBlock* const tail = b_.block("tail");
    llvm::BasicBlock* const rest = b_.block("rest");
    llvm::BasicBlock* const after = b_.block("row_done");
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    b_.CreateCondBr(b_.CreateICmpNE(whole, b_.getInt64(0)), main, tail);

    b_.SetInsertPoint(main);
    llvm::PHINode* const index = b_.CreatePHI(b_.getInt64Ty(), 2);
    emit_points({index, nullptr}, false);
    llvm::Value* const next = b_.CreateAdd(index, b_.getInt64(plan_.lanes));
    index->addIncoming(b_.getInt64(0), before);
    index->addIncoming(next, b_.GetInsertBlock());
    b_.CreateCondBr(b_.CreateICmpNE(next, whole), main, tail);

    b_.SetInsertPoint(tail);
    llvm::Value* const left = b_.CreateSub(row_size_, whole);
    b_.CreateCondBr(b_.CreateICmpNE(left, b_.getInt64(0)), rest, after);
    b_.SetInsertPoint(rest);
    emit_points({whole, left}, false);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
  }

  // Parts of vectors up to where the outputs are aligned, then whole ones, then parts again: the
  // code for parts is shared. Outputs that are not all aligned at once go in parts altogether.
  void emit_streaming_row() {
    llvm::BasicBlock* const parts = b_.block("parts");
    llvm::BasicBlock* const part = b_.block("part");
    llvm::BasicBlock* const parts_done = b_.block("parts_done");
    llvm::BasicBlock* const main = b_.block("vectors");
    llvm::BasicBlock* const main_test = b_.block("vectors_test");
    llvm::BasicBlock* const after = b_.block("row_done");
    llvm::Value* const aligned = aligned_start();
    llvm::Value* const limit = b_.CreateSub(whole_limit(), b_.getInt64(plan_.lanes));
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    b_.CreateBr(parts);

    b_.SetInsertPoint(parts);
    llvm::PHINode* const start = b_.CreatePHI(b_.getInt64Ty(), 3);
    llvm::PHINode* const goal = b_.CreatePHI(b_.getInt64Ty(), 3);
    start->addIncoming(b_.getInt64(0), before);
    goal->addIncoming(aligned, before);
    b_.CreateCondBr(b_.CreateICmpSLT(start, goal), part, parts_done);

    b_.SetInsertPoint(part);
    llvm::Value* const left = b_.CreateSub(goal, start);
    llvm::Value* const count = b_.call(llvm::Intrinsic::smin, left, b_.getInt64(plan_.lanes));
    emit_points({start, count}, false);
    start->addIncoming(b_.CreateAdd(start, count), b_.GetInsertBlock());
    goal->addIncoming(goal, b_.GetInsertBlock());
    b_.CreateBr(parts);

    b_.SetInsertPoint(parts_done);
    b_.CreateCondBr(b_.CreateICmpEQ(goal, row_size_), after, main_test);

    b_.SetInsertPoint(main_test);
    llvm::PHINode* const index = b_.CreatePHI(b_.getInt64Ty(), 2);
    index->addIncoming(start, parts_done);
    start->addIncoming(index, main_test);
    goal->addIncoming(row_size_, main_test);
    b_.CreateCondBr(b_.CreateICmpSLE(index, limit), main, parts);
    b_.SetInsertPoint(main);
    emit_points({index, nullptr}, true);
    index->addIncoming(b_.CreateAdd(index, b_.getInt64(plan_.lanes)), b_.GetInsertBlock());
    b_.CreateBr(main_test);
    b_.SetInsertPoint(after);
  }

  // ---- streaming ----

  bool is_streamed(const ir::Store& store) const {
    return layout_.operands[static_cast<size_t>(store.operand)].stride == Stride::kUnit;
  }

  bool streams() const {
    return layout_.streaming && std::ranges::any_of(kernel_.stores, [&](const ir::Store& store) {
             return is_streamed(store);
           });
  }

  // The element from which all streamed outputs are aligned, or the row's size if there is none.
  llvm::Value* aligned_start() {
    llvm::Value* start = nullptr;
    llvm::Value* all_aligned = b_.getTrue();
    for (const ir::Store& store : kernel_.stores) {
      if (!is_streamed(store)) continue;
      llvm::Value* const address =
          b_.CreatePtrToInt(places_[static_cast<size_t>(store.operand)], b_.getInt64Ty());
      const int64_t bytes = size_of(kernel_.body[store.value].dtype);
      if (start == nullptr) {
        llvm::Value* const missing =
            b_.CreateAnd(b_.CreateNeg(address), b_.getInt64(kStreamAlignment - 1));
        start = b_.CreateUDiv(missing, b_.getInt64(bytes));
      }
      llvm::Value* const there = b_.CreateAdd(address, b_.CreateMul(start, b_.getInt64(bytes)));
      llvm::Value* const excess = b_.CreateAnd(there, b_.getInt64(kStreamAlignment - 1));
      all_aligned = b_.CreateAnd(all_aligned, b_.CreateICmpEQ(excess, b_.getInt64(0)));
    }
    llvm::Value* const within = b_.call(llvm::Intrinsic::smin, start, row_size_);
    return b_.CreateSelect(all_aligned, within, row_size_);
  }

  // ---- points ----

  void emit_points(const Position& position, bool streaming) {
    b_.lanes = plan_.lanes;
    if (position.count != nullptr) b_.active = operands_.lanes_below(position.count);
    operands_.enter_position();
    body_.emit(plan_.point, [&](const ir::Node& node) {
      return operands_.load(static_cast<size_t>(node.get<ir::Slot>().index), node.dtype, position);
    });
    for (const ir::Store& store : kernel_.stores) {
      operands_.store(static_cast<size_t>(store.operand), body_.value(store.value), position,
                      streaming && is_streamed(store));
    }
    b_.active = nullptr;
    b_.lanes = 1;
  }

  VectorBuilder b_;
  const ir::Kernel& kernel_;
  const runtime::Layout& layout_;
  KernelPlan plan_;
  Operands operands_;
  Body body_;
  llvm::Value* bases_ = nullptr;
  llvm::Value* strides_ = nullptr;
  llvm::Value* sizes_ = nullptr;
  llvm::Value* scalars_ = nullptr;
  llvm::Value* row_size_ = nullptr;
  std::vector<llvm::Value*> row_strides_;
  std::vector<llvm::Value*> places_;  // at the start of the current row
};

}  // namespace

void emit_kernel(llvm::Module& module, const std::string& name, const ir::Kernel& kernel,
                 const ir::Program& program, const runtime::Layout& layout, Target target) {
  NestEmitter(make_function(module, name, target), kernel, program, layout, target).emit();
}

}  // namespace lanewise::jit
