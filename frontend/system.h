// The process as a whole: what it runs on, and what it has compiled.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "jit/compiler.h"
#include "jit/disk_cache.h"
#include "runtime/cpu.h"
#include "runtime/memory.h"
#include "runtime/threads.h"

namespace lanewise::frontend {

struct Configuration {
  std::string cpu;     // as it calls itself
  std::string target;  // "x86-64-v4": what code is generated for
  std::string llvm;    // "23.1.1"
  int usable_cores = 1;
  int threads = 1;
};
Configuration configuration();

// Throws UnsupportedError where no code can run: a CPU without AVX2, or a LANEWISE_TARGET that it
// does not have.
void check_target();

jit::CacheStatistics cache_statistics();

// Compiled kernels on disk.
jit::DiskCacheStatistics disk_cache_statistics();
std::vector<jit::DiskCacheEntry> disk_cache_entries();
jit::DiskCacheSize disk_cache_size();
jit::DiskCacheSize clear_disk_cache();
// Where warnings go; called without the host's lock.
void set_warning_handler(std::function<void(const std::string& message)> handler);

}  // namespace lanewise::frontend
