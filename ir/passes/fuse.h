// From graphs to kernels.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace lanewise::ir {

struct FuseOptions {
  // Which outputs may have gaps between their elements; none if empty.
  std::vector<bool> strided_outputs;
};

// The kernels that compute `graph`, an optimized graph of primitives, in an order in which they
// can run. Windows are composed into index maps; elementwise work fuses with whatever uses it;
// a reduction fuses with what produces its operand, and with its consumers where they walk the
// same rows. What remains between kernels is stored in temporaries, each value once.
//
// Equal parts of a graph give equal kernels. No kernel of constant sizes has an empty domain. Cost
// grows linearly with the graph, without recursion.
Program fuse(const Graph& graph, const FuseOptions& options = {});

}  // namespace lanewise::ir
