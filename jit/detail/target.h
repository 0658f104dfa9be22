// Which instruction set to generate code for.
#pragma once

#include <string_view>

#include "jit/compiler.h"
#include "runtime/cpu.h"

namespace lanewise::jit {

// What LANEWISE_TARGET asks for, else the best that a CPU of this level has. UnsupportedError if
// that is not even x86-64-v3, or less than what is asked for.
Target choose_target(runtime::IsaLevel level, std::string_view asked);

}  // namespace lanewise::jit
