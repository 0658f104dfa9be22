#include "ir/passes/fusion/plan.h"

#include <algorithm>

#include "ir/passes/fusion/planner.h"
#include "support/error.h"

namespace lanewise::ir::fusion {

int Maps::intern(IndexMap map) {
  const size_t hash = map.hash();
  const auto [first, last] = numbers_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if ((*this)[it->second] == map) return it->second;
  }
  const int number = static_cast<int>(maps_.size());
  maps_.push_back(std::move(map));
  numbers_.emplace(hash, number);
  return number;
}

Planner::Planner(Prepared prepared, const FuseLimits& limits) : limits_(limits) {
  plan_.graph = std::move(prepared.graph);
  plan_.failures = std::move(prepared.failures);
  facts_ = analyze(plan_.graph);
  const size_t size = plan_.graph.size();
  demands_.resize(size);
  wanted_.resize(size);
  early_.resize(size);
  plan_.home.assign(size, -1);
  for (const Value output : plan_.graph.outputs) wanted_[output.index] = true;
  for (const Value failure : plan_.failures) {
    if (failure.valid()) wanted_[failure.index] = early_[failure.index] = true;
  }
}

Plan Planner::run() {
  for (size_t i = plan_.graph.size(); i-- > 0;) visit(static_cast<uint32_t>(i));
  return std::move(plan_);
}

// Maps as they are after loops were split since, each once.
Demands Planner::take_demands(uint32_t index) {
  Demands demands = std::move(demands_[index]);
  demands_[index].clear();
  for (size_t i = 0; i < demands.size(); ++i) {
    Demand& demand = demands[i];
    if (demand.map == Demand::kWholeBuffer || !group(demand.group).loops.any_split()) continue;
    demand.map = plan_.maps.intern(expand(plan_.maps[demand.map], group(demand.group).loops));
    const auto same = std::find_if(demands.begin(), demands.begin() + i, [&](const Demand& other) {
      return other.group == demand.group && other.map == demand.map;
    });
    if (same == demands.begin() + i) continue;
    same->at_points |= demand.at_points;
    demands.erase(demands.begin() + i--);
  }
  return demands;
}

void Planner::visit(uint32_t index) {
  const Demands demands = take_demands(index);
  if (demands.empty() && !wanted_[index]) return;
  if (node(index).op == Op::kInput) {
    visit_input(index, demands);
  } else if (wanted_[index] || must_store(index, demands)) {
    store(index, demands);
  } else {
    for (const Demand& demand : demands) compute(index, demand);
  }
}

// An argument is stored already, but one with gaps can be read by its own axes only: other uses
// read a copy.
void Planner::visit_input(uint32_t index, const Demands& demands) {
  const auto& parameter = plan_.graph.inputs[static_cast<size_t>(node(index).get<Slot>().index)];
  Demands of_copy;
  for (const Demand& demand : demands) {
    if (demand.map == Demand::kWholeBuffer) continue;
    if (parameter.contiguous || can_compute(index, demand)) {
      load(index, demand);
    } else {
      of_copy.push_back(demand);
    }
  }
  if (of_copy.empty()) return;
  const Place home = new_home(index, of_copy);
  for (const Demand& demand : of_copy) load(index, demand);
  load(index, {home.group, home.map});
  for (const Demand& demand : of_copy) group(demand.group).needs.push_back(home.group);
  plan_.home[index] = home.group;
  group(home.group).roots.push_back({index, home.map});
}

void Planner::store(uint32_t index, const Demands& demands) {
  const Place home = choose_home(index, demands);
  plan_.home[index] = home.group;
  group(home.group).roots.push_back({index, home.map});
  for (const Demand& demand : demands) {
    if (demand.group == home.group) continue;
    if (demand.map != Demand::kWholeBuffer) load(index, demand);
    group(demand.group).needs.push_back(home.group);
  }
  const Node& n = node(index);
  if (n.op == Op::kUpdate) {
    demand(n.operands[1], {home.group, home.map});
    demand(n.operands[0], {home.group, Demand::kWholeBuffer});
    return;
  }
  const auto here = std::ranges::find(demands, home.group, &Demand::group);
  compute(index, here != demands.end() ? *here : Demand{home.group, home.map});
}

void Planner::demand(Value value, Demand demand) {
  const Op op = plan_.graph[value].op;
  if ((op == Op::kConstant || op == Op::kScalar) && demand.map != Demand::kWholeBuffer) return;
  Demands& demands = demands_[value.index];
  for (size_t i = demands.size(); i-- > 0;) {
    if (demands[i].group == demand.group && demands[i].map == demand.map) {
      demands[i].at_points |= demand.at_points;
      return;
    }
  }
  demands.push_back(demand);
}

void Planner::load(uint32_t index, const Demand& demand) {
  group(demand.group).items.push_back({.node = index, .map = demand.map, .load = true});
}

void Planner::compute(uint32_t index, const Demand& demand) {
  Item item{.node = index, .map = demand.map};
  demand_operands(index, demand, item);
  group(demand.group).items.push_back(item);
}

void Planner::demand_operands(uint32_t index, const Demand& d, Item& item) {
  const Node& n = node(index);
  if (is_reduction(n.op)) {
    item.operand_map = plan_.maps.intern(reduction_operand(index, d));
    demand(n.operands[0], {d.group, item.operand_map});
  } else if (is_scan(n.op)) {
    item.operand_map = plan_.maps.intern(scan_operand(index, d));
    demand(n.operands[0], {d.group, item.operand_map});
  } else if (n.op == Op::kWindow) {
    Loops& loops = group(d.group).loops;
    const auto seen = see_as(plan_.maps[d.map], n.shape, loops);
    if (!seen) throw InternalError("fuse: a window does not fit its place");
    const IndexMap& map = *seen;
    const IndexMap operand = compose(map, n.get<Window>(), plan_.graph[n.operands[0]].shape, loops);
    const bool drops = std::ranges::any_of(
        loops.order(), [&](int loop) { return names(map, loop) && !names(operand, loop); });
    item.operand_map = plan_.maps.intern(operand);
    demand(n.operands[0], {d.group, item.operand_map, d.at_points || drops});
  } else {
    for (const Value operand : n.inputs()) demand(operand, {d.group, d.map, d.at_points});
  }
}

Plan plan(Prepared prepared, const FuseLimits& limits) {
  return Planner(std::move(prepared), limits).run();
}

}  // namespace lanewise::ir::fusion
