// The graph: a function of arrays in static single assignment form.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/dim.h"
#include "ir/dtype.h"
#include "ir/op.h"

namespace lanewise::ir {

// The result of a node: its index in the graph.
struct Value {
  uint32_t index = UINT32_MAX;
  bool valid() const { return index != UINT32_MAX; }
  friend bool operator==(Value, Value) = default;
};

// A constant table of math expansions, found by name when IR text is parsed. Tables live in
// static storage; the entry count is a power of two.
struct Table {
  std::string name;
  DType dtype;
  std::vector<uint64_t> entries;  // bits of the values, zero extended
};

// ---- attributes: what a node says beyond its operands -------------------------------------

// Input and Scalar: the number of the argument. Iota: the axis. Load: the kernel operand.
struct Slot {
  int index = 0;
  friend bool operator==(const Slot&, const Slot&) = default;
};

// Window and Update: which elements of the (row-major) operand; the shape is that of the node,
// for Update that of the second operand.
struct Window {
  Dim offset;
  std::vector<Dim> strides;
  friend bool operator==(const Window&, const Window&) = default;
};

// Reductions and scans: the axes, ascending. A reduction's result lacks them.
struct Axes {
  std::vector<int> axes;
  friend bool operator==(const Axes&, const Axes&) = default;
};

// PowConst. Compared by bits, so that NaN equals itself and -0 differs from 0.
struct Exponent {
  double value = 1;
  friend bool operator==(const Exponent& a, const Exponent& b) {
    return std::bit_cast<uint64_t>(a.value) == std::bit_cast<uint64_t>(b.value);
  }
};

// std::monostate: none. Scalar: the value of a Constant. Table: of a TableLookup.
using Attribute =
    std::variant<std::monostate, lanewise::Scalar, Slot, Window, Axes, Exponent, const Table*>;

// Where Python wrote the op: opaque here, decoded by the frontend; 0 if unknown. Rides along,
// outside equality and keys.
using Source = uint64_t;

inline constexpr int kMaxArity = 3;

struct Node {
  Op op;
  DType dtype;
  Shape shape;
  std::array<Value, kMaxArity> operands = {};
  Attribute attribute = {};
  Source source = 0;

  int arity() const { return spec(op).arity; }
  std::span<const Value> inputs() const { return {operands.data(), static_cast<size_t>(arity())}; }
  std::span<Value> inputs() { return {operands.data(), static_cast<size_t>(arity())}; }
  template <class T>
  const T& get() const {
    return std::get<T>(attribute);
  }
};

// Equal but for the source.
bool same(const Node& a, const Node& b);
size_t hash(const Node& node);

// A condition that must hold for no element, checked before anything is stored: `predicate` is
// a bool array that is true where `op` would fault ("power: negative exponent ...").
struct Check {
  Value predicate;
  std::string message;
  Source source = 0;
};

// An argument of a graph. `contiguous` promises row-major order without gaps, which lets views
// of it be reshaped without a copy.
struct Parameter {
  std::string name;
  DType dtype = DType::kF64;
  Shape shape;
  bool contiguous = true;
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// Nodes are in topological order: operands come before their users.
class Graph {
 public:
  std::string name = "f";
  std::vector<Parameter> inputs;  // Input nodes refer to them by number
  std::vector<DType> scalars;     // dtypes of the scalar arguments
  std::vector<Value> outputs;
  std::vector<Check> checks;

  // Appends without checking; `Builder` infers and checks.
  Value append(Node node) {
    nodes_.push_back(std::move(node));
    return Value{static_cast<uint32_t>(nodes_.size() - 1)};
  }
  const Node& operator[](Value value) const { return nodes_[value.index]; }
  Node& operator[](Value value) { return nodes_[value.index]; }
  std::span<const Node> nodes() const { return nodes_; }
  size_t size() const { return nodes_.size(); }
  Value value(size_t index) const { return Value{static_cast<uint32_t>(index)}; }

  // A graph with this one's name, inputs and scalars, without nodes: where a pass starts.
  Graph like() const;

 private:
  std::vector<Node> nodes_;
};

// Same function: equal arguments, and equal nodes, outputs and checks in the same order.
// Sources do not count.
bool operator==(const Graph& a, const Graph& b);

// True if the window is all of an array of shape `operand`, in order.
bool is_identity(const Window& window, const Shape& operand, const Shape& result);

}  // namespace lanewise::ir
