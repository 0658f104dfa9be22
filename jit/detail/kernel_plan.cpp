#include "jit/detail/kernel_plan.h"

#include <algorithm>

#include "support/error.h"
#include "support/format.h"

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
  for (size_t i = 0; i < kernel.body.size(); ++i) {
    if (!needed[i]) continue;
    const int bytes = size_of(kernel.body[kernel.body.value(i)].dtype);
    ++nodes;
    if (bytes == 8) ++wide;
    if (bytes > 1) only_bytes = false;
  }
  for (const ir::Operand& operand : kernel.operands) {
    if (operand.buffer == ir::Operand::kIndex) continue;
    if (size_of(program.buffers[static_cast<size_t>(operand.buffer)].dtype) > 1) only_bytes = false;
  }
  // Rows side by side: more of each line of memory is used at once, and the work of a row's end is
  // shared by more, while the body is short enough to need few registers.
  constexpr size_t kShortBody = 10;
  if (layout.columns && nodes <= kShortBody && wide == 0 && !only_bytes) return 64;
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
    if (ir::is_scan(n.op) || n.op == Op::kArgMin || n.op == Op::kArgMax) {
      throw UnsupportedError(format("{}: no machine code for it", n.op));
    }
    if (is_reduction(number)) {
      level_[number] = layout_.columns ? Level::kColumn : Level::kRow;
      ++stage_[number];
    }
  }

  Level level_of_operand(size_t operand) const {
    const bool moves = layout_.operands[operand].stride != runtime::Stride::kBroadcast;
    if (layout_.reduced == 0) return moves ? Level::kPoint : Level::kRow;
    if (!varies_along_reduced(kernel_, operand)) {
      return moves ? Level::kColumn : Level::kRow;
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

  // The points and lines that a walk's reductions and stores depend on.
  void plan_sections(Walk& walk) const {
    std::vector<bool> wanted(body_.size(), false);
    std::vector<bool> kept(body_.size(), false);
    const auto want = [&](ir::Value value) { wanted[value.index] = kept[value.index] = true; };
    for (const uint32_t reduction : walk.reductions) want(node(reduction).operands[0]);
    for (const ir::Store* store : walk.stores) want(store->value);
    std::vector<uint32_t> points;
    std::vector<uint32_t> lines;
    for (uint32_t number = static_cast<uint32_t>(body_.size()); number-- > 0;) {
      if (!wanted[number] || !is_in_walks(number)) continue;
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

KernelPlan make_plan(const ir::Kernel& kernel, const ir::Program& program,
                     const runtime::Layout& layout, Target target) {
  Planner planner(kernel, layout);
  KernelPlan plan = planner.plan();
  plan.lanes = choose_lanes(kernel, program, layout, planner.needed(), target);
  return plan;
}

}  // namespace lanewise::jit
