#include "frontend/node.h"

#include <algorithm>

namespace lanewise::frontend {

NodeRef::NodeRef(Node* node) : node_(node) {
  if (node_) node_->references_.fetch_add(1, std::memory_order_relaxed);
}

NodeRef::NodeRef(const NodeRef& other) : NodeRef(other.node_) {}

NodeRef::~NodeRef() {
  if (node_ && node_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Node::destroy(node_);
  }
}

// A dying node hands its operands to a list of the thread instead of recursing into them.
void Node::destroy(Node* node) {
  thread_local std::vector<Node*> dying;
  thread_local bool draining = false;
  dying.push_back(node);
  if (draining) return;
  draining = true;
  while (!dying.empty()) {
    Node* next = dying.back();
    dying.pop_back();
    delete next;  // NodeRefs among its members come back here and are queued
  }
  draining = false;
}

namespace {

// Sizes may be names while a function is traced.
bool has_constant_sizes(const Node& node) {
  if (!node.shape().is_constant()) return false;
  const auto* window = std::get_if<ir::Window>(&node.attribute());
  return window == nullptr ||
         (window->offset.is_constant() && std::ranges::all_of(window->strides, &Dim::is_constant));
}

}  // namespace

NodeRef Node::make(Op op, DType dtype, Shape shape, std::initializer_list<NodeRef> operands,
                   ir::Attribute attribute, Source source) {
  NodeRef ref(new Node);
  Node& node = *ref;
  node.op_ = op;
  node.dtype_ = dtype;
  node.shape_ = std::move(shape);
  node.attribute_ = std::move(attribute);
  node.source_ = source;
  const bool slot = std::holds_alternative<ir::Slot>(node.attribute_);
  node.traced_ = op == Op::kInput || (op == Op::kScalar && slot) || !has_constant_sizes(node);
  node.may_fail_ = op == Op::kPow && is_signed_int(dtype);
  for (const NodeRef& operand : operands) {
    node.traced_ |= operand->traced_;
    node.may_fail_ |= operand->may_fail_;
    node.depth_ = std::max(node.depth_, operand->depth_);
    node.operands_[node.arity_++] = operand;
  }
  ++node.depth_;
  return ref;
}

NodeRef Node::leaf(DType dtype, Shape shape, LeafData data) {
  NodeRef ref(new Node);
  ref->dtype_ = dtype;
  ref->shape_ = std::move(shape);
  ref->data_ = std::move(data);
  return ref;
}

void Node::become_leaf(LeafData data) {
  data_ = std::move(data);
  op_ = Op::kInput;
  attribute_ = {};
  may_fail_ = false;
  depth_ = 0;
  arity_ = 0;
  operands_ = {};
}

}  // namespace lanewise::frontend
