// A fused graph against the graph itself.
#pragma once

#include "ir/interpret.h"
#include "ir/kernel.h"
#include "ir/passes/fuse.h"

namespace lanewise::test {

// Fuses and schedules, verifies, and expects the program before and after scheduling to give what
// the graph gives, bit for bit, on random arguments.
ir::Program fuse_and_check(const ir::Graph& graph, const ir::SymbolValues& symbols = {},
                           const ir::FuseOptions& options = {});

// The same kernel but for its name, and for which buffers and scalars it works on.
bool same_code(const ir::Kernel& a, const ir::Kernel& b);
// How many different kernels there are by that measure.
size_t count_codes(const ir::Program& program);
size_t count_kernels(const ir::Program& program);

}  // namespace lanewise::test
