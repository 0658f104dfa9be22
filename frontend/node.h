// The recorded graph: nodes that stand for values not computed yet, and leaves that have them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "runtime/memory.h"

namespace lanewise::frontend {

using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::Source;

class Node;
struct Flight;

// A counted reference to a node. Dropping the last one destroys the node and what only it holds,
// without recursion. Counts are atomic; everything else of nodes and storages wants callers that
// exclude each other, as Python's GIL does.
class NodeRef {
 public:
  NodeRef() = default;
  explicit NodeRef(Node* node);  // takes a further reference
  NodeRef(const NodeRef& other);
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef();

  Node* get() const { return node_; }
  Node& operator*() const { return *node_; }
  Node* operator->() const { return node_; }
  explicit operator bool() const { return node_ != nullptr; }
  friend bool operator==(const NodeRef&, const NodeRef&) = default;

 private:
  friend class Node;
  Node* node_ = nullptr;
};

// Memory of a leaf: row-major without gaps, starting `offset` bytes into the buffer.
struct LeafData {
  runtime::BufferRef buffer;
  int64_t offset = 0;
  char* data() const { return buffer->data() + offset; }
};

// One value of the recorded graph. Immutable, but for evaluation, which turns a pending node into
// a leaf and drops its operands.
class Node {
 public:
  // A pending op. For Constant and Scalar nodes the attribute is the value (ir::Scalar); for an
  // Input (argument of a trace) the Slot.
  static NodeRef make(Op op, DType dtype, Shape shape, std::initializer_list<NodeRef> operands,
                      ir::Attribute attribute = {}, Source source = 0);
  static NodeRef leaf(DType dtype, Shape shape, LeafData data);

  Op op() const { return op_; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  const ir::Attribute& attribute() const { return attribute_; }
  Source source() const { return source_; }
  std::span<const NodeRef> operands() const { return {operands_.data(), arity_}; }

  bool is_leaf() const { return static_cast<bool>(data_.buffer); }
  const LeafData& data() const { return data_; }
  // True for an argument of a trace and whatever depends on one: it has no value now.
  bool is_traced() const { return traced_; }
  // Whether computing it may raise: pow of signed integers, whose exponents may be negative, and
  // whatever was written with one.
  bool may_fail() const { return may_fail_; }
  // Pending ops on the longest path to a leaf.
  uint32_t depth() const { return depth_; }

  // Evaluation: this node now has its bytes; operands are dropped.
  void become_leaf(LeafData data);

  // How many storages hold this node as their current value; such nodes are kept when a graph
  // that contains them is evaluated.
  std::atomic<uint32_t> storage_count = 0;
  // The evaluation that is computing this node right now, if any (evaluate.cpp).
  std::shared_ptr<Flight> flight;
  // Scratch of graph walks: valid while `mark_epoch` equals the walk's.
  uint64_t mark_epoch = 0;
  uint32_t mark = 0;

  uint32_t reference_count() const { return references_.load(std::memory_order_acquire); }

 private:
  friend class NodeRef;
  Node() = default;
  static void destroy(Node* node);

  std::atomic<uint32_t> references_ = 0;
  Op op_ = Op::kInput;
  DType dtype_ = DType::kF64;
  uint8_t arity_ = 0;
  bool traced_ = false;
  bool may_fail_ = false;
  uint32_t depth_ = 0;
  Shape shape_;
  std::array<NodeRef, ir::kMaxArity> operands_;
  ir::Attribute attribute_;
  Source source_ = 0;
  LeafData data_;
};

}  // namespace lanewise::frontend
