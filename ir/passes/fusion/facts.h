// What fusion wants to know of each node of a graph before planning.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace lanewise::ir::fusion {

struct Facts {
  // About how many simple operations one element costs when computed from stored values: those
  // that are stored anyway (arguments, reductions, scans, updates) count as a load.
  uint32_t work = 0;
  // How many elements are reduced by the reductions that the value is made of element by element:
  // kNoRows without any, kMixedRows if they differ.
  Dim rows = 0;
};
inline constexpr int64_t kNoRows = 0;
inline constexpr int64_t kMixedRows = -1;

// What one access to memory counts as `work`.
inline constexpr uint32_t kLoadWork = 4;

std::vector<Facts> analyze(const Graph& graph);

// The number of elements a reduction node combines into one.
Dim reduced_count(const Graph& graph, const Node& reduction);
// The shape without the axes that a reduction removes, and only those.
Shape reduced_shape(const Graph& graph, const Node& reduction);

// A number for cost decisions: sizes that are not known are taken for middling.
double estimate(const Dim& size);

}  // namespace lanewise::ir::fusion
