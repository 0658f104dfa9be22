// Elementwise ops on vectors, through the reference interpreter.
#pragma once

#include <vector>

#include "ir/builder.h"
#include "ir/interpret.h"

namespace lanewise::test {

// op(operands...), element by element; R is the C++ type of the op's result.
template <class R, class... Ts>
std::vector<R> apply_op(ir::Op op, const std::vector<Ts>&... operands) {
  ir::Graph graph;
  ir::Builder builder(graph);
  const auto input = [&]<class T>(const std::vector<T>& v) {
    return builder.input("x", dtype_of<T>(), {ir::Dim(static_cast<int64_t>(v.size()))});
  };
  graph.outputs = {builder.apply(op, {input(operands)...})};
  const std::vector<ir::Tensor> inputs{
      ir::Tensor::of<Ts>({static_cast<int64_t>(operands.size())}, operands)...};
  const ir::Tensor result = ir::interpret(graph, inputs).at(0);
  const auto values = result.values<R>();
  return {values.begin(), values.end()};
}

}  // namespace lanewise::test
