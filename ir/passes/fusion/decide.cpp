// Whether a node is computed where it is used, or stored.
#include <algorithm>

#include "ir/passes/fusion/planner.h"
#include "support/error.h"

namespace lanewise::ir::fusion {

namespace {

// Storing must be cheaper than computing again by this factor.
constexpr double kRecomputeBonus = 1.5;

// The loops that walk the axis of a scan, outermost first; `map` is on the shape of the scan.
std::vector<int> axis_loops(const IndexMap& map, const Node& scan, const Loops& loops) {
  const int axis = scan.get<Axes>().axes[0];
  const IndexMap alone{Shape{scan.shape[axis]}, {map.axes[static_cast<size_t>(axis)]}};
  return covering_loops(alone, loops).value_or(std::vector<int>{});
}

}  // namespace

std::vector<int> Planner::other_loops(int group_number, const std::vector<int>& covering) {
  std::vector<int> others;
  for (const int loop : group(group_number).loops.order()) {
    if (std::ranges::find(covering, loop) == covering.end()) others.push_back(loop);
  }
  return others;
}

// The loops besides `covering` walk rows of `rows` elements that the group reduces or may come to
// reduce; none are left where the group may get them.
bool Planner::rows_fit(const Demand& demand, const std::vector<int>& covering, const Dim& rows) {
  const Loops& loops = group(demand.group).loops;
  const std::vector<int> others = other_loops(demand.group, covering);
  const std::vector<int> reduced = loops.reduced_loops();
  if (!reduced.empty() && others != reduced) return false;
  if (demand.at_points && rows.is_constant() && rows.value() > limits_.long_row) return false;
  if (others.empty()) return true;
  const bool short_column = rows.is_constant() && rows.value() <= limits_.long_column;
  if (reduced.empty() && !short_column &&
      !std::ranges::equal(others, std::span(loops.order()).last(others.size()))) {
    return false;
  }
  Dim count = 1;
  for (const int loop : others) count = count * loops.size(loop);
  return count == rows;
}

// Whether a reduction can be part of the group that uses it.
std::optional<Planner::ReductionFit> Planner::fit_reduction(uint32_t index, const Demand& demand) {
  Loops& loops = group(demand.group).loops;
  auto result = see_as(plan_.maps[demand.map], node(index).shape, loops);
  if (!result) return std::nullopt;
  const Shape rows = reduced_shape(plan_.graph, node(index));
  if (!reduces(index)) {
    const IndexMap first{rows, std::vector<AxisIndex>(static_cast<size_t>(rows.rank()))};
    return ReductionFit{std::move(*result), {}, first};
  }
  const auto covering = covering_loops(*result, loops);
  if (!covering || !rows_fit(demand, *covering, facts_[index].rows)) return std::nullopt;
  ReductionFit fit{std::move(*result), other_loops(demand.group, *covering), std::nullopt};
  if (fit.rows.empty()) return fit;
  // These loops, in order, must walk the reduced axes.
  AxisIndex flat;
  Dim stride = 1;
  for (size_t i = fit.rows.size(); i-- > 0;) {
    flat = add(flat, AxisIndex{0, {{fit.rows[i], stride}}});
    stride = stride * loops.size(fit.rows[i]);
  }
  fit.reduced = see_as({Shape{stride}, {flat}}, rows, loops);
  if (!fit.reduced) return std::nullopt;
  return fit;
}

// The operand's index map of a reduction that fits; appends the reduced loops where there are none.
IndexMap Planner::reduction_operand(uint32_t index, const Demand& demand) {
  const Node& n = node(index);
  const auto fit = fit_reduction(index, demand);
  if (!fit) throw InternalError("fuse: a reduction does not fit its place");
  Loops& loops = group(demand.group).loops;
  const IndexMap reduced =
      fit->reduced ? *fit->reduced : append_loops(reduced_shape(plan_.graph, n), loops);
  IndexMap map{plan_.graph[n.operands[0]].shape, {}};
  auto kept_axis = fit->result.axes.begin();
  auto reduced_axis = reduced.axes.begin();
  for (int axis = 0; axis < map.shape.rank(); ++axis) {
    const bool is_reduced = std::ranges::binary_search(n.get<Axes>().axes, axis);
    map.axes.push_back(is_reduced ? *reduced_axis++ : *kept_axis++);
  }
  if (!reduces(index)) return map;
  const auto covering = covering_loops(fit->result, loops);
  for (const int loop : other_loops(demand.group, covering.value_or(std::vector<int>{}))) {
    loops.set_reduced(loop);
  }
  return map;
}

// Where a scan stands if it can be part of the group that uses it: each point needs its own
// element, and the reduced loops, if there are any yet, walk the axis of the scan.
std::optional<IndexMap> Planner::fit_scan(uint32_t index, const Demand& demand) {
  const Node& n = node(index);
  Loops& loops = group(demand.group).loops;
  auto map = see_as(plan_.maps[demand.map], n.shape, loops);
  if (!map || !scans(index)) return map;
  const auto covering = covering_loops(*map, loops);
  if (!covering || covering->size() != loops.order().size()) return std::nullopt;
  const auto along = axis_loops(*map, n, loops);
  std::vector<int> in_order;
  for (const int loop : loops.order()) {
    if (std::ranges::find(along, loop) != along.end()) in_order.push_back(loop);
  }
  const std::vector<int> reduced = loops.reduced_loops();
  if (in_order != along || (!reduced.empty() && reduced != along)) return std::nullopt;
  return map;
}

// The operand's index map of a scan that fits.
IndexMap Planner::scan_operand(uint32_t index, const Demand& demand) {
  const auto map = fit_scan(index, demand);
  if (!map) throw InternalError("fuse: a scan does not fit its place");
  Loops& loops = group(demand.group).loops;
  if (!scans(index)) return *map;
  for (const int loop : axis_loops(*map, node(index), loops)) loops.set_reduced(loop);
  return *map;
}

// Whether the node's elements can be had from its operands for this use. May split loops.
bool Planner::can_compute(uint32_t index, const Demand& demand) {
  if (demand.map == Demand::kWholeBuffer) return false;
  const Node& n = node(index);
  if (is_reduction(n.op)) return fit_reduction(index, demand).has_value();
  if (is_scan(n.op)) return fit_scan(index, demand).has_value();
  if (n.op == Op::kUpdate) return false;
  if (n.op != Op::kWindow && n.op != Op::kIota && n.op != Op::kInput) return true;
  return see_as(plan_.maps[demand.map], n.shape, group(demand.group).loops).has_value();
}

bool Planner::must_store(uint32_t index, const Demands& demands) {
  const Node& n = node(index);
  for (const Demand& demand : demands) {
    if (!can_compute(index, demand)) return true;
  }
  if (reduces(index) || scans(index)) return demands.size() > 1;
  // A view costs nothing, and its operand sees the uses one by one.
  if (n.op == Op::kWindow || is_reduction(n.op) || is_scan(n.op)) return false;
  return worth_storing(index, demands);
}

bool Planner::worth_storing(uint32_t index, const Demands& demands) {
  const Facts& facts = facts_[index];
  if (demands.size() == 1) {
    // The usual case, at once.
    const Group& user = group(demands[0].group);
    if (demands[0].map == user.everywhere && user.loops.order().size() == user.everywhere_loops) {
      return false;
    }
  }
  double uses = 0;
  bool single = demands.size() == 1;
  for (const Demand& demand : demands) {
    Loops& loops = group(demand.group).loops;
    const IndexMap map = expand(plan_.maps[demand.map], loops);
    const auto covering = covering_loops(map, loops);
    const bool everywhere = covering && covering->size() == loops.order().size();
    if (everywhere) {
      group(demand.group).everywhere = demand.map;
      group(demand.group).everywhere_loops = loops.order().size();
    }
    bool once = everywhere;
    if (!everywhere && !facts.rows.is(kNoRows)) {
      if (!covering || facts.rows.is(kMixedRows)) return true;
      if (!rows_fit(demand, *covering, facts.rows)) return true;
      for (const int loop : other_loops(demand.group, *covering)) loops.set_reduced(loop);
      once = true;
    }
    single &= once;
    bool row_value = true;
    double points = 1;
    for (const int loop : loops.reduced_loops()) row_value &= !names(map, loop);
    for (const int loop : loops.order()) {
      if (!row_value || !loops.reduced(loop)) points *= estimate(loops.size(loop));
    }
    uses += points;
  }
  if (single) return false;
  const double elements = estimate(node(index).shape.element_count());
  const double again = uses * facts.work;
  const double stored =
      elements * (facts.work + limits_.store_work) + uses * kLoadWork + limits_.launch_work;
  return again > stored * kRecomputeBonus;
}

}  // namespace lanewise::ir::fusion
