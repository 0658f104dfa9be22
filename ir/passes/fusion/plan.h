// Which values are stored, and which loop nest computes what.
//
// Nodes are visited from the results back to the arguments. Each use of a node says which group
// (loop nest) wants it and by which index map. A node whose uses are settled is either computed
// where it is used (in every group that uses it, for each index map) or stored by one group, its
// home, and loaded by the others. Groups never depend on each other in a circle.
#pragma once

#include <unordered_map>
#include <vector>

#include "ir/index_map.h"
#include "ir/passes/fusion/facts.h"
#include "ir/passes/fusion/prepare.h"

namespace lanewise::ir::fusion {

// Index maps by number; equal maps have one number.
class Maps {
 public:
  int intern(IndexMap map);
  const IndexMap& operator[](int number) const { return maps_[static_cast<size_t>(number)]; }

 private:
  std::vector<IndexMap> maps_;
  std::unordered_multimap<size_t, int> numbers_;
};

// One node at one index map in a group: computed there, or loaded.
struct Item {
  uint32_t node;
  int map;
  int operand_map = -1;  // of the operand of a window or a reduction
  bool load = false;
};

// A value that a group stores: `node` at the index map, for an update its second operand.
struct Root {
  uint32_t node;
  int map;
};

// A loop nest in the making.
struct Group {
  Loops loops;
  bool early = false;       // decides a check, so runs before anything else
  std::vector<Item> items;  // users before operands
  std::vector<Root> roots;
  std::vector<int> needs;  // groups whose results it loads
  // What it was made for: loops 0, 1, ... walk `shape`; `rows` as in Facts.
  Shape shape;
  Dim rows;
  // An index map that visits each element at just one point, with as many loops as there were.
  int everywhere = -1;
  size_t everywhere_loops = 0;
};

struct Plan {
  Graph graph;
  std::vector<Value> failures;
  Maps maps;
  std::vector<Group> groups;
  std::vector<int> home;  // for each node: the group that stores it, or -1
};

Plan plan(Prepared prepared, const FuseLimits& limits);

}  // namespace lanewise::ir::fusion
