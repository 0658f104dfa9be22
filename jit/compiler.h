// Compiling kernels to machine code. Like the other headers of jit/ outside of detail/, it does not
// show LLVM.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "ir/kernel.h"
#include "runtime/nest.h"

namespace lanewise::jit {

// Instruction sets we generate code for. Results are the same bits on each.
enum class Target : uint8_t { kX86_64_v3, kX86_64_v4 };

// LANEWISE_TARGET (x86-64-v3, x86-64-v4, host), else the best this CPU has. Throws
// UnsupportedError if the CPU lacks AVX2 or what the variable asks for.
Target default_target();
std::string_view to_string(Target target);

// Machine code of one kernel for one layout. Freed when the last reference goes and the cache has
// evicted it, so whoever runs it holds a reference.
class Code {
 public:
  virtual ~Code() = default;
  runtime::KernelFunction entry() const { return entry_; }

 protected:
  runtime::KernelFunction entry_ = nullptr;
};

// The operands of `layout`, and of the arguments of the kernel function, are those of the kernel
// in order, indices (ir::Operand::kIndex) among them.
//
// From the cache of the process or that on disk (jit/disk_cache.h), or compiled now. Equal kernels
// (sizes, names and sources do not count) share code. Thread-safe; two threads that ask for the
// same kernel compile it once. Compiles on a thread with a large stack of its own. Throws
// CompileError, and what the warning handler throws.
std::shared_ptr<const Code> compile(const ir::Kernel& kernel, const ir::Program& program,
                                    const runtime::Layout& layout, Target target);

// Whether a kernel's rows can be worked on range by range (runtime::Portion).
struct RangeSupport {
  int64_t state_bytes = 0;  // 0: no
  bool resumes = false;     // scans: there is a state for each block of ir/scan_order.h
};
RangeSupport range_support(const ir::Kernel& kernel, const ir::Program& program,
                           const runtime::Layout& layout, Target target);

// What the generated code looks like, compiled anew, not cached.
std::string llvm_ir(const ir::Kernel& kernel, const ir::Program& program,
                    const runtime::Layout& layout, Target target);
std::string assembly(const ir::Kernel& kernel, const ir::Program& program,
                     const runtime::Layout& layout, Target target);

struct CacheStatistics {
  uint64_t compilations = 0;  // since the process began
  uint64_t hits = 0;
  uint64_t evictions = 0;
  uint64_t kernels = 0;  // now in the cache
  uint64_t code_bytes = 0;
  uint64_t kernel_limit = 0;
  uint64_t code_byte_limit = 0;
  double compile_seconds = 0;
};
CacheStatistics cache_statistics();
// The least recently used kernels go first.
void set_cache_limits(uint64_t kernels, uint64_t code_bytes);
void clear_cache();

// "23.1.1"
std::string llvm_version();

}  // namespace lanewise::jit
