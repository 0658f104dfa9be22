#include "jit/detail/cold_function.h"

#include <algorithm>
#include <set>

namespace lanewise::jit {

namespace {

// Compiling a function costs about as much as this many nodes.
constexpr int64_t kShort = 24;

std::set<uint32_t> all_cold_nodes(const ir::Graph& body, const Section& section, uint32_t rare) {
  std::set<uint32_t> result;
  std::vector<uint32_t> entered{rare};
  while (!entered.empty()) {
    const auto cold = section.cold.find(entered.back());
    entered.pop_back();
    if (cold == section.cold.end()) continue;
    for (const uint32_t node : cold->second) {
      result.insert(node);
      if (body[ir::Value{node}].op == ir::Op::kRare) entered.push_back(node);
    }
  }
  return result;
}

int register_lanes(const VectorBuilder& b, int bytes) { return (b.has_avx512() ? 64 : 32) / bytes; }

}  // namespace

std::optional<ColdInterface> separable(const VectorBuilder& b, const ir::Graph& body,
                                       const Section& section, uint32_t rare) {
  const std::set<uint32_t> nodes = all_cold_nodes(body, section, rare);
  ColdInterface result;
  result.nodes = static_cast<int64_t>(nodes.size());
  if (result.nodes < kShort) return {};
  if (!nodes.contains(body[ir::Value{rare}].operands[2].index)) return {};
  const auto is_shared = [&](uint32_t node) {
    return std::ranges::find(section.shared, node) != section.shared.end();
  };
  std::set<uint32_t> outside;
  for (const uint32_t number : nodes) {
    const ir::Node& node = body[ir::Value{number}];
    if (node.op == ir::Op::kConstant) continue;
    if (ir::spec(node.op).kind != ir::OpKind::kPrimitive) return {};
    result.widest = std::max(result.widest, size_of(node.dtype));
    if (is_shared(number)) outside.insert(number);
    for (const ir::Value operand : node.inputs()) {
      if (body[operand].op == ir::Op::kConstant) continue;
      if (!nodes.contains(operand.index)) outside.insert(operand.index);
    }
  }
  for (const uint32_t node : outside) {
    (is_shared(node) ? result.shared : result.inputs).push_back(node);
  }
  if (b.lanes <= register_lanes(b, result.widest)) return {};
  return result;
}

llvm::Function* make_cold_function(VectorBuilder& caller, const ir::Graph& body,
                                   const ColdInterface& interface, DType result,
                                   const EmitCold& emit) {
  std::vector<uint32_t> nodes = interface.inputs;
  nodes.insert(nodes.end(), interface.shared.begin(), interface.shared.end());
  const std::vector<llvm::Type*> parameters(nodes.size() + 1, caller.getPtrTy());
  llvm::Function* const function =
      new_function(*caller.function->getParent(), caller.function->getName().str() + ".rare",
                   llvm::FunctionType::get(caller.getVoidTy(), parameters, false),
                   llvm::GlobalValue::InternalLinkage, caller.target);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::Cold);
  for (llvm::Argument& argument : function->args()) {
    argument.addAttr(llvm::Attribute::NoAlias);
    argument.addAttr(llvm::Attribute::getWithAlignment(function->getContext(), llvm::Align(64)));
  }

  VectorBuilder b(function, caller.target);
  b.lanes = register_lanes(caller, interface.widest);
  llvm::BasicBlock* const entry = b.block("entry");
  llvm::BasicBlock* const piece = b.block("piece");
  llvm::BasicBlock* const done = b.block("done");
  b.SetInsertPoint(entry);
  b.CreateBr(piece);
  b.SetInsertPoint(piece);
  llvm::PHINode* const start = b.CreatePHI(b.getInt64Ty(), 2);
  start->addIncoming(b.getInt64(0), entry);
  const auto place = [&](size_t parameter, DType dtype) {
    return b.CreateInBoundsGEP(b.element_in_memory(dtype), function->getArg(unsigned(parameter)),
                               start);
  };
  Places places;
  for (size_t i = 0; i < nodes.size(); ++i) {
    places[nodes[i]] = place(i, body[ir::Value{nodes[i]}].dtype);
  }
  llvm::Value* const value = emit(b, places);
  store_lanes(b, value, place(nodes.size(), result));
  llvm::Value* const next = b.CreateAdd(start, b.getInt64(b.lanes));
  start->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpULT(next, b.getInt64(caller.lanes)), piece, done);
  b.SetInsertPoint(done);
  b.CreateRetVoid();
  return function;
}

llvm::Value* load_lanes(VectorBuilder& b, DType dtype, llvm::Value* place) {
  llvm::Type* const type = b.vector_of(b.element_in_memory(dtype));
  llvm::Value* const value =
      b.CreateAlignedLoad(type, place, llvm::Align(static_cast<uint64_t>(size_of(dtype))));
  return is_bool(dtype) ? b.CreateICmpNE(value, b.like(value, 0)) : value;
}

void store_lanes(VectorBuilder& b, llvm::Value* value, llvm::Value* place) {
  llvm::Type* type = value->getType();
  if (type->getScalarType()->isIntegerTy(1)) {
    type = b.vector_of(b.getInt8Ty());
    value = b.CreateZExt(value, type);
  }
  b.CreateAlignedStore(value, place, llvm::Align(type->getScalarSizeInBits() / 8));
}

llvm::Value* stack_lanes(VectorBuilder& b, DType dtype) {
  return b.stack(b.vector_of(b.element_in_memory(dtype)));
}

}  // namespace lanewise::jit
