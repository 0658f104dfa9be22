// Showing what becomes of an expression or of a traced function, as text.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/trace.h"

namespace lanewise::frontend {

enum class Stage : uint8_t {
  kGraph,      // what was recorded
  kOptimized,  // the kernels that run
  kLlvm,       // their LLVM IR
  kAssembly,   // their machine code
};
// ValueError for a name other than "graph", "optimized", "llvm", "asm".
Stage stage_from_name(std::string_view name);

// All arrays together, as `evaluate` would compute them. Nothing is evaluated.
std::string dump(std::span<const Array> arrays, Stage stage);
// For row-major arguments.
std::string dump(const Trace& trace, Stage stage);

}  // namespace lanewise::frontend
