#include "ir/passes/fusion/plan.h"

#include <algorithm>
#include <optional>

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

namespace {

// The buffer is wanted, not its elements: the base of an update.
constexpr int kWholeBuffer = -1;

// Storing must be cheaper than computing again by this factor.
constexpr double kRecomputeBonus = 1.5;
// Elementwise work joins a reduction of its operand only where rows are not too short.
constexpr int64_t kShortRow = 64;
// Looking for a group to join and for circles between groups stops here, to stay linear.
constexpr size_t kMostCandidates = 4;
constexpr size_t kMostVisited = 256;

struct Demand {
  int group;
  int map;
  // Some use is made at every point of the reduced loops, though the map does not name them.
  bool at_points = false;
};

// A place where a node is computed: a group and an index map.
struct Place {
  int group;
  int map;
};

Shape without_ones(const Shape& shape) {
  std::vector<Dim> sizes;
  for (const Dim& size : shape) {
    if (!size.is(1)) sizes.push_back(size);
  }
  return Shape(std::move(sizes));
}

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
  Group& group(int number) { return plan_.groups[static_cast<size_t>(number)]; }

  void visit(uint32_t index);
  void visit_input(uint32_t index, const std::vector<Demand>& demands);
  std::vector<Demand> take_demands(uint32_t index);

  // Deciding between computing where used and storing.
  bool can_compute(uint32_t index, const Demand& demand);
  bool must_store(uint32_t index, const std::vector<Demand>& demands);
  bool worth_storing(uint32_t index, const std::vector<Demand>& demands);
  bool rows_fit(const Demand& demand, const std::vector<int>& covering, const Dim& rows);
  std::vector<int> other_loops(int group_number, const std::vector<int>& covering);
  bool reduction_fits(uint32_t index, const Demand& demand);

  // Choosing the home of a stored node.
  void store(uint32_t index, const std::vector<Demand>& demands);
  Place choose_home(uint32_t index, const std::vector<Demand>& demands);
  std::optional<Place> home_among_users(uint32_t index, const std::vector<Demand>& demands);
  std::optional<Place> home_of_operand(uint32_t index, const std::vector<Demand>& demands);
  std::optional<Place> home_of_siblings(uint32_t index, const std::vector<Demand>& demands);
  Place new_home(uint32_t index, const std::vector<Demand>& demands);
  bool may_be_home(int candidate, const std::vector<Demand>& demands);
  bool computes_each_once(uint32_t index, const Demand& demand);
  bool is_early(const std::vector<Demand>& demands) const;
  bool depends(int group_number, int on);

  // Recording.
  void compute(uint32_t index, const Demand& demand);
  void load(uint32_t index, const Demand& demand);
  void demand_operands(uint32_t index, const Demand& demand, Item& item);
  IndexMap reduction_operand(uint32_t index, const Demand& demand);
  void demand(Value value, Demand demand);

  // The shape that a node's loops walk when it is stored: that of the value for an update.
  const Shape& stored_shape(uint32_t index) const;
  const Dim& stored_rows(uint32_t index) const;

