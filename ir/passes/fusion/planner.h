// How a plan is made. Its parts stand in plan.cpp (the walk over the graph), decide.cpp (computing
// where used, or storing) and homes.cpp (who stores what).
#pragma once

#include <optional>

#include "ir/passes/fusion/plan.h"

namespace lanewise::ir::fusion {

// A use of a node: by which group, at which index map.
struct Demand {
  // The buffer is wanted, not its elements: the base of an update.
  static constexpr int kWholeBuffer = -1;

  int group;
  int map;
  // Some use is made at every point of the reduced loops, though the map does not name them.
  bool at_points = false;
};
using Demands = std::vector<Demand>;

// A place where a node is computed: a group and an index map.
struct Place {
  int group;
  int map;
};

class Planner {
 public:
  Planner(Prepared prepared, const FuseLimits& limits);
  Plan run();

 private:
  const Node& node(uint32_t index) const { return plan_.graph[plan_.graph.value(index)]; }
  // False for a reduction over axes of size 1, which is only a view.
  bool reduces(uint32_t index) const {
    return is_reduction(node(index).op) && !reduced_count(plan_.graph, node(index)).is(1);
  }
  bool scans(uint32_t index) const {
    const Node& n = node(index);
    return is_scan(n.op) && !n.shape[n.get<Axes>().axes[0]].is(1);
  }
  Group& group(int number) { return plan_.groups[static_cast<size_t>(number)]; }

  void visit(uint32_t index);
  void visit_input(uint32_t index, const Demands& demands);
  Demands take_demands(uint32_t index);

  // Deciding between computing where used and storing.
  bool can_compute(uint32_t index, const Demand& demand);
  bool must_store(uint32_t index, const Demands& demands);
  bool worth_storing(uint32_t index, const Demands& demands);
  bool rows_fit(const Demand& demand, const std::vector<int>& covering, const Dim& rows);
  std::vector<int> other_loops(int group_number, const std::vector<int>& covering);
  struct ReductionFit {
    IndexMap result;                  // where the use wants the result, on its shape
    std::vector<int> rows;            // loops that walk the reduced axes; none: yet to be appended
    std::optional<IndexMap> reduced;  // the reduced axes alone, if there are loops for them
  };
  std::optional<ReductionFit> fit_reduction(uint32_t index, const Demand& demand);
  IndexMap reduction_operand(uint32_t index, const Demand& demand);
  std::optional<IndexMap> fit_scan(uint32_t index, const Demand& demand);
  IndexMap scan_operand(uint32_t index, const Demand& demand);

  // Choosing the home of a stored node.
  void store(uint32_t index, const Demands& demands);
  Place choose_home(uint32_t index, const Demands& demands);
  std::optional<Place> home_among_users(uint32_t index, const Demands& demands);
  std::optional<Place> home_of_operand(uint32_t index, const Demands& demands);
  std::optional<Place> home_of_siblings(uint32_t index, const Demands& demands);
  Place new_home(uint32_t index, const Demands& demands);
  bool may_be_home(int candidate, const Demands& demands);
  bool computes_each_once(uint32_t index, const Demand& demand);
  bool is_early(const Demands& demands) const;
  bool depends(int group_number, int on);

  // Recording.
  void compute(uint32_t index, const Demand& demand);
  void load(uint32_t index, const Demand& demand);
  void demand_operands(uint32_t index, const Demand& demand, Item& item);
  void demand(Value value, Demand demand);

  // The shape that a node's loops walk when it is stored: that of the value for an update.
  const Shape& stored_shape(uint32_t index) const;
  const Dim& stored_rows(uint32_t index) const;

  const FuseLimits limits_;
  Plan plan_;
  std::vector<Facts> facts_;
  std::vector<Demands> demands_;
  std::vector<bool> wanted_;  // results and checks
  std::vector<bool> early_;
  std::unordered_map<size_t, std::vector<int>> groups_by_shape_;
  std::vector<uint32_t> visited_;  // for each group: the number of the last search that met it
  uint32_t search_ = 0;
};

}  // namespace lanewise::ir::fusion
