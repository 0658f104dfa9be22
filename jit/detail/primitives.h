// The emitters that ops.def names: one function a primitive, which appends its instructions for
// as many lanes as the builder has. Results are those of ir/element.h to the bit, but for the
// payload of NaN.
#pragma once

#include "ir/graph.h"
#include "jit/detail/vector_builder.h"

namespace lanewise::jit {

// One use of a primitive.
struct Operation {
  const ir::Node& node;
  DType dtype;  // of the operands that are not a condition
  std::array<llvm::Value*, ir::kMaxArity> operands = {};

  llvm::Value* a() const { return operands[0]; }
  llvm::Value* b() const { return operands[1]; }
  llvm::Value* c() const { return operands[2]; }
};

using Emitter = llvm::Value* (*)(VectorBuilder& builder, const Operation& operation);

#define STRUCTURAL(...)
#define COMPOSITE(...)
#define PRIMITIVE(id, name, emitter, ...) \
  llvm::Value* emitter(VectorBuilder& builder, const Operation& operation);
#include "ir/ops.def"
#undef STRUCTURAL
#undef COMPOSITE
#undef PRIMITIVE

// Throws InternalError if `op` is no primitive.
Emitter emitter_of(ir::Op op);

}  // namespace lanewise::jit