  const FuseLimits limits_;
  Plan plan_;
  std::vector<Facts> facts_;
  std::vector<std::vector<Demand>> demands_;
  std::vector<bool> wanted_;  // results and checks
  std::vector<bool> early_;
  std::unordered_map<size_t, std::vector<int>> groups_by_shape_;
  std::vector<uint32_t> visited_;  // for each group: the number of the last search that met it
  uint32_t search_ = 0;
};

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
std::vector<Demand> Planner::take_demands(uint32_t index) {
  std::vector<Demand> demands = std::move(demands_[index]);
  demands_[index].clear();
  for (size_t i = 0; i < demands.size(); ++i) {
    Demand& demand = demands[i];
    if (demand.map == kWholeBuffer || !group(demand.group).loops.any_split()) continue;
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
  const std::vector<Demand> demands = take_demands(index);
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
void Planner::visit_input(uint32_t index, const std::vector<Demand>& demands) {
  const auto& parameter = plan_.graph.inputs[static_cast<size_t>(node(index).get<Slot>().index)];
  std::vector<Demand> of_copy;
  for (const Demand& demand : demands) {
    if (demand.map == kWholeBuffer) continue;
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

// ---- computing where used ------------------------------------------------------------------

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
  if (reduced.empty() &&
      !std::ranges::equal(others, std::span(loops.order()).last(others.size()))) {
    return false;
  }
  Dim count = 1;
  for (const int loop : others) count = count * loops.size(loop);
  return count == rows;
}

bool Planner::reduction_fits(uint32_t index, const Demand& demand) {
  Loops& loops = group(demand.group).loops;
  const auto map = see_as(plan_.maps[demand.map], node(index).shape, loops);
  if (!map) return false;
  if (!reduces(index)) return true;
  const auto covering = covering_loops(*map, loops);
  if (!covering || !rows_fit(demand, *covering, facts_[index].rows)) return false;
  const std::vector<int> others = other_loops(demand.group, *covering);
  if (others.empty()) return true;
  // The reduced loops must walk the reduced axes.
  AxisIndex flat;
  Dim stride = 1;
  for (size_t i = others.size(); i-- > 0;) {
    flat = add(flat, AxisIndex{0, {{others[i], stride}}});
    stride = stride * loops.size(others[i]);
  }
  const Shape rows = reduced_shape(plan_.graph, node(index));
  return see_as({Shape{stride}, {flat}}, rows, loops).has_value();
}

// Whether the node's elements can be had from its operands for this use. May split loops.
bool Planner::can_compute(uint32_t index, const Demand& demand) {
  if (demand.map == kWholeBuffer) return false;
  const Node& n = node(index);
  if (is_reduction(n.op)) return reduction_fits(index, demand);
  if (n.op == Op::kUpdate) return false;
  if (n.op != Op::kWindow && n.op != Op::kIota && n.op != Op::kInput) return true;
  return see_as(plan_.maps[demand.map], n.shape, group(demand.group).loops).has_value();
}

bool Planner::must_store(uint32_t index, const std::vector<Demand>& demands) {
  const Node& n = node(index);
  for (const Demand& demand : demands) {
    if (!can_compute(index, demand)) return true;
  }
  if (reduces(index)) return demands.size() > 1;
  // A view costs nothing, and its operand sees the uses one by one.
  if (n.op == Op::kWindow || is_reduction(n.op)) return false;
  return worth_storing(index, demands);
}

bool Planner::worth_storing(uint32_t index, const std::vector<Demand>& demands) {
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

// ---- homes ---------------------------------------------------------------------------------

const Shape& Planner::stored_shape(uint32_t index) const {
  const Node& n = node(index);
  return n.op == Op::kUpdate ? plan_.graph[n.operands[1]].shape : n.shape;
}

const Dim& Planner::stored_rows(uint32_t index) const {
  const Node& n = node(index);
  return facts_[n.op == Op::kUpdate ? n.operands[1].index : index].rows;
}

bool Planner::is_early(const std::vector<Demand>& demands) const {
  return std::ranges::any_of(demands, [&](const Demand& demand) {
    return plan_.groups[static_cast<size_t>(demand.group)].early;
  });
}

// Whether `group_number` needs results of `on`, directly or not; true if that takes long to find.
bool Planner::depends(int group_number, int on) {
  visited_.resize(plan_.groups.size());
  ++search_;
  std::vector<int> pending{group_number};
  size_t count = 0;
  while (!pending.empty()) {
    const int next = pending.back();
    pending.pop_back();
    if (next == on || ++count > kMostVisited) return true;
    for (const int needed : group(next).needs) {
      uint32_t& visited = visited_[static_cast<size_t>(needed)];
      if (visited == search_) continue;
      visited = search_;
      pending.push_back(needed);
    }
  }
  return false;
}

// Whether the users can wait for the candidate. Users in the candidate itself do not count.
bool Planner::may_be_home(int candidate, const std::vector<Demand>& demands) {
  if (group(candidate).early != is_early(demands)) return false;
  return std::ranges::none_of(demands, [&](const Demand& demand) {
    return demand.group != candidate && depends(candidate, demand.group);
  });
}

// Whether the group can store the node where it is used: each element is computed once.
bool Planner::computes_each_once(uint32_t index, const Demand& demand) {
  if (!can_compute(index, demand)) return false;
  if (reduces(index)) return true;
  const Loops& loops = group(demand.group).loops;
  const auto covering = covering_loops(expand(plan_.maps[demand.map], loops), loops);
  if (!covering) return false;
  const std::vector<int> others = other_loops(demand.group, *covering);
  return others.empty() || others == loops.reduced_loops();
}

std::optional<Place> Planner::home_among_users(uint32_t index, const std::vector<Demand>& demands) {
  if (node(index).op == Op::kUpdate) return std::nullopt;
  for (const Demand& demand : demands) {
    const auto uses = std::ranges::count(demands, demand.group, &Demand::group);
    if (uses > 1 || !computes_each_once(index, demand)) continue;
    if (may_be_home(demand.group, demands)) return Place{demand.group, demand.map};
  }
  return std::nullopt;
}

// A group that walks all elements of the operand anyway: what an update stores, what a reduction
// reads.
std::optional<Place> Planner::home_of_operand(uint32_t index, const std::vector<Demand>& demands) {
  const Node& n = node(index);
  const bool update = n.op == Op::kUpdate;
  if (!update && !reduces(index)) return std::nullopt;
  const Value operand = n.operands[update ? 1 : 0];
  const std::vector<Demand> others = demands_[operand.index];
  for (size_t i = 0; i < std::min(others.size(), kMostCandidates); ++i) {
    const Demand& other = others[i];
    if (other.map == kWholeBuffer) continue;
    if (std::ranges::count(demands, other.group, &Demand::group) > 0) continue;
    Loops& loops = group(other.group).loops;
    const IndexMap map = expand(plan_.maps[other.map], loops);
    if (map.shape != plan_.graph[operand].shape) continue;
    const auto all = covering_loops(map, loops);
    if (!all || all->size() != loops.order().size()) continue;
    if (!may_be_home(other.group, demands)) continue;
    if (update) return Place{other.group, plan_.maps.intern(map)};
    IndexMap result{n.shape, {}};
    for (int axis = 0; axis < map.shape.rank(); ++axis) {
      if (std::ranges::binary_search(n.get<Axes>().axes, axis)) continue;
      result.axes.push_back(map.axes[static_cast<size_t>(axis)]);
    }
    const auto kept = covering_loops(result, loops);
    if (!kept || kept->size() == all->size()) continue;
    const Dim& rows = facts_[index].rows;
    if (!kept->empty() && rows.is_constant() && rows.value() < kShortRow) continue;
    const Demand here{other.group, plan_.maps.intern(result)};
    if (!reduction_fits(index, here) || reduction_operand(index, here) != map) continue;
    return Place{here.group, here.map};
  }
  return std::nullopt;
}

// A group made for another value of the same shape.
std::optional<Place> Planner::home_of_siblings(uint32_t index, const std::vector<Demand>& demands) {
  const Dim& rows = stored_rows(index);
  if (rows.is(kMixedRows)) return std::nullopt;
  const Shape shape = without_ones(stored_shape(index));
  const auto found = groups_by_shape_.find(shape.hash() ^ rows.hash());
  if (found == groups_by_shape_.end()) return std::nullopt;
  const std::vector<int>& candidates = found->second;
  for (size_t i = 0; i < std::min(candidates.size(), kMostCandidates); ++i) {
    const int candidate = candidates[candidates.size() - 1 - i];
    Group& other = group(candidate);
    if (other.shape != shape || other.rows != rows) continue;
    if (std::ranges::count(demands, candidate, &Demand::group) > 0) continue;
    if (!may_be_home(candidate, demands)) continue;
    IndexMap map{stored_shape(index), {}};
    int loop = 0;
    for (const Dim& size : map.shape) {
      map.axes.push_back(size.is(1) ? AxisIndex{} : AxisIndex{0, {{loop++, 1}}});
    }
    const Demand here{candidate, plan_.maps.intern(expand(map, other.loops))};
    if (node(index).op != Op::kUpdate && !can_compute(index, here)) continue;
    return Place{here.group, here.map};
  }
  return std::nullopt;
}

Place Planner::new_home(uint32_t index, const std::vector<Demand>& demands) {
  const int number = static_cast<int>(plan_.groups.size());
  Group& made = plan_.groups.emplace_back();
  made.early = early_[index] || is_early(demands);
  made.shape = without_ones(stored_shape(index));
  made.rows = stored_rows(index);
  groups_by_shape_[made.shape.hash() ^ made.rows.hash()].push_back(number);
  return {number, plan_.maps.intern(append_loops(stored_shape(index), made.loops))};
}

Place Planner::choose_home(uint32_t index, const std::vector<Demand>& demands) {
  if (!early_[index]) {
    if (const auto home = home_among_users(index, demands)) return *home;
    if (const auto home = home_of_operand(index, demands)) return *home;
    if (const auto home = home_of_siblings(index, demands)) return *home;
  }
  return new_home(index, demands);
}

void Planner::store(uint32_t index, const std::vector<Demand>& demands) {
  const Place home = choose_home(index, demands);
  plan_.home[index] = home.group;
  group(home.group).roots.push_back({index, home.map});
  for (const Demand& demand : demands) {
    if (demand.group == home.group) continue;
    if (demand.map != kWholeBuffer) load(index, demand);
    group(demand.group).needs.push_back(home.group);
  }
  const Node& n = node(index);
  if (n.op == Op::kUpdate) {
    demand(n.operands[1], {home.group, home.map});
    demand(n.operands[0], {home.group, kWholeBuffer});
    return;
  }
  const auto here = std::ranges::find(demands, home.group, &Demand::group);
  compute(index, here != demands.end() ? *here : Demand{home.group, home.map});
}

// ---- recording -----------------------------------------------------------------------------

void Planner::demand(Value value, Demand demand) {
  const Op op = plan_.graph[value].op;
  if ((op == Op::kConstant || op == Op::kScalar) && demand.map != kWholeBuffer) return;
  std::vector<Demand>& demands = demands_[value.index];
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

// The operand's index map of a reduction that fits.
IndexMap Planner::reduction_operand(uint32_t index, const Demand& demand) {
  const Node& n = node(index);
  Loops& loops = group(demand.group).loops;
  const IndexMap result = *see_as(plan_.maps[demand.map], n.shape, loops);
  const Shape rows = reduced_shape(plan_.graph, n);
  IndexMap reduced;
  if (!reduces(index)) {
    reduced = {rows, std::vector<AxisIndex>(static_cast<size_t>(rows.rank()))};
  } else {
    const std::vector<int> others = other_loops(demand.group, *covering_loops(result, loops));
    if (others.empty()) {
      reduced = append_loops(rows, loops);
    } else {
      AxisIndex flat;
      Dim stride = 1;
      for (size_t i = others.size(); i-- > 0;) {
        flat = add(AxisIndex{0, {{others[i], stride}}}, flat);
        stride = stride * loops.size(others[i]);
      }
      reduced = *see_as({Shape{stride}, {flat}}, rows, loops);
    }
  }
  IndexMap map{plan_.graph[n.operands[0]].shape, {}};
  auto kept_axis = result.axes.begin();
  auto reduced_axis = reduced.axes.begin();
  for (int axis = 0; axis < map.shape.rank(); ++axis) {
    const bool is_reduced = std::ranges::binary_search(n.get<Axes>().axes, axis);
    map.axes.push_back(is_reduced ? *reduced_axis++ : *kept_axis++);
  }
  return map;
}

void Planner::demand_operands(uint32_t index, const Demand& d, Item& item) {
  const Node& n = node(index);
  if (is_reduction(n.op)) {
    item.operand_map = plan_.maps.intern(reduction_operand(index, d));
    // From here on the rows are walked for the reduction.
    if (reduces(index)) {
      Loops& loops = group(d.group).loops;
      const auto map = see_as(plan_.maps[d.map], n.shape, loops);
      for (const int loop : other_loops(d.group, *covering_loops(*map, loops))) {
        loops.set_reduced(loop);
      }
    }
    demand(n.operands[0], {d.group, item.operand_map});
  } else if (n.op == Op::kWindow) {
    Loops& loops = group(d.group).loops;
    const IndexMap map = *see_as(plan_.maps[d.map], n.shape, loops);
    const IndexMap operand = compose(map, n.get<Window>(), plan_.graph[n.operands[0]].shape, loops);
    const bool drops = std::ranges::any_of(
        loops.order(), [&](int loop) { return names(map, loop) && !names(operand, loop); });
    item.operand_map = plan_.maps.intern(operand);
    demand(n.operands[0], {d.group, item.operand_map, d.at_points || drops});
  } else {
    for (const Value operand : n.inputs()) demand(operand, {d.group, d.map, d.at_points});
  }
}

}  // namespace

Plan plan(Prepared prepared, const FuseLimits& limits) {
  return Planner(std::move(prepared), limits).run();
}

}  // namespace lanewise::ir::fusion
