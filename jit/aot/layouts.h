// Which layouts of a kernel an artefact has code for. Any layout runs with the last of them; the
// others are what usual arrays have.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "runtime/nest.h"

namespace lanewise::jit {

std::vector<runtime::Layout> artefact_layouts(const ir::Kernel& kernel, const ir::Program& program);

}  // namespace lanewise::jit
