// Rules for nodes that hold in graphs and in the bodies of kernels.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"
#include "support/format.h"

namespace lanewise::ir::detail {

// Nothing, or what is wrong.
using Complaint = std::optional<std::string>;

template <class... Args>
Complaint complaint(std::string_view pattern, const Args&... args) {
  return format(pattern, args...);
}

// Operands come before the node, the attribute is of the op's kind, sizes are not negative. All
// further rules need this one to hold. In kernels reductions have no attribute.
Complaint check_form(const Graph& graph, size_t index, bool in_kernel);

Complaint check_sizes(const Shape& shape);
Complaint check_constant(const Node& node);

// Dtypes of operands and result of an elementwise op or reduction.
Complaint check_dtypes(const Graph& graph, const Node& node);
Complaint check_elementwise(const Graph& graph, const Node& node);

}  // namespace lanewise::ir::detail
