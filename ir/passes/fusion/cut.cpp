#include "ir/passes/fusion/cut.h"

#include <algorithm>

#include "ir/passes/fusion/extract.h"
#include "support/format.h"

namespace lanewise::ir::fusion {

namespace {

// What is made of numbers only is computed again in each kernel up to this size.
constexpr int kSmallUniform = 16;
// Cutting through work that is rarely needed would do it always.
constexpr int kRarePenalty = 1000;
constexpr int kLeaf = -1;

int primitives(const Draft& draft) {
  return static_cast<int>(
      std::ranges::count_if(draft.body.nodes(), [](const Node& node) { return node.arity() > 0; }));
}

// A loop number beyond 62 shares a bit; ranks are small.
uint64_t bit(int loop) { return uint64_t{1} << std::min(loop, 63); }

uint64_t loops_of(const Operand& operand) {
  uint64_t loops = 0;
  for (const AxisIndex& axis : operand.axes) {
    for (const auto& term : axis.terms) loops |= bit(term.loop);
  }
  return loops;
}

class Cut {
 public:
  Cut(Draft draft, Program& program, const FuseLimits& limits, int& count)
      : draft_(std::move(draft)),
        program_(program),
        limits_(limits),
        count_(count),
        walk_(draft_) {}

  Step run();

 private:
  void find_loops();
  void put_in_sequence();
  void find_lifetimes();
  int end_of_piece(int start);
  void emit_copies(Step& step);
  void emit_piece(int start, int end, Step& step);
  Operand crossing_operand(Value value);
  bool can_block() const;

  // What a piece touches while its end is being looked for.
  struct Extent {
    int primitives = 0;
    int operands = 0;  // loaded
    int leaving = 0;   // stored
  };
  void extend(Extent& extent, int start, int position);

  int position(Value value) const { return position_[value.index]; }
  const Node& node(Value value) const { return draft_.body[value]; }

