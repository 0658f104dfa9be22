// What must hold of a kernel by itself.
#pragma once

#include "ir/detail/node_rules.h"
#include "ir/verify.h"

namespace lanewise::ir::detail {

// `number`: of the kernel in the program. The program's buffers have been found right.
std::optional<Problem> find_problem(const Program& program, const Kernel& kernel, int number);

}  // namespace lanewise::ir::detail
