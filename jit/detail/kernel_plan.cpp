#include "jit/detail/kernel_plan.h"

#include <algorithm>

#include "ir/scan_order.h"

namespace lanewise::jit {

using ir::Op;

std::vector<bool> find_needed(const ir::Kernel& kernel) {
  std::vector<bool> needed(kernel.body.size(), false);
  for (const ir::Store& store : kernel.stores) needed[store.value.index] = true;
  for (size_t i = kernel.body.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (const ir::Value operand : kernel.body[kernel.body.value(i)].inputs()) {
      needed[operand.index] = true;
    }
  }
  return needed;
}

bool varies_along_reduced(const ir::Kernel& kernel, size_t operand) {
  const int first_reduced = kernel.domain.rank() - kernel.reduced;
  for (const ir::AxisIndex& axis : kernel.operands[operand].axes) {
    for (const ir::AxisIndex::Term& term : axis.terms) {
      if (term.loop >= first_reduced) return true;
    }
  }
  return false;
}

namespace {

// Vectors of 16 are the best on both instruction sets but where all registers would spill (float64
// on AVX2) or where they are much shorter than a register (bytes).
int choose_lanes(const ir::Kernel& kernel, const ir::Program& program,
                 const runtime::Layout& layout, const std::vector<bool>& needed, Target target) {
  size_t nodes = 0;
  size_t wide = 0;
  bool only_bytes = true;
  bool scans = false;
  bool finds = false;
  bool moments = false;
  for (size_t i = 0; i < kernel.body.size(); ++i) {
    if (!needed[i]) continue;
    const int bytes = size_of(kernel.body[kernel.body.value(i)].dtype);
    const Op op = kernel.body[kernel.body.value(i)].op;
    scans |= ir::is_scan(op);
    finds |= op == Op::kArgMin || op == Op::kArgMax;
    moments |= op == Op::kDeviations;
    ++nodes;
    if (bytes == 8) ++wide;
    if (bytes > 1) only_bytes = false;
  }
  for (const ir::Operand& operand : kernel.operands) {
    if (operand.buffer == ir::Operand::kIndex) continue;
    if (size_of(program.buffers[static_cast<size_t>(operand.buffer)].dtype) > 1) only_bytes = false;
  }
  if (scans && !layout.columns) return ir::kScanChunk;
  // Reductions of short bodies wait for their own results: as many vectors as a block has lanes
  // hide that. Rows side by side use more of each line of memory at once that way, and share the
  // work of a row's end.
  const bool many_registers = target == Target::kX86_64_v4 && !layout.columns;
  const size_t short_body = many_registers ? 20 : 10;
  const bool by_elements = std::ranges::any_of(layout.operands, [](const auto& operand) {
    return operand.stride == runtime::Stride::kSmall || operand.stride == runtime::Stride::kOther;
  });
  // Moments take three times the registers of a sum.
  const bool fits = !moments || target == Target::kX86_64_v4;
  const bool is_short =
      layout.reduced > 0 && nodes <= short_body && !only_bytes && !by_elements && fits;
  if (is_short && finds) return target == Target::kX86_64_v3 ? 16 : 32;
  if (is_short) return wide == 0 ? 64 : 32;
  if (only_bytes) return 32;
  return target == Target::kX86_64_v3 && 2 * wide > nodes ? 8 : 16;
}

class Planner {
 public:
  Planner(const ir::Kernel& kernel, const runtime::Layout& layout)
      : kernel_(kernel),
        body_(kernel.body),
        layout_(layout),
        needed_(find_needed(kernel)),
        level_(body_.size(), Level::kUniform),
        stage_(body_.size(), 0) {
    for (uint32_t node = 0; node < body_.size(); ++node) {
      if (needed_[node]) place(node);
    }
  }

