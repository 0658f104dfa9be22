// What fusion does to a graph before planning.
#pragma once

#include <vector>

#include "ir/passes/fuse.h"

namespace lanewise::ir::fusion {

struct Prepared {
  Graph graph;
  // One for each check of the graph: the first element that fails it (see FirstFailure), or
  // invalid if there are no elements.
  std::vector<Value> failures;
};

// Makes checks values of the graph, gives outputs that nothing else may read or that must not be
// stored early a copy of their own, and removes reductions and updates of nothing.
Prepared prepare(const Graph& graph, const FuseOptions& options);

}  // namespace lanewise::ir::fusion
