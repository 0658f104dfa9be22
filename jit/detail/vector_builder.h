// An IRBuilder for values of `lanes` elements: vectors, or scalars where `lanes` is 1.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <functional>
#include <string>

#include "ir/dtype.h"
#include "jit/compiler.h"

namespace lanewise::jit {

// An empty function that uses the target's instructions.
llvm::Function* new_function(llvm::Module& module, const std::string& name,
                             llvm::FunctionType* type, llvm::GlobalValue::LinkageTypes linkage,
                             Target target);

class VectorBuilder : public llvm::IRBuilder<> {
 public:
  VectorBuilder(llvm::Function* function, Target target)
      : llvm::IRBuilder<>(function->getContext()), target(target), function(function) {}

  const Target target;
  llvm::Function* const function;
  int lanes = 1;
  // Lanes that hold elements, or null if all do. The others may hold anything.
  llvm::Value* active = nullptr;

  bool has_avx512() const { return target == Target::kX86_64_v4; }

  // ---- types: bool is i1 in registers and i8 in memory ----
  llvm::Type* element(DType dtype);
  llvm::Type* element_in_memory(DType dtype);
  llvm::Type* vector_of(llvm::Type* element, int count) const {
    return count == 1 ? element : llvm::FixedVectorType::get(element, static_cast<unsigned>(count));
  }
  llvm::Type* vector_of(llvm::Type* element) const { return vector_of(element, lanes); }
  llvm::Type* vector(DType dtype) { return vector_of(element(dtype)); }
  // The integer as wide as an element of the type of `value`, in as many lanes.
  llvm::Type* integer_like(llvm::Value* value);

  // ---- constants of the type of `value`, or of `dtype`, in every lane ----
  llvm::Constant* like(llvm::Value* value, double number);
  llvm::Constant* like_bits(llvm::Value* value, uint64_t bits);
  llvm::Constant* constant(lanewise::Scalar number);
  llvm::Constant* integers(int bits, int64_t number);

  // ---- choice and masks ----
  llvm::Value* select(llvm::Value* mask, llvm::Value* yes, llvm::Value* no) {
    return CreateSelect(mask, yes, no);
  }
  llvm::Value* is_nan(llvm::Value* x) { return CreateFCmpUNO(x, x); }
  llvm::Value* call(llvm::Intrinsic::ID intrinsic, llvm::Value* a) {
    return CreateUnaryIntrinsic(intrinsic, a);
  }
  llvm::Value* call(llvm::Intrinsic::ID intrinsic, llvm::Value* a, llvm::Value* b) {
    return CreateBinaryIntrinsic(intrinsic, a, b);
  }

  // `common` where no lane of `mask` is set; else, lane by lane, `mask` ? `rare()` : `common`.
  // The code that `rare` emits stands apart and runs only if some active lane needs it.
  llvm::Value* unless_any(llvm::Value* mask, llvm::Value* common,
                          const std::function<llvm::Value*()>& rare);

  // ---- parts of vectors ----
  // Applies `function` to pieces of `size` lanes of each of the vectors (all of this builder's
  // lanes, which are a multiple of `size` or fewer) and joins the results.
  llvm::Value* by_pieces(int size, llvm::ArrayRef<llvm::Value*> vectors,
                         const std::function<llvm::Value*(llvm::ArrayRef<llvm::Value*>)>& function);
  llvm::Value* slice(llvm::Value* vector, int start, int count);
  llvm::Value* concatenate(llvm::ArrayRef<llvm::Value*> vectors);
  llvm::Value* reverse(llvm::Value* vector);
  llvm::Value* broadcast(llvm::Value* scalar) {
    return lanes == 1 ? scalar : CreateVectorSplat(static_cast<unsigned>(lanes), scalar);
  }

  // ---- control flow ----
  llvm::BasicBlock* block(const char* name) {
    return llvm::BasicBlock::Create(getContext(), name, function);
  }
  // Memory of this function, aligned for any vector.
  llvm::AllocaInst* stack(llvm::Type* type);

 private:
  llvm::Value* any(llvm::Value* mask);
};

}  // namespace lanewise::jit