  KernelPlan plan() {
    KernelPlan plan;
    plan.outer_loops = layout_.rank - std::max(1, layout_.reduced) - (layout_.columns ? 1 : 0);
    plan_walks(plan);
    plan.uniform = scalar_section([&](uint32_t node) { return level_[node] == Level::kUniform; });
    for (size_t i = 0; i <= plan.walks.size(); ++i) {
      const auto section = [&](Level level) {
        return scalar_section([&](uint32_t node) {
          return level_[node] == level && stage_[node] == i && !is_reduction(node);
        });
      };
      plan.rows.push_back(section(Level::kRow));
      plan.columns.push_back(section(Level::kColumn).section);
    }
    carry_values(plan);
    for (Walk& walk : plan.walks) plan_sections(walk);
    mark_broadcasts(plan);
    return plan;
  }

  const std::vector<bool>& needed() const { return needed_; }

 private:
  const ir::Node& node(uint32_t number) const { return body_[ir::Value{number}]; }
  bool is_reduction(uint32_t number) const { return ir::is_reduction(node(number).op); }

  static Level join(Level a, Level b) {
    const Level higher = std::max(a, b);
    return higher == Level::kColumn && std::min(a, b) == Level::kLine ? Level::kPoint : higher;
  }

  bool is_in_walks(uint32_t number) const {
    return level_[number] == Level::kLine || level_[number] == Level::kPoint;
  }

  // Level, and the number of walks that come before.
  void place(uint32_t number) {
    const ir::Node& n = node(number);
    for (const ir::Value operand : n.inputs()) {
      stage_[number] = std::max(stage_[number], stage_[operand.index]);
      level_[number] = join(level_[number], level_[operand.index]);
    }
    if (n.op == Op::kLoad || n.op == Op::kIota) {
      level_[number] = level_of_operand(static_cast<size_t>(n.get<ir::Slot>().index));
    }
    if (ir::is_scan(n.op)) level_[number] = Level::kPoint;
    if (is_reduction(number)) {
      level_[number] = layout_.columns ? Level::kColumn : Level::kRow;
      ++stage_[number];
    }
  }

  Level level_of_operand(size_t operand) const {
    const bool moves = layout_.operands[operand].stride != runtime::Stride::kBroadcast;
    if (layout_.reduced == 0) return moves ? Level::kPoint : Level::kRow;
    if (!varies_along_reduced(kernel_, operand)) {
      return moves && layout_.columns ? Level::kColumn : Level::kRow;
    }
    return moves ? Level::kPoint : Level::kLine;
  }

  bool is_row_store(const ir::Store& store) const {
    return layout_.reduced > 0 &&
           !varies_along_reduced(kernel_, static_cast<size_t>(store.operand));
  }

  void plan_walks(KernelPlan& plan) const {
    const auto walk = [&](uint32_t stage) -> Walk& {
      if (plan.walks.size() <= stage) plan.walks.resize(stage + 1);
      return plan.walks[stage];
    };
    for (uint32_t number = 0; number < body_.size(); ++number) {
      if (!needed_[number] || !is_reduction(number)) continue;
      walk(stage_[number] - 1).reductions.push_back(number);
    }
    for (const ir::Store& store : kernel_.stores) {
      if (is_row_store(store)) {
        plan.row_stores.push_back(&store);
      } else {
        walk(stage_[store.value.index]).stores.push_back(&store);
      }
    }
  }

  // The nodes of which `choose` is true; all that others use are kept.
  template <class Choose>
  ScalarSection scalar_section(const Choose& choose) const {
    std::vector<uint32_t> nodes;
    std::vector<bool> inside(body_.size(), false);
    for (uint32_t number = 0; number < body_.size(); ++number) {
      if (!needed_[number] || node(number).op == Op::kConstant || !choose(number)) continue;
      nodes.push_back(number);
      inside[number] = true;
    }
    std::vector<bool> kept(body_.size(), false);
    for (uint32_t number = 0; number < body_.size(); ++number) {
      if (!needed_[number] || inside[number]) continue;
      for (const ir::Value operand : node(number).inputs()) kept[operand.index] = true;
    }
    for (const ir::Store& store : kernel_.stores) kept[store.value.index] = true;
    return {make_section(body_, nodes, kept), {}};
  }

