#include "jit/detail/body.h"

#include "jit/detail/primitives.h"

namespace lanewise::jit {

void Body::emit(const Section& section, const Leaf& leaf) {
  shared_.clear();
  for (const uint32_t node : section.shared) {
    shared_[node] = stack_lanes(b_, graph_[ir::Value{node}].dtype);
  }
  for (const uint32_t node : section.nodes) emit_node(section, node, leaf);
  shared_.clear();
}

llvm::Value* Body::value(ir::Value value) {
  const ir::Node& node = graph_[value];
  if (node.op == ir::Op::kConstant) return b_.constant(node.get<lanewise::Scalar>());
  const auto kept = shared_.find(value.index);
  if (kept != shared_.end()) return load_lanes(b_, node.dtype, kept->second);
  return values()[value.index];
}

void Body::broadcast(uint32_t node, int lanes) {
  if (graph_[ir::Value{node}].op == ir::Op::kConstant) return;
  vectors_[node] = b_.CreateVectorSplat(static_cast<unsigned>(lanes), scalars_[node]);
}

void Body::emit_node(const Section& section, uint32_t number, const Leaf& leaf) {
  llvm::Value* const emitted = emit_value(section, number, leaf);
  const auto kept = shared_.find(number);
  if (kept != shared_.end()) store_lanes(b_, emitted, kept->second);
  values()[number] = emitted;
}

llvm::Value* Body::emit_value(const Section& section, uint32_t number, const Leaf& leaf) {
  const ir::Node& node = graph_[ir::Value{number}];
  if (ir::spec(node.op).kind != ir::OpKind::kPrimitive) return leaf(node);
  if (node.op == ir::Op::kRare) {
    const auto cold = section.cold.find(number);
    if (cold != section.cold.end()) {
      return b_.unless_any(value(node.operands[0]), value(node.operands[1]),
                           [&] { return emit_cold(section, number, leaf); });
    }
  }
  Operation operation{.node = node, .dtype = graph_[node.inputs().back()].dtype};
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    operation.operands[i] = value(node.operands[i]);
  }
  return emitter_of(node.op)(b_, operation);
}

llvm::Value* Body::emit_cold(const Section& section, uint32_t rare, const Leaf& leaf) {
  if (cold_function(section, rare) != nullptr) return call_cold(section, rare);
  for (const uint32_t inner : section.cold.at(rare)) emit_node(section, inner, leaf);
  return value(graph_[ir::Value{rare}].operands[2]);
}

const Body::ColdFunction* Body::cold_function(const Section& section, uint32_t rare) {
  auto [known, is_new] = cold_functions_.try_emplace({&section, rare, b_.lanes});
  std::optional<ColdFunction>& cold = known->second;
  if (!is_new) return cold ? &*cold : nullptr;
  const std::optional<ColdInterface> interface = separable(b_, graph_, section, rare);
  if (!interface) return nullptr;
  const ir::Value result = graph_[ir::Value{rare}].operands[2];
  const auto emit = [&](VectorBuilder& b, const Places& places) {
    Body inner(b, graph_);
    for (const uint32_t node : interface->inputs) {
      inner.set(ir::Value{node}, load_lanes(b, graph_[ir::Value{node}].dtype, places.at(node)));
    }
    for (const uint32_t node : interface->shared) inner.shared_[node] = places.at(node);
    for (const uint32_t node : section.cold.at(rare)) inner.emit_node(section, node, {});
    return inner.value(result);
  };
  llvm::Function* const function =
      make_cold_function(b_, graph_, *interface, graph_[result].dtype, emit);
  cold = ColdFunction{function, *interface};
  return &*cold;
}

llvm::Value* Body::call_cold(const Section& section, uint32_t rare) {
  const ColdFunction& cold = *cold_function(section, rare);
  std::vector<llvm::Value*> arguments;
  for (const uint32_t node : cold.interface.inputs) {
    arguments.push_back(stack_lanes(b_, graph_[ir::Value{node}].dtype));
    store_lanes(b_, value(ir::Value{node}), arguments.back());
  }
  for (const uint32_t node : cold.interface.shared) arguments.push_back(shared_.at(node));
  const DType dtype = graph_[graph_[ir::Value{rare}].operands[2]].dtype;
  arguments.push_back(stack_lanes(b_, dtype));
  b_.CreateCall(cold.function, arguments);
  return load_lanes(b_, dtype, arguments.back());
}

}  // namespace lanewise::jit
