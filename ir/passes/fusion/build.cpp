#include "ir/passes/fusion/build.h"

#include <algorithm>

#include "support/error.h"

namespace lanewise::ir::fusion {

namespace {

class Build {
 public:
  Build(Plan& plan, int group, const Places& places)
      : plan_(plan), group_(plan.groups[static_cast<size_t>(group)]), places_(places) {}

  Draft run();

 private:
  // Where the node's value at this index map is found in the body.
  static uint64_t key(uint32_t node, int map) {
    return uint64_t{node} << 32 | static_cast<uint32_t>(map);
  }
  const Node& node(uint32_t index) const { return plan_.graph[plan_.graph.value(index)]; }

  void number_loops();
  int final_map(int map);
  AxisIndex renumber(const AxisIndex& index) const;
  Operand operand(int buffer, const Shape& shape, const IndexMap& map) const;

  void add_item(const Item& item);
  bool is_idle(const Node& n) const;
  Value load(uint32_t index, const IndexMap& map);
  Value iota(const Node& node, const IndexMap& map);
  Value leaf(Node node);
  Value value_of(Value operand, int map);
  Value slotted(Op op, DType dtype, Operand operand, Source source);
  void add_store(const Root& root);

  Plan& plan_;
  const Group& group_;
  const Places& places_;
  Draft draft_;
  BodyBuilder body_{draft_.body};
  std::vector<int> number_;  // final number of each loop
  std::unordered_map<int, int> final_maps_;
  std::unordered_map<uint64_t, Value> values_;
  std::unordered_map<size_t, std::vector<int>> slots_;  // by hash of the operand
};

// Kept loops first, then those reduced.
void Build::number_loops() {
  const Loops& loops = group_.loops;
  std::vector<int> order = loops.kept_loops();
  const std::vector<int> reduced = loops.reduced_loops();
  draft_.reduced = static_cast<int>(reduced.size());
  order.insert(order.end(), reduced.begin(), reduced.end());
  std::vector<Dim> sizes;
  for (const int loop : order) {
    number_.resize(std::max(number_.size(), static_cast<size_t>(loop) + 1), -1);
    number_[static_cast<size_t>(loop)] = static_cast<int>(sizes.size());
    sizes.push_back(loops.size(loop));
  }
  draft_.domain = Shape(std::move(sizes));
}

// Maps differ in how they name loops that were split later; in the end they do not.
int Build::final_map(int map) {
  if (!group_.loops.any_split()) return map;
  const auto [place, fresh] = final_maps_.try_emplace(map, map);
  if (fresh) place->second = plan_.maps.intern(expand(plan_.maps[map], group_.loops));
  return place->second;
}

AxisIndex Build::renumber(const AxisIndex& index) const {
  AxisIndex result = index;
  for (auto& term : result.terms) term.loop = number_[static_cast<size_t>(term.loop)];
  std::ranges::sort(result.terms, {}, &AxisIndex::Term::loop);
  return result;
}

// With the array's own axes if they can be had.
Operand Build::operand(int buffer, const Shape& shape, const IndexMap& map) const {
  Operand result{buffer, map.shape, map.axes};
  if (map.shape != shape) {
    if (auto axes = decompose(ir::flatten(map), shape, group_.loops)) {
      result.shape = shape;
      result.axes = std::move(*axes);
    }
  }
  for (AxisIndex& axis : result.axes) axis = renumber(axis);
  return result;
}

Value Build::slotted(Op op, DType dtype, Operand operand, Source source) {
  std::vector<int>& candidates =
      slots_[IndexMap{operand.shape, operand.axes}.hash() ^ static_cast<size_t>(operand.buffer)];
  int slot = -1;
  for (const int candidate : candidates) {
    if (draft_.operands[static_cast<size_t>(candidate)] == operand) slot = candidate;
  }
  if (slot < 0) {
    slot = static_cast<int>(draft_.operands.size());
    candidates.push_back(slot);
    draft_.operands.push_back(std::move(operand));
  }
  return body_.add(
      {.op = op, .dtype = dtype, .shape = {}, .attribute = Slot{slot}, .source = source});
}

Value Build::load(uint32_t index, const IndexMap& map) {
  const Node& n = node(index);
  int buffer = places_.buffer[index];
  Operand element = operand(buffer, n.shape, map);
  if (n.op == Op::kInput) {
    const int argument = n.get<Slot>().index;
    const bool gaps = !plan_.graph.inputs[static_cast<size_t>(argument)].contiguous;
    if (gaps && element.shape != n.shape) {
      element.buffer = places_.copy[static_cast<size_t>(argument)];
    }
  }
  return slotted(Op::kLoad, n.dtype, std::move(element), n.source);
}

Value Build::iota(const Node& n, const IndexMap& map) {
  const auto axes = decompose(ir::flatten(map), n.shape, group_.loops);
  if (!axes) throw InternalError("fuse: iota without an axis");
  Operand number{
      Operand::kIndex, {}, {renumber((*axes)[static_cast<size_t>(n.get<Slot>().index)])}};
  return slotted(Op::kIota, n.dtype, std::move(number), n.source);
}

Value Build::leaf(Node node) {
  node.shape = {};
  return body_.add(std::move(node));
}

Value Build::value_of(Value operand, int map) {
  const Node& n = plan_.graph[operand];
  const auto found = values_.find(key(operand.index, final_map(map)));
  if (found != values_.end()) return found->second;
  // Elsewhere these may be stored, as the base of an update; here they are what they are.
  if (n.op == Op::kConstant || n.op == Op::kScalar) return leaf(n);
  throw InternalError("fuse: operand without a value");
}

// Reduces or scans axes of size 1.
bool Build::is_idle(const Node& n) const {
  if (is_reduction(n.op)) return reduced_count(plan_.graph, n).is(1);
  return is_scan(n.op) && n.shape[n.get<Axes>().axes[0]].is(1);
}

void Build::add_item(const Item& item) {
  const Node& n = node(item.node);
  const int map = final_map(item.map);
  Value value;
  if (item.load) {
    value = load(item.node, plan_.maps[map]);
  } else if (n.op == Op::kIota) {
    value = iota(n, plan_.maps[map]);
  } else if (n.op == Op::kWindow) {
    value = value_of(n.operands[0], item.operand_map);
  } else {
    Node copy = n;
    copy.shape = {};
    for (Value& operand : copy.inputs()) {
      operand = value_of(operand, item.operand_map >= 0 ? item.operand_map : item.map);
    }
    if (is_reduction(n.op) || is_scan(n.op)) copy.attribute = {};
    value = is_idle(n) ? copy.operands[0] : body_.add(std::move(copy));
  }
  values_[key(item.node, map)] = value;
}

void Build::add_store(const Root& root) {
  const Node& n = node(root.node);
  const IndexMap map = plan_.maps[final_map(root.map)];
  if (n.op == Op::kUpdate) {
    const IndexMap target = compose(map, n.get<Window>(), n.shape, group_.loops);
    draft_.stores.push_back(
        {operand(places_.buffer[root.node], n.shape, target), value_of(n.operands[1], root.map)});
    return;
  }
  const int buffer = n.op == Op::kInput ? places_.copy[static_cast<size_t>(n.get<Slot>().index)]
                                        : places_.buffer[root.node];
  draft_.stores.push_back(
      {operand(buffer, n.shape, map), value_of(plan_.graph.value(root.node), root.map)});
}

Draft Build::run() {
  number_loops();
  for (size_t i = group_.items.size(); i-- > 0;) add_item(group_.items[i]);
  // In the order of the graph.
  std::vector<Root> roots = group_.roots;
  std::ranges::sort(roots, {}, &Root::node);
  for (const Root& root : roots) add_store(root);
  return std::move(draft_);
}

}  // namespace

Draft build(Plan& plan, int group, const Places& places) {
  return Build(plan, group, places).run();
}

}  // namespace lanewise::ir::fusion
