#include "jit/detail/vector_builder.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include <numeric>

namespace lanewise::jit {

llvm::Function* new_function(llvm::Module& module, const std::string& name,
                             llvm::FunctionType* type, llvm::GlobalValue::LinkageTypes linkage,
                             Target target) {
  llvm::Function* const function = llvm::Function::Create(type, linkage, name, module);
  function->addFnAttr("target-cpu", to_string(target));
  if (target == Target::kX86_64_v4) function->addFnAttr("prefer-vector-width", "512");
  function->addFnAttr(llvm::Attribute::NoUnwind);
  return function;
}

llvm::Type* VectorBuilder::element(DType dtype) {
  if (is_bool(dtype)) return getInt1Ty();
  if (dtype == DType::kF32) return getFloatTy();
  if (dtype == DType::kF64) return getDoubleTy();
  return getIntNTy(static_cast<unsigned>(size_of(dtype)) * 8);
}

llvm::Type* VectorBuilder::element_in_memory(DType dtype) {
  return is_bool(dtype) ? getInt8Ty() : element(dtype);
}

llvm::Type* VectorBuilder::integer_like(llvm::Value* value) {
  llvm::Type* const type = value->getType();
  return type->getWithNewType(getIntNTy(type->getScalarSizeInBits()));
}

llvm::Constant* VectorBuilder::like(llvm::Value* value, double number) {
  llvm::Type* const type = value->getType();
  if (type->isFPOrFPVectorTy()) return llvm::ConstantFP::get(type, number);
  return llvm::ConstantInt::getSigned(type, static_cast<int64_t>(number));
}

llvm::Constant* VectorBuilder::like_bits(llvm::Value* value, uint64_t bits) {
  llvm::Type* const type = value->getType();
  const llvm::APInt integer(type->getScalarSizeInBits(), bits, false, true);
  if (type->isIntOrIntVectorTy()) return llvm::ConstantInt::get(type, integer);
  const llvm::fltSemantics& semantics = type->getScalarType()->getFltSemantics();
  return llvm::ConstantFP::get(type, llvm::APFloat(semantics, integer));
}

llvm::Constant* VectorBuilder::constant(lanewise::Scalar number) {
  llvm::Type* const type = vector(number.dtype);
  return like_bits(llvm::PoisonValue::get(type), number.bits);
}

llvm::Constant* VectorBuilder::integers(int bits, int64_t number) {
  llvm::Type* const type = vector_of(getIntNTy(static_cast<unsigned>(bits)));
  return llvm::ConstantInt::getSigned(type, number);
}

llvm::Value* VectorBuilder::any(llvm::Value* mask) {
  if (lanes == 1) return mask;
  if (active != nullptr) mask = CreateAnd(mask, active);
  return CreateOrReduce(mask);
}

llvm::Value* VectorBuilder::unless_any(llvm::Value* mask, llvm::Value* common,
                                       const std::function<llvm::Value*()>& rare) {
  if (const auto* known = llvm::dyn_cast<llvm::Constant>(mask)) {
    if (known->isNullValue()) return common;
  }
  // A vector of bits that leaves its block has no register on AVX2: carry the signs of integers as
  // wide as the elements instead, which blends take as they are.
  llvm::Value* wide = nullptr;
  if (lanes > 1 && !has_avx512()) {
    const unsigned bits = std::max(8U, common->getType()->getScalarSizeInBits());
    wide = CreateSExt(mask, vector_of(getIntNTy(bits)));
  }
  llvm::BasicBlock* const before = GetInsertBlock();
  llvm::BasicBlock* const cold = block("rare");
  llvm::BasicBlock* const after = block("common");
  CreateCondBr(any(mask), cold, after,
               llvm::MDBuilder(getContext()).createBranchWeights(1, 100000));

  SetInsertPoint(cold);
  llvm::Value* const unusual = rare();
  if (wide != nullptr) mask = CreateICmpSLT(wide, like(wide, 0));
  llvm::Value* const blended = select(mask, unusual, common);
  llvm::BasicBlock* const cold_end = GetInsertBlock();
  CreateBr(after);

  SetInsertPoint(after);
  llvm::PHINode* const result = CreatePHI(common->getType(), 2);
  result->addIncoming(common, before);
  result->addIncoming(blended, cold_end);
  return result;
}

llvm::Value* VectorBuilder::slice(llvm::Value* vector, int start, int count) {
  llvm::SmallVector<int, 64> lanes_taken(static_cast<size_t>(count));
  std::iota(lanes_taken.begin(), lanes_taken.end(), start);
  return CreateShuffleVector(vector, lanes_taken);
}

llvm::Value* VectorBuilder::concatenate(llvm::ArrayRef<llvm::Value*> vectors) {
  llvm::SmallVector<llvm::Value*, 8> parts(vectors);
  while (parts.size() > 1) {
    llvm::SmallVector<llvm::Value*, 8> joined;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) {
      const auto* type = llvm::cast<llvm::FixedVectorType>(parts[i]->getType());
      llvm::SmallVector<int, 128> order(2 * type->getNumElements());
      std::iota(order.begin(), order.end(), 0);
      joined.push_back(CreateShuffleVector(parts[i], parts[i + 1], order));
    }
    parts = joined;
  }
  return parts[0];
}

llvm::Value* VectorBuilder::by_pieces(
    int size, llvm::ArrayRef<llvm::Value*> vectors,
    const std::function<llvm::Value*(llvm::ArrayRef<llvm::Value*>)>& function) {
  const int whole = lanes;
  llvm::SmallVector<llvm::Value*, 8> results;
  const int step = std::min(size, whole);
  for (int start = 0; start < whole; start += step) {
    llvm::SmallVector<llvm::Value*, 4> piece;
    for (llvm::Value* vector : vectors) {
      llvm::Value* part = step == whole ? vector : slice(vector, start, step);
      // Short vectors are filled up; the extra lanes may hold anything.
      if (step < size) {
        llvm::SmallVector<int, 64> order(static_cast<size_t>(size), -1);
        std::iota(order.begin(), order.begin() + step, 0);
        part = CreateShuffleVector(part, order);
      }
      piece.push_back(part);
    }
    lanes = size;
    results.push_back(function(piece));
    lanes = whole;
  }
  llvm::Value* const joined = concatenate(results);
  return step < size ? slice(joined, 0, step) : joined;
}

llvm::Value* VectorBuilder::reverse(llvm::Value* vector) {
  llvm::SmallVector<int, 64> order(static_cast<size_t>(lanes));
  std::iota(order.rbegin(), order.rend(), 0);
  return CreateShuffleVector(vector, order);
}

llvm::AllocaInst* VectorBuilder::stack(llvm::Type* type) {
  llvm::IRBuilder<> entry(&function->getEntryBlock(), function->getEntryBlock().begin());
  llvm::AllocaInst* const memory = entry.CreateAlloca(type);
  const llvm::DataLayout& layout = function->getParent()->getDataLayout();
  memory->setAlignment(std::max(llvm::Align(64), layout.getABITypeAlign(type)));
  return memory;
}

}  // namespace lanewise::jit
