// From recorded nodes to a graph of the IR, and to the key under which its executable is kept.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "frontend/executable.h"
#include "frontend/node.h"

namespace lanewise::frontend {

// A leaf as the graph sees it: all of it, or a window of it, which costs nothing since a window of
// memory is memory with other strides.
struct LeafUse {
  Node* leaf = nullptr;
  const ir::Window* window = nullptr;  // nullptr: the whole leaf
  Shape shape;

  char* data() const;
};

// A recorded graph in order: what is pending, and what it needs from outside.
class Recorded {
 public:
  // Everything `roots` need, which are the first outputs. Stops at leaves.
  explicit Recorded(std::span<Node* const> roots);

  std::span<Node* const> nodes() const { return nodes_; }      // operands before users
  std::span<const LeafUse> leaves() const { return leaves_; }  // inputs of the graph
  std::vector<ArrayLayout> layouts() const;                    // of the leaves
  std::span<Node* const> windows() const { return windows_; }  // nodes that became leaf uses
  std::span<const Scalar> scalars() const { return scalars_; }

  // A further output: one of `nodes()`.
  void add_output(Node* node) { outputs_.push_back(node); }
  std::span<Node* const> outputs() const { return outputs_; }

  // Appends to `graph` (whose own inputs and scalars, those of a trace, come first) and returns the
  // value of each output.
  std::vector<ir::Value> append_to(ir::Graph& graph) const;
  // Graph with outputs and checks set.
  ir::Graph graph() const;

  // Words that tell two recorded graphs apart exactly if they need different executables:
  // structure, sizes, strides, special numbers; not other numbers, not addresses.
  std::vector<uint64_t> key() const;

 private:
  void visit(Node* root);
  // The number of this use of a leaf, a new one if there is none yet.
  uint32_t leaf_number(Node* leaf, const ir::Window* window, const Shape& shape);
  // The first use of the same leaf, and how far this one is behind it in bytes.
  std::pair<uint32_t, int64_t> place_in_leaf(uint32_t use) const;
  uint32_t find_use(const Node* leaf, const ir::Window* window, const Shape& shape) const;
  // Position in `nodes_`, or the number of a leaf use with kLeafBit.
  uint32_t number_of(const Node* node) const;

  std::vector<Node*> nodes_;
  std::vector<LeafUse> leaves_;
  std::vector<Node*> windows_;
  std::vector<uint32_t> next_use_;  // of the same leaf; kNoUse at the end
  std::vector<Scalar> scalars_;
  std::vector<Node*> outputs_;
  // While this object lives and no other walk has begun, Node::mark is the position in `nodes_`;
  // for a window of a leaf the number of its use with kLeafBit; for a leaf the last of its uses.
  uint64_t epoch_;
};

}  // namespace lanewise::frontend