  // By node: whether the walk computes it at points.
  std::vector<bool> points_of(const Walk& walk) const {
    std::vector<bool> wanted(body_.size(), false);
    for (const uint32_t reduction : walk.reductions) {
      wanted[node(reduction).operands[0].index] = true;
    }
    for (const ir::Store* store : walk.stores) wanted[store->value.index] = true;
    for (uint32_t number = static_cast<uint32_t>(body_.size()); number-- > 0;) {
      wanted[number] = wanted[number] && level_[number] == Level::kPoint;
      if (!wanted[number]) continue;
      for (const ir::Value operand : node(number).inputs()) wanted[operand.index] = true;
    }
    return wanted;
  }

  // Point values that `number` is made of.
  size_t points_below(uint32_t number) const {
    std::vector<bool> wanted(body_.size(), false);
    wanted[number] = true;
    size_t count = 0;
    for (uint32_t i = number + 1; i-- > 0;) {
      if (!wanted[i] || level_[i] != Level::kPoint) continue;
      ++count;
      for (const ir::Value operand : node(i).inputs()) wanted[operand.index] = true;
    }
    return count;
  }

  // Whether something can lie in the operand until the last walk stores to it.
  bool can_hold(const ir::Store& store) const {
    const ir::Operand& operand = kernel_.operands[static_cast<size_t>(store.operand)];
    if (layout_.operands[static_cast<size_t>(store.operand)].stride != runtime::Stride::kUnit) {
      return false;
    }
    for (int loop = kernel_.domain.rank() - kernel_.reduced; loop < kernel_.domain.rank(); ++loop) {
      const bool names = std::ranges::any_of(operand.axes, [&](const ir::AxisIndex& axis) {
        return std::ranges::find(axis.terms, loop, &ir::AxisIndex::Term::loop) != axis.terms.end();
      });
      if (!names && !kernel_.domain[loop].is(1)) return false;
    }
    return true;
  }

  void carry_values(KernelPlan& plan) const {
    if (plan.walks.size() < 2) return;
    std::vector<std::vector<bool>> points;
    for (const Walk& walk : plan.walks) points.push_back(points_of(walk));
    for (size_t last = 1; last < plan.walks.size(); ++last) {
      for (const ir::Store* store : plan.walks[last].stores) {
        if (can_hold(*store)) carry_in(*store, last, points, plan);
      }
    }
  }

  // The dearest value of walk `last` that an earlier walk has.
  void carry_in(const ir::Store& store, size_t last, const std::vector<std::vector<bool>>& points,
                KernelPlan& plan) const {
    constexpr size_t kDear = 8;
    size_t most = kDear - 1;
    uint32_t chosen = 0;
    size_t first = last;
    for (uint32_t number = 0; number < body_.size(); ++number) {
      if (!points[last][number] || node(number).dtype != node(store.value.index).dtype) continue;
      size_t walk = 0;
      while (walk < last && !points[walk][number]) ++walk;
      const size_t below = walk < last ? points_below(number) : 0;
      if (below <= most) continue;
      most = below;
      chosen = number;
      first = walk;
    }
    if (first == last) return;
    const Walk::Carried carried{chosen, static_cast<size_t>(store.operand)};
    plan.walks[first].saved.push_back(carried);
    for (size_t walk = first + 1; walk <= last; ++walk) {
      if (points[walk][chosen]) plan.walks[walk].carried.push_back(carried);
    }
  }

