// Kernels before they are cut to size.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/kernel.h"

namespace lanewise::ir::fusion {

// All work of a group in one body. As in Kernel, but Scalar nodes name program scalars, equal
// nodes exist once, and nothing is in canonical order. `operands` are loads and indices.
struct Draft {
  Shape domain;
  int reduced = 0;
  Graph body;
  std::vector<Operand> operands;
  struct Store {
    Operand operand;
    Value value;
  };
  std::vector<Store> stores;
};

// A body in which equal nodes exist once.
class BodyBuilder {
 public:
  explicit BodyBuilder(Graph& body) : body_(body) {}
  Value add(Node node);

 private:
  Graph& body_;
  std::unordered_multimap<size_t, Value> values_;
};

// The number of the axis' loop where the axis is that loop and nothing else, or -1.
int plain_loop(const AxisIndex& axis);

// The draft's loops walked as one, where all that it touches allows it. False if not.
bool flatten(Draft& draft, const std::vector<Buffer>& buffers);

}  // namespace lanewise::ir::fusion
