// Which layouts of a kernel an artefact has code for, the preferred ones first. Any layout runs
// with the last of them; the others are what usual arrays have. Layouts with streaming stores stand
// before their like without.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "runtime/nest.h"

namespace lanewise::jit {

std::vector<runtime::Layout> artefact_layouts(const ir::Kernel& kernel, const ir::Program& program);

}  // namespace lanewise::jit