  // The points and lines that a walk's reductions and stores depend on.
  void plan_sections(Walk& walk) const {
    std::vector<bool> wanted(body_.size(), false);
    std::vector<bool> kept(body_.size(), false);
    const auto want = [&](ir::Value value) { wanted[value.index] = kept[value.index] = true; };
    for (const uint32_t reduction : walk.reductions) want(node(reduction).operands[0]);
    for (const ir::Store* store : walk.stores) want(store->value);
    for (const Walk::Carried& saved : walk.saved) want({saved.node});
    const auto is_carried = [&](uint32_t number) {
      return std::ranges::find(walk.carried, number, &Walk::Carried::node) != walk.carried.end();
    };
    std::vector<uint32_t> points;
    std::vector<uint32_t> lines;
    for (uint32_t number = static_cast<uint32_t>(body_.size()); number-- > 0;) {
      if (!wanted[number] || !is_in_walks(number) || is_carried(number)) continue;
      const bool is_point = level_[number] == Level::kPoint;
      (is_point ? points : lines).push_back(number);
      for (const ir::Value operand : node(number).inputs()) {
        wanted[operand.index] = true;
        if (is_point && level_[operand.index] == Level::kLine) kept[operand.index] = true;
      }
    }
    std::ranges::reverse(points);
    std::ranges::reverse(lines);
    walk.point = make_section(body_, points, kept);
    walk.line.section = make_section(body_, lines, kept);
    for (const uint32_t number : lines) {
      if (kept[number]) walk.line.broadcast.push_back(number);
    }
  }

  // Of uniform and row values: those that vectors, reductions or stores of vectors use.
  void mark_broadcasts(KernelPlan& plan) const {
    std::vector<bool> used(body_.size(), false);
    for (uint32_t number = 0; number < body_.size(); ++number) {
      if (!needed_[number] || (level_[number] < Level::kColumn && !is_reduction(number))) continue;
      for (const ir::Value operand : node(number).inputs()) used[operand.index] = true;
    }
    for (const Walk& walk : plan.walks) {
      for (const ir::Store* store : walk.stores) used[store->value.index] = true;
    }
    if (layout_.columns) {
      for (const ir::Store* store : plan.row_stores) used[store->value.index] = true;
    }
    for (uint32_t number = 0; number < body_.size(); ++number) {
      if (!needed_[number] || !used[number] || node(number).op == Op::kConstant) continue;
      if (level_[number] == Level::kUniform) plan.uniform.broadcast.push_back(number);
      if (level_[number] == Level::kRow) plan.rows[stage_[number]].broadcast.push_back(number);
    }
  }

  const ir::Kernel& kernel_;
  const ir::Graph& body_;
  const runtime::Layout& layout_;
  std::vector<bool> needed_;
  std::vector<Level> level_;
  std::vector<uint32_t> stage_;
};

}  // namespace

bool can_reduce_ranges(const ir::Kernel& kernel, const KernelPlan& plan,
                       const runtime::Layout& layout) {
  const bool scans = std::ranges::any_of(kernel.body.nodes(),
                                         [](const ir::Node& node) { return ir::is_scan(node.op); });
  return !scans && layout.reduced == 1 && !layout.columns && plan.walks.size() == 1 &&
         plan.walks[0].stores.empty() && !plan.walks[0].reductions.empty();
}

bool can_scan_ranges(const ir::Kernel& kernel, const KernelPlan& plan,
                     const runtime::Layout& layout) {
  if (layout.reduced != 1 || layout.columns || plan.walks.size() != 1) return false;
  if (!plan.walks[0].reductions.empty() || !plan.row_stores.empty()) return false;
  std::vector<bool> scanned(kernel.body.size(), false);
  bool any = false;
  for (uint32_t i = 0; i < kernel.body.size(); ++i) {
    const ir::Node& node = kernel.body[ir::Value{i}];
    for (const ir::Value operand : node.inputs()) scanned[i] = scanned[i] || scanned[operand.index];
    if (!ir::is_scan(node.op)) continue;
    if (scanned[i]) return false;
    scanned[i] = any = true;
  }
  return any;
}

KernelPlan make_plan(const ir::Kernel& kernel, const ir::Program& program,
                     const runtime::Layout& layout, Target target) {
  Planner planner(kernel, layout);
  KernelPlan plan = planner.plan();
  plan.lanes = choose_lanes(kernel, program, layout, planner.needed(), target);
  return plan;
}

}  // namespace lanewise::jit
