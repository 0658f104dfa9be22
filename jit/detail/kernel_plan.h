// What is computed where: the nodes of a kernel's body by the loops they depend on.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "jit/compiler.h"
#include "jit/detail/section.h"

namespace lanewise::jit {

enum class Level : uint8_t {
  kUniform,  // once
  kRow,      // once for each row, that is, walk along the innermost loop
  kPoint,    // at each element
};

struct KernelPlan {
  std::vector<Level> level;  // by node
  std::vector<bool> needed;  // by node: some store depends on it
  Section uniform, row, point;
  // Nodes of the first two sections that points use.
  std::vector<uint32_t> broadcast_uniform, broadcast_row;
  int lanes = 16;
};

// By node: whether some store depends on it.
std::vector<bool> find_needed(const ir::Kernel& kernel);

KernelPlan make_plan(const ir::Kernel& kernel, const ir::Program& program,
                     const runtime::Layout& layout, Target target);

}  // namespace lanewise::jit
