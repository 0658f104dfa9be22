// The reference interpreter: one element after the other, one op after the other. It defines what
// a graph means, to the bit; passes and machine code are compared with it.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/tensor.h"

namespace lanewise::ir {

// The outputs of the graph. Composite ops are expanded first. Symbolic sizes take their values from
// the shapes of `inputs`. Throws ValueError where a check fails, naming the element; ShapeError and
// DTypeError where arguments do not fit the parameters.
std::vector<Tensor> interpret(const Graph& graph, std::span<const Tensor> inputs,
                              std::span<const Scalar> scalars = {});

// One element of a primitive: `node` gives op, dtype and attribute.
Scalar interpret_element(const Node& node, std::span<const Scalar> operands);

// The same for `count` elements each in a row; all operands that are not a condition have the dtype
// `operand_dtype`.
void interpret_elements(const Node& node, DType operand_dtype,
                        std::span<const std::byte* const> operands, std::byte* result,
                        int64_t count);

// Values for the symbols of the parameters' shapes, so that they become the shapes given. Throws
// ShapeError where there are none.
using SymbolValues = std::vector<std::pair<std::string, int64_t>>;
SymbolValues bind_symbols(std::span<const Parameter> parameters,
                          std::span<const std::vector<int64_t>> shapes);
std::vector<int64_t> evaluate(const Shape& shape, const SymbolValues& symbols);

}  // namespace lanewise::ir
