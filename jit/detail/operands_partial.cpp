// Loads and stores of fewer elements than lanes: under a mask where the instruction set has one for
// the element size, else through a scratch buffer.
#include "jit/detail/operands.h"

#include <llvm/IR/Module.h>

#include "support/format.h"

namespace lanewise::jit {

namespace {

constexpr uint64_t kScratchBytes = 1024;
constexpr uint64_t kWidestCopy = 16;

// void copy_bytes(to, from, count): straight code apart from the kernel, since it has many
// branches.
class CopyFunction {
 public:
  CopyFunction(llvm::Module& module, Target target)
      : b_(module.getContext()), function_(declare(module, target)) {
    function_->addFnAttr(llvm::Attribute::NoInline);
  }

  // A module of an ahead-of-time library has kernels for several targets.
  static std::string name(Target target) { return format("copy_bytes.{}", target); }

  llvm::Function* emit() {
    to_ = function_->getArg(0);
    from_ = function_->getArg(1);
    llvm::Value* const count = function_->getArg(2);
    b_.SetInsertPoint(llvm::BasicBlock::Create(b_.getContext(), "entry", function_));
    emit_loop(count);
    for (uint64_t size = kWidestCopy / 2; size > 0; size /= 2) emit_piece(count, size);
    b_.CreateRetVoid();
    return function_;
  }

 private:
  static llvm::Function* declare(llvm::Module& module, Target target) {
    llvm::LLVMContext& context = module.getContext();
    llvm::Type* const pointer = llvm::PointerType::getUnqual(context);
    auto* const type = llvm::FunctionType::get(
        llvm::Type::getVoidTy(context), {pointer, pointer, llvm::Type::getInt64Ty(context)}, false);
    return new_function(module, name(target), type, llvm::GlobalValue::InternalLinkage, target);
  }

  llvm::BasicBlock* block() { return llvm::BasicBlock::Create(b_.getContext(), "", function_); }

  void copy(llvm::Value* to, llvm::Value* from, uint64_t size) {
    llvm::Type* const type = b_.getIntNTy(8 * static_cast<unsigned>(size));
    b_.CreateAlignedStore(b_.CreateAlignedLoad(type, from, kAnywhere), to, kAnywhere);
  }

  llvm::Value* offset(llvm::Value* address, llvm::Value* bytes) {
    return b_.CreateGEP(b_.getInt8Ty(), address, bytes);
  }

  // The widest pieces; leaves `done_` bytes copied.
  void emit_loop(llvm::Value* count) {
    llvm::BasicBlock* const before = b_.GetInsertBlock();
    llvm::BasicBlock* const test = block();
    llvm::BasicBlock* const loop = block();
    llvm::BasicBlock* const after = block();
    llvm::Value* const whole = b_.CreateAnd(count, b_.getInt64(~(kWidestCopy - 1)));
    b_.CreateBr(test);
    b_.SetInsertPoint(test);
    llvm::PHINode* const i = b_.CreatePHI(b_.getInt64Ty(), 2);
    i->addIncoming(b_.getInt64(0), before);
    b_.CreateCondBr(b_.CreateICmpULT(i, whole), loop, after);
    b_.SetInsertPoint(loop);
    copy(offset(to_, i), offset(from_, i), kWidestCopy);
    i->addIncoming(b_.CreateAdd(i, b_.getInt64(kWidestCopy)), loop);
    b_.CreateBr(test);
    b_.SetInsertPoint(after);
    done_ = whole;
  }

  void emit_piece(llvm::Value* count, uint64_t size) {
    llvm::BasicBlock* const piece = block();
    llvm::BasicBlock* const after = block();
    llvm::Value* const bit = b_.CreateAnd(count, b_.getInt64(size));
    b_.CreateCondBr(b_.CreateICmpNE(bit, b_.getInt64(0)), piece, after);
    b_.SetInsertPoint(piece);
    copy(offset(to_, done_), offset(from_, done_), size);
    b_.CreateBr(after);
    b_.SetInsertPoint(after);
    done_ = b_.CreateAdd(done_, bit);
  }

