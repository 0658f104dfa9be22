// Cutting work that is too much for one kernel.
#pragma once

#include "ir/passes/fuse.h"
#include "ir/passes/fusion/draft.h"

namespace lanewise::ir::fusion {

// The kernels of a draft: one, or several where the budget asks for it, cut where the fewest
// values cross. What crosses gets a buffer; where all kernels walk the same outermost loop, the
// step is blocked. Kernels are named by `count`, which goes on counting.
Step cut(Draft draft, Program& program, const FuseLimits& limits, int& count);

}  // namespace lanewise::ir::fusion
