// The body of each group of a plan.
#pragma once

#include "ir/passes/fusion/draft.h"
#include "ir/passes/fusion/plan.h"

namespace lanewise::ir::fusion {

// Buffers of the stored nodes of a plan.
struct Places {
  std::vector<int> buffer;  // for each node: where it is stored (an argument: where it lies), or -1
  std::vector<int> copy;    // for each argument: its copy without gaps, or -1
};

Draft build(Plan& plan, int group, const Places& places);

}  // namespace lanewise::ir::fusion
