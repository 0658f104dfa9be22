// Which group stores a node.
#include <algorithm>

#include "ir/passes/fusion/planner.h"

namespace lanewise::ir::fusion {

namespace {

// Elementwise work joins a reduction of its operand only where rows are not too short.
constexpr int64_t kShortRow = 64;
// Looking for a group to join and for circles between groups stops here, to stay linear.
constexpr size_t kMostCandidates = 4;
constexpr size_t kMostVisited = 256;

Shape without_ones(const Shape& shape) {
  std::vector<Dim> sizes;
  for (const Dim& size : shape) {
    if (!size.is(1)) sizes.push_back(size);
  }
  return Shape(std::move(sizes));
}

}  // namespace

const Shape& Planner::stored_shape(uint32_t index) const {
  const Node& n = node(index);
  return n.op == Op::kUpdate ? plan_.graph[n.operands[1]].shape : n.shape;
}

const Dim& Planner::stored_rows(uint32_t index) const {
  const Node& n = node(index);
  return facts_[n.op == Op::kUpdate ? n.operands[1].index : index].rows;
}

bool Planner::is_early(const Demands& demands) const {
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
bool Planner::may_be_home(int candidate, const Demands& demands) {
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

std::optional<Place> Planner::home_among_users(uint32_t index, const Demands& demands) {
  if (node(index).op == Op::kUpdate) return std::nullopt;
  for (const Demand& demand : demands) {
    const auto uses = std::ranges::count(demands, demand.group, &Demand::group);
    if (uses > 1 || !computes_each_once(index, demand)) continue;
    if (may_be_home(demand.group, demands)) return Place{demand.group, demand.map};
  }
  return std::nullopt;
}

// A group that walks all elements of the operand anyway: what an update stores, what a reduction or
// a scan reads.
std::optional<Place> Planner::home_of_operand(uint32_t index, const Demands& demands) {
  const Node& n = node(index);
  const bool update = n.op == Op::kUpdate;
  if (!update && !reduces(index) && !scans(index)) return std::nullopt;
  const Value operand = n.operands[update ? 1 : 0];
  const Demands others = demands_[operand.index];
  for (size_t i = 0; i < std::min(others.size(), kMostCandidates); ++i) {
    const Demand& other = others[i];
    if (other.map == Demand::kWholeBuffer) continue;
    if (std::ranges::count(demands, other.group, &Demand::group) > 0) continue;
    Loops& loops = group(other.group).loops;
    const IndexMap map = expand(plan_.maps[other.map], loops);
    if (map.shape != plan_.graph[operand].shape) continue;
    const auto all = covering_loops(map, loops);
    if (!all || all->size() != loops.order().size()) continue;
    if (!may_be_home(other.group, demands)) continue;
    if (update) return Place{other.group, plan_.maps.intern(map)};
    if (scans(index)) {
      const Demand here{other.group, plan_.maps.intern(map)};
      if (!fit_scan(index, here)) continue;
      return Place{here.group, here.map};
    }
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
    if (!fit_reduction(index, here) || !(reduction_operand(index, here) == map)) continue;
    return Place{here.group, here.map};
  }
  return std::nullopt;
}

// A group made for another value of the same shape.
std::optional<Place> Planner::home_of_siblings(uint32_t index, const Demands& demands) {
  const Dim& rows = stored_rows(index);
  if (rows.is(kMixedRows) || scans(index)) return std::nullopt;
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

Place Planner::new_home(uint32_t index, const Demands& demands) {
  const int number = static_cast<int>(plan_.groups.size());
  Group& made = plan_.groups.emplace_back();
  made.early = early_[index] || is_early(demands);
  made.shape = without_ones(stored_shape(index));
  made.rows = scans(index) ? Dim(kMixedRows) : stored_rows(index);  // others stay away from scans
  groups_by_shape_[made.shape.hash() ^ made.rows.hash()].push_back(number);
  return {number, plan_.maps.intern(append_loops(stored_shape(index), made.loops))};
}

Place Planner::choose_home(uint32_t index, const Demands& demands) {
  if (!early_[index]) {
    if (const auto home = home_among_users(index, demands)) return *home;
    if (const auto home = home_of_operand(index, demands)) return *home;
    if (const auto home = home_of_siblings(index, demands)) return *home;
  }
  return new_home(index, demands);
}

}  // namespace lanewise::ir::fusion
