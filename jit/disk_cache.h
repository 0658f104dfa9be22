// The cache of compiled kernels that processes share through the file system. Does not show LLVM.
//
// LANEWISE_CACHE_DIR names the folder (default: lanewise in the user's cache folder), 0 switches
// the cache off; LANEWISE_CACHE_BYTES limits it. Both are read when the first kernel is compiled. A
// folder or file that somebody else could have written is not used, a damaged file is ignored: the
// kernel is compiled then, with one warning a process. Disks that are full or read-only are no
// fault: kernels are not kept there.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lanewise::jit {

struct DiskCacheStatistics {
  std::string directory;  // empty: off
  std::string why_off;
  std::string untrusted;  // why the directory, as it is now, is not used; empty: it is
  uint64_t byte_limit = 0;
  // Of this process.
  uint64_t hits = 0;
  uint64_t misses = 0;
  uint64_t stored = 0;
  uint64_t rejected = 0;  // found, but damaged or not trusted
  uint64_t failures = 0;  // could not be read or stored
  std::string last_failure;
};
DiskCacheStatistics disk_cache_statistics();

struct DiskCacheEntry {
  std::string kernel;    // the name of its function
  std::string identity;  // versions, target and options it was compiled with, a line each
  uint64_t bytes = 0;
  int64_t last_used = 0;  // seconds since 1970, to the hour
};
// What lies in the folder now, whoever made it, the most recently used first. Damaged files are
// left out.
std::vector<DiskCacheEntry> disk_cache_entries();

struct DiskCacheSize {
  uint64_t files = 0;
  uint64_t bytes = 0;
};
DiskCacheSize disk_cache_size();
// Removes all files of the cache, those of other versions too, and says what that was. Processes
// that run keep the code they have.
DiskCacheSize clear_disk_cache();

// Gets what the user should know, on the thread that asked for the code; it may throw. Standard
// error without one.
void set_warning_handler(std::function<void(const std::string& message)> handler);

}  // namespace lanewise::jit
