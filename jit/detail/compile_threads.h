// Threads that run LLVM: with a stack deep enough for its recursion, and a code generator each.
#pragma once

#include <functional>

#include "jit/detail/codegen.h"

namespace lanewise::jit {

// What a job finds on its thread.
class CompileThread {
 public:
  CodeGenerator& generator(Target target) {
    auto& generator = generators_[static_cast<size_t>(target)];
    if (generator == nullptr) generator = std::make_unique<CodeGenerator>(target);
    return *generator;
  }

 private:
  std::unique_ptr<CodeGenerator> generators_[2];
};

// Runs the job on such a thread and waits for it; rethrows what it throws.
void run_on_compile_thread(const std::function<void(CompileThread&)>& job);

// After fork, in the child: the threads are gone.
void forget_compile_threads();

}  // namespace lanewise::jit
