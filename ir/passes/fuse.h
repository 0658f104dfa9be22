// From graphs to kernels.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace lanewise::ir {

// What decides between one kernel and several, and between storing a value and computing it again.
// Results never depend on it.
struct FuseLimits {
  // The most that one kernel holds: primitives and reductions, and arrays. Beyond this, compile
  // time and the pressure on registers grow faster than what one loop saves.
  int primitives = 256;
  int operands = 24;
  // Rows of more elements are not kept in cache: point values do not use reductions over them.
  int64_t long_row = 65536;
  // The same of rows whose elements are not next to each other, as far as that can be told: few
  // neighbouring rows share a line of the cache.
  int64_t long_column = 2048;
  // What storing a value costs, in simple operations: each element, and a further kernel.
  double store_work = 8;
  double launch_work = 1000;
};

struct FuseOptions {
  FuseLimits limits = {};
  // Which outputs may have gaps between their elements; none if empty.
  std::vector<bool> strided_outputs = {};
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
