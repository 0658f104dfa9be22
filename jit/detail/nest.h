// Emission of a kernel's function.
#pragma once

#include <string>

#include "jit/detail/kernel_plan.h"
#include "jit/detail/vector_builder.h"
#include "runtime/nest.h"

namespace lanewise::jit {

// Appends `void name(const KernelArguments*)` to the module.
void emit_kernel(llvm::Module& module, const std::string& name, const ir::Kernel& kernel,
                 const ir::Program& program, const runtime::Layout& layout, Target target);

}  // namespace lanewise::jit