  llvm::IRBuilder<> b_;
  llvm::Function* function_;
  llvm::Value* to_ = nullptr;
  llvm::Value* from_ = nullptr;
  llvm::Value* done_ = nullptr;
};

}  // namespace

llvm::Value* Operands::scratch() {
  if (scratch_ == nullptr) {
    scratch_ = b_.stack(llvm::ArrayType::get(b_.getInt8Ty(), kScratchBytes));
  }
  return scratch_;
}

void Operands::copy_bytes(llvm::Value* to, llvm::Value* from, llvm::Value* count) {
  llvm::Module& module = *b_.function->getParent();
  llvm::Function* function = module.getFunction(CopyFunction::name(b_.target));
  if (function == nullptr) function = CopyFunction(module, b_.target).emit();
  b_.CreateCall(function, {to, from, count});
}

// Copies `count` > 0 elements one by one.
void Operands::copy_strided(llvm::Value* to, llvm::Value* to_stride, llvm::Value* from,
                            llvm::Value* from_stride, llvm::Type* element, llvm::Value* count) {
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  llvm::BasicBlock* const loop = b_.block("copy");
  llvm::BasicBlock* const after = b_.block("copied");
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* const left = b_.CreatePHI(b_.getInt64Ty(), 2);
  llvm::PHINode* const source = b_.CreatePHI(b_.getPtrTy(), 2);
  llvm::PHINode* const target = b_.CreatePHI(b_.getPtrTy(), 2);
  b_.CreateAlignedStore(b_.CreateAlignedLoad(element, source, kAnywhere), target, kAnywhere);
  llvm::Value* const still_left = b_.CreateSub(left, b_.getInt64(1));
  left->addIncoming(count, before);
  left->addIncoming(still_left, loop);
  source->addIncoming(from, before);
  source->addIncoming(offset(source, from_stride), loop);
  target->addIncoming(to, before);
  target->addIncoming(offset(target, to_stride), loop);
  b_.CreateCondBr(b_.CreateICmpNE(still_left, b_.getInt64(0)), loop, after);
  b_.SetInsertPoint(after);
}

llvm::Value* Operands::lanes_below(llvm::Value* count) {
  if (b_.has_avx512()) {
    // Bits 0 ... count - 1. A shift by 64 would be poison.
    llvm::Value* bits = b_.CreateSub(b_.CreateShl(b_.getInt64(1), count), b_.getInt64(1));
    if (b_.lanes == 64) {
      llvm::Value* const all = b_.CreateICmpUGE(count, b_.getInt64(64));
      bits = b_.CreateSelect(all, b_.getInt64(-1), bits);
    }
    llvm::Type* const integer = b_.getIntNTy(static_cast<unsigned>(b_.lanes));
    return b_.CreateBitCast(b_.CreateTrunc(bits, integer), b_.vector_of(b_.getInt1Ty()));
  }
  llvm::Value* const lane = b_.CreateStepVector(b_.vector_of(b_.getInt32Ty()));
  return b_.CreateICmpSLT(lane, b_.broadcast(b_.CreateTrunc(count, b_.getInt32Ty())));
}

// What lies beyond the elements copied is undefined, but must be one value to all who use it.
llvm::Value* Operands::load_scratch(llvm::Type* type) {
  return b_.CreateFreeze(b_.CreateAlignedLoad(type, scratch(), kAnywhere));
}

llvm::Value* Operands::load_first(const Operand& operand, llvm::Value* address, llvm::Value* count,
                                  llvm::Value* mask) {
  llvm::Type* const type = b_.vector_of(b_.element_in_memory(operand.dtype));
  if (has_masked_access(operand)) {
    if (mask == nullptr) mask = lanes_below(count);
    return b_.CreateMaskedLoad(type, address, kAnywhere, mask, llvm::Constant::getNullValue(type));
  }
  copy_bytes(scratch(), address, b_.CreateMul(count, b_.getInt64(operand.bytes())));
  return load_scratch(type);
}

void Operands::store_first(const Operand& operand, llvm::Value* value, llvm::Value* address,
                           llvm::Value* count) {
  if (has_masked_access(operand)) {
    b_.CreateMaskedStore(value, address, kAnywhere, b_.active);
    return;
  }
  b_.CreateAlignedStore(value, scratch(), kAnywhere);
  copy_bytes(address, scratch(), b_.CreateMul(count, b_.getInt64(operand.bytes())));
}

// The last `count` lanes of a vector whose lane 0 would lie at `address`.
llvm::Value* Operands::load_last(const Operand& operand, llvm::Value* address, llvm::Value* count) {
  llvm::Type* const type = b_.vector_of(b_.element_in_memory(operand.dtype));
  if (has_masked_access(operand)) {
    return b_.CreateMaskedLoad(type, address, kAnywhere, b_.reverse(b_.active),
                               llvm::Constant::getNullValue(type));
  }
  llvm::Value* const unused = b_.CreateSub(b_.getInt64(b_.lanes), count);
  llvm::Value* const skipped = b_.CreateMul(unused, b_.getInt64(operand.bytes()));
  copy_bytes(offset(scratch(), skipped), offset(address, skipped),
             b_.CreateMul(count, b_.getInt64(operand.bytes())));
  return load_scratch(type);
}

void Operands::store_last(const Operand& operand, llvm::Value* value, llvm::Value* address,
                          llvm::Value* count) {
  if (has_masked_access(operand)) {
    b_.CreateMaskedStore(value, address, kAnywhere, b_.reverse(b_.active));
    return;
  }
  llvm::Value* const unused = b_.CreateSub(b_.getInt64(b_.lanes), count);
  llvm::Value* const skipped = b_.CreateMul(unused, b_.getInt64(operand.bytes()));
  b_.CreateAlignedStore(value, scratch(), kAnywhere);
  copy_bytes(offset(address, skipped), offset(scratch(), skipped),
             b_.CreateMul(count, b_.getInt64(operand.bytes())));
}

llvm::Value* Operands::gather(size_t operand, llvm::Value* address, llvm::Value* count) {
  const Operand& o = operands_[operand];
  llvm::Type* const element = b_.element_in_memory(o.dtype);
  copy_strided(scratch(), b_.getInt64(o.bytes()), address, strides_[operand], element, count);
  return load_scratch(b_.vector_of(element));
}

void Operands::scatter(size_t operand, llvm::Value* value, llvm::Value* address,
                       llvm::Value* count) {
  const Operand& o = operands_[operand];
  llvm::Type* const element = b_.element_in_memory(o.dtype);
  b_.CreateAlignedStore(value, scratch(), kAnywhere);
  copy_strided(address, strides_[operand], scratch(), b_.getInt64(o.bytes()), element, count);
}

}  // namespace lanewise::jit
