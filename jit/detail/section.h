// The nodes of a body that are computed at one place, in order, with the nodes that only rare lanes
// need set apart.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"

namespace lanewise::jit {

struct Section {
  // Computed always. A Rare node stands where its cold code is entered, if it has any.
  std::vector<uint32_t> nodes;
  // By Rare node: what only rare lanes need, computed in its cold code.
  std::unordered_map<uint32_t, std::vector<uint32_t>> cold;
  // Nodes of cold code whose values the cold code of a later Rare node with the same mask uses,
  // hence runs only if this one did.
  std::vector<uint32_t> shared;
};

// `nodes` are the numbers of the nodes of the section, ascending; those in `kept` (by node number)
// are used elsewhere as well, so always computed. Operands outside the section are available.
Section make_section(const ir::Graph& body, std::span<const uint32_t> nodes,
                     const std::vector<bool>& kept);

}  // namespace lanewise::jit