  Draft draft_;
  Program& program_;
  const FuseLimits& limits_;
  int& count_;
  Walk walk_;
  std::vector<uint64_t> loops_;  // which loops each value depends on, as bits
  std::vector<int> position_;    // in the sequence; kLeaf for what every kernel has for itself
  std::vector<Value> sequence_;
  std::vector<int> last_use_;  // by position: the last position that uses it, or its own
  std::vector<std::vector<Draft::Store>> stores_;  // by position: those of the value
  std::vector<int> live_;                          // by position: the cost of cutting before it
  std::vector<int> operand_met_;  // for each draft operand: the piece (its start) that loads it
  std::vector<int> value_met_;    // the same for values of earlier pieces
  Crossing crossing_;
  std::vector<Operand> crossings_;
};

void Cut::find_loops() {
  const int kept = draft_.domain.rank() - draft_.reduced;
  uint64_t reduced = 0;
  for (int loop = kept; loop < draft_.domain.rank(); ++loop) reduced |= bit(loop);
  // Primitives a value is made of, as a tree; more than small if it is not made of numbers only.
  std::vector<int> size;
  for (const Node& n : draft_.body.nodes()) {
    uint64_t loops = 0;
    const bool numbers =
        n.op != Op::kLoad && n.op != Op::kIota && !is_reduction(n.op) && !is_scan(n.op);
    int count = !numbers ? kSmallUniform + 1 : n.arity() > 0 ? 1 : 0;
    for (const Value operand : n.inputs()) {
      loops |= loops_[operand.index];
      count = std::min(count + size[operand.index], kSmallUniform + 1);
    }
    if (is_reduction(n.op)) loops &= ~reduced;
    if (is_scan(n.op)) loops |= reduced;
    if (n.op == Op::kLoad || n.op == Op::kIota) {
      loops = loops_of(draft_.operands[static_cast<size_t>(n.get<Slot>().index)]);
    }
    loops_.push_back(loops);
    size.push_back(count);
    position_.push_back(n.arity() == 0 || count <= kSmallUniform ? kLeaf : 0);
  }
}

void Cut::put_in_sequence() {
  walk_.restart();
  for (const Draft::Store& store : draft_.stores) {
    walk_.go(
        store.value, [](Value) { return false; },
        [&](Value value) {
          if (position(value) == kLeaf) return;
          position_[value.index] = static_cast<int>(sequence_.size());
          sequence_.push_back(value);
        });
  }
}

void Cut::find_lifetimes() {
  const size_t size = sequence_.size();
  last_use_.resize(size);
  stores_.resize(size);
  std::vector<bool> rare(size, true);  // needed by rare work only
  for (size_t at = 0; at < size; ++at) last_use_[at] = static_cast<int>(at);
  for (const Draft::Store& store : draft_.stores) {
    if (position(store.value) == kLeaf) continue;
    const auto at = static_cast<size_t>(position(store.value));
    stores_[at].push_back(store);
    rare[at] = false;
  }
  for (size_t at = size; at-- > 0;) {
    const Node& n = node(sequence_[at]);
    const auto operands = n.inputs();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (position(operands[i]) == kLeaf) continue;
      const auto operand = static_cast<size_t>(position(operands[i]));
      last_use_[operand] = std::max(last_use_[operand], static_cast<int>(at));
      if (!rare[at] && !(n.op == Op::kRare && i == 2)) rare[operand] = false;
    }
  }
  std::vector<int> change(size + 1);
  for (size_t at = 0; at < size; ++at) {
    const int cost = 1 + (rare[at] ? kRarePenalty : 0);
    change[at + 1] += cost;
    const auto after = static_cast<size_t>(last_use_[at]) + 1;
    if (after <= size) change[after] -= cost;
  }
  live_.resize(size + 1);
  int live = 0;
  for (size_t at = 0; at <= size; ++at) live_[at] = live += change[at];
}

void Cut::extend(Extent& extent, int start, int at) {
  const Value value = sequence_[static_cast<size_t>(at)];
  ++extent.primitives;
  extent.leaving += 1 + static_cast<int>(stores_[static_cast<size_t>(at)].size());
  const auto operands = node(value).inputs();
  for (size_t i = 0; i < operands.size(); ++i) {
    const Value operand = operands[i];
    const int from = position(operand);
    if (std::ranges::count(operands.first(i), operand) > 0) continue;
    if (from == kLeaf) {
      const Op op = node(operand).op;
      if (op != Op::kLoad && op != Op::kIota) continue;
      int& met = operand_met_[static_cast<size_t>(node(operand).get<Slot>().index)];
      if (met != start) ++extent.operands;
      met = start;
    } else if (from < start) {
      int& met = value_met_[static_cast<size_t>(from)];
      if (met != start) ++extent.operands;
      met = start;
    } else if (last_use_[static_cast<size_t>(from)] == at) {
      --extent.leaving;
    }
  }
  if (last_use_[static_cast<size_t>(at)] == at) --extent.leaving;  // used by stores only
}

// The cheapest place to cut among those that leave the piece within the budget and not too short.
int Cut::end_of_piece(int start) {
  const int size = static_cast<int>(sequence_.size());
  Extent extent;
  std::vector<int> ends;
  for (int at = start; at < size; ++at) {
    extend(extent, start, at);
    if (extent.primitives > limits_.primitives || extent.operands > limits_.operands) break;
    if (extent.operands + extent.leaving <= limits_.operands) ends.push_back(at + 1);
  }
  if (ends.empty()) return start + 1;
  if (ends.back() == size) return size;
  const int longest = ends.back() - start;
  int best = ends.back();
  for (size_t i = ends.size(); i-- > 0;) {
    if (ends[i] - start <= longest / 2) break;
    if (live_[static_cast<size_t>(ends[i])] < live_[static_cast<size_t>(best)]) best = ends[i];
  }
  return best;
}

// A buffer for a value that another kernel loads: an element for each point it depends on.
Operand Cut::crossing_operand(Value value) {
  const Node& n = node(value);
  std::vector<Dim> sizes;
  Operand operand{static_cast<int>(program_.buffers.size()), {}, {}};
  for (int loop = 0; loop < draft_.domain.rank(); ++loop) {
    if (!(loops_[value.index] & bit(loop))) continue;
    sizes.push_back(draft_.domain[loop]);
    operand.axes.push_back({0, {{loop, 1}}});
  }
  operand.shape = Shape(std::move(sizes));
  program_.buffers.push_back({.dtype = n.dtype, .shape = operand.shape});
  return operand;
}

void Cut::emit_piece(int start, int end, Step& step) {
  std::vector<Draft::Store> stores;
  std::vector<Draft::Store> crossing;
  std::vector<std::pair<uint32_t, Operand>> leaving;
  for (int at = start; at < end; ++at) {
    const Value value = sequence_[static_cast<size_t>(at)];
    const auto& kept = stores_[static_cast<size_t>(at)];
    stores.insert(stores.end(), kept.begin(), kept.end());
    if (last_use_[static_cast<size_t>(at)] < end) continue;
    // Where it is stored anyway, unless that is more than once over, or into part of a buffer.
    const auto whole = std::ranges::find_if(kept, [&](const Draft::Store& store) {
      return loops_of(store.operand) == loops_[value.index] &&
             program_.buffers[static_cast<size_t>(store.operand.buffer)].starts_as < 0;
    });
    if (whole != kept.end()) {
      leaving.emplace_back(value.index, whole->operand);
      continue;
    }
    crossing.push_back({crossing_operand(value), value});
    leaving.emplace_back(value.index, crossing.back().operand);
  }
  for (Draft::Store& store : crossing) {
    crossings_.push_back(store.operand);
    stores.push_back(std::move(store));
  }
  step.kernels.push_back(extract(draft_, walk_, stores, crossing_, format("k{}", count_++)));
  for (auto& [value, operand] : leaving) crossing_.emplace(value, std::move(operand));
}

// Stores of what is no work: copies and fills.
void Cut::emit_copies(Step& step) {
  std::vector<Draft::Store> copies;
  for (const Draft::Store& store : draft_.stores) {
    if (position(store.value) == kLeaf) copies.push_back(store);
  }
  const auto most = static_cast<size_t>(std::max(limits_.operands / 2, 1));
  for (size_t start = 0; start < copies.size(); start += most) {
    const auto some = std::span(copies).subspan(start, std::min(most, copies.size() - start));
    step.kernels.push_back(extract(draft_, walk_, some, {}, format("k{}", count_++)));
  }
}

// Every kernel stores something at each trip of the loops that are not reduced. What crosses must
// be a row of its own for each trip of the outermost.
bool Cut::can_block() const {
  if (crossing_.empty() || draft_.domain.rank() == draft_.reduced) return false;
  return std::ranges::all_of(crossings_, [](const Operand& operand) {
    return !operand.axes.empty() && plain_loop(operand.axes[0]) == 0;
  });
}

Step Cut::run() {
  Step step;
  find_loops();
  put_in_sequence();
  find_lifetimes();
  operand_met_.assign(draft_.operands.size(), -1);
  value_met_.assign(sequence_.size(), -1);
  emit_copies(step);
  const int size = static_cast<int>(sequence_.size());
  for (int start = 0; start < size;) {
    const int end = end_of_piece(start);
    emit_piece(start, end, step);
    start = end;
  }
  step.blocked = can_block();
  if (step.blocked) {
    for (const Operand& operand : crossings_) {
      program_.buffers[static_cast<size_t>(operand.buffer)].kind = Buffer::Kind::kBlock;
    }
  }
  return step;
}

}  // namespace

Step cut(Draft draft, Program& program, const FuseLimits& limits, int& count) {
  const auto operands = static_cast<int>(draft.operands.size() + draft.stores.size());
  if (primitives(draft) <= limits.primitives && operands <= limits.operands) {
    Walk walk(draft);
    Step step;
    step.kernels.push_back(extract(draft, walk, draft.stores, {}, format("k{}", count++)));
    return step;
  }
  flatten(draft, program.buffers);
  return Cut(std::move(draft), program, limits, count).run();
}

}  // namespace lanewise::ir::fusion
