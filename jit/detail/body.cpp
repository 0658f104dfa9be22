#include "jit/detail/body.h"

#include "jit/detail/primitives.h"

namespace lanewise::jit {

void Body::emit(const Section& section, const Leaf& leaf) {
  shared_.clear();
  for (const uint32_t node : section.shared) {
    shared_[node] = b_.stack(b_.vector(graph_[ir::Value{node}].dtype));
  }
  for (const uint32_t node : section.nodes) emit_node(section, node, leaf);
  shared_.clear();
}

llvm::Value* Body::value(ir::Value value) {
  const ir::Node& node = graph_[value];
  if (node.op == ir::Op::kConstant) return b_.constant(node.get<lanewise::Scalar>());
  const auto kept = shared_.find(value.index);
  if (kept != shared_.end()) return b_.CreateLoad(b_.vector(node.dtype), kept->second);
  return values()[value.index];
}

void Body::broadcast(uint32_t node, int lanes) {
  if (graph_[ir::Value{node}].op == ir::Op::kConstant) return;
  vectors_[node] = b_.CreateVectorSplat(static_cast<unsigned>(lanes), scalars_[node]);
}

void Body::emit_node(const Section& section, uint32_t number, const Leaf& leaf) {
  llvm::Value* const emitted = emit_value(section, number, leaf);
  const auto kept = shared_.find(number);
  if (kept != shared_.end()) b_.CreateStore(emitted, kept->second);
  values()[number] = emitted;
}

llvm::Value* Body::emit_value(const Section& section, uint32_t number, const Leaf& leaf) {
  const ir::Node& node = graph_[ir::Value{number}];
  if (ir::spec(node.op).kind != ir::OpKind::kPrimitive) return leaf(node);
  if (node.op == ir::Op::kRare) {
    const auto cold = section.cold.find(number);
    if (cold != section.cold.end()) {
      return b_.unless_any(value(node.operands[0]), value(node.operands[1]), [&] {
        for (const uint32_t inner : cold->second) emit_node(section, inner, leaf);
        return value(node.operands[2]);
      });
    }
  }
  Operation operation{.node = node, .dtype = graph_[node.inputs().back()].dtype};
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    operation.operands[i] = value(node.operands[i]);
  }
  return emitter_of(node.op)(b_, operation);
}

}  // namespace lanewise::jit
