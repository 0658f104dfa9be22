#include "jit/detail/kernel_plan.h"

#include <algorithm>

namespace lanewise::jit {

namespace {

using ir::Op;

Level level_of(const ir::Node& node, const std::vector<Level>& levels,
               const runtime::Layout& layout) {
  if (node.op == Op::kLoad || node.op == Op::kIota) {
    const auto operand = static_cast<size_t>(node.get<ir::Slot>().index);
    const bool moves = layout.operands[operand].stride != runtime::Stride::kBroadcast;
    return moves ? Level::kPoint : Level::kRow;
  }
  Level level = Level::kUniform;
  for (const ir::Value operand : node.inputs()) level = std::max(level, levels[operand.index]);
  return level;
}

// Vectors of 16 are the best on both instruction sets but where all registers would spill (float64
// on AVX2) or where they are much shorter than a register (bytes).
int choose_lanes(const ir::Kernel& kernel, const ir::Program& program,
                 const std::vector<bool>& needed, Target target) {
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
  if (only_bytes) return 32;
  return target == Target::kX86_64_v3 && 2 * wide > nodes ? 8 : 16;
}

}  // namespace

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

KernelPlan make_plan(const ir::Kernel& kernel, const ir::Program& program,
                     const runtime::Layout& layout, Target target) {
  const ir::Graph& body = kernel.body;
  KernelPlan plan;
  plan.needed = find_needed(kernel);
  plan.level.assign(body.size(), Level::kUniform);
  std::vector<uint32_t> nodes[3];
  for (uint32_t i = 0; i < body.size(); ++i) {
    const ir::Node& node = body[ir::Value{i}];
    if (!plan.needed[i]) continue;
    plan.level[i] = level_of(node, plan.level, layout);
    if (node.op != Op::kConstant) nodes[static_cast<int>(plan.level[i])].push_back(i);
  }
  // Used by another section or stored.
  std::vector<bool> kept(body.size(), false);
  std::vector<bool> used_by_points(body.size(), false);
  for (uint32_t i = 0; i < body.size(); ++i) {
    if (!plan.needed[i]) continue;
    for (const ir::Value operand : body[ir::Value{i}].inputs()) {
      if (plan.level[operand.index] == plan.level[i]) continue;
      kept[operand.index] = true;
      if (plan.level[i] == Level::kPoint) used_by_points[operand.index] = true;
    }
  }
  for (const ir::Store& store : kernel.stores) {
    kept[store.value.index] = true;
    used_by_points[store.value.index] = true;
  }
  plan.uniform = make_section(body, nodes[0], kept);
  plan.row = make_section(body, nodes[1], kept);
  plan.point = make_section(body, nodes[2], kept);
  std::ranges::copy_if(nodes[0], std::back_inserter(plan.broadcast_uniform),
                       [&](uint32_t node) { return used_by_points[node]; });
  std::ranges::copy_if(nodes[1], std::back_inserter(plan.broadcast_row),
                       [&](uint32_t node) { return used_by_points[node]; });
  plan.lanes = choose_lanes(kernel, program, plan.needed, target);
  return plan;
}

}  // namespace lanewise::jit
