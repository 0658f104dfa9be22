// Compiled kernels by structure, each compiled once, the least recently used evicted.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "jit/compiler.h"

namespace lanewise::jit {

struct CompiledCode {
  std::shared_ptr<const Code> code;
  uint64_t bytes = 0;
  bool from_disk = false;
};

// The code with this key; `make` is called if there is none, by one of the threads that ask for
// it, while the others wait.
std::shared_ptr<const Code> cached(const std::string& key,
                                   const std::function<CompiledCode()>& make);

// Equal for kernels with the same code: ops, dtypes, attributes, operands, layout and target. The
// same in every process of one build.
std::string cache_key(const ir::Kernel& kernel, const ir::Program& program,
                      const runtime::Layout& layout, Target target);

}  // namespace lanewise::jit
