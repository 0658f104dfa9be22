// Object files of compiled kernels, kept in a folder that processes share.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "jit/compiler.h"
#include "jit/detail/private_folder.h"
#include "jit/disk_cache.h"

namespace lanewise::jit {

struct DiskCacheOptions {
  std::string directory = {};  // empty: off
  std::string why_off = {};
  std::string warning = {};  // about the options themselves
  uint64_t byte_limit = kDefaultByteLimit;

  static constexpr uint64_t kDefaultByteLimit = uint64_t{256} << 20;
  static DiskCacheOptions from_environment();
};

struct StoredObject {
  std::string symbol;
  std::string object;
};

// Thread-safe, and safe with other processes that use the folder. Throws nothing: whatever fails is
// counted, and the kernel is compiled. Hold a ForkLock around calls, as compile threads do.
class DiskCache {
 public:
  explicit DiskCache(DiskCacheOptions options);

  bool is_on() const { return !options_.directory.empty(); }
  // Nothing where there is no entry with exactly this key.
  std::optional<StoredObject> load(const std::string& key);
  void store(const std::string& key, const std::string& symbol, std::string_view object);
  // What was loaded turned out to be unusable.
  void reject(const std::string& key, const std::string& why);

  DiskCacheStatistics statistics() const;
  std::vector<DiskCacheEntry> entries() const;
  DiskCacheSize size() const;
  DiskCacheSize clear();
  // Says once a process what the user should know; "" if there is nothing.
  std::string take_warning();

 private:
  void count_miss(const PrivateFolder::Outcome& outcome);
  void warn(const std::string& message);

  DiskCacheOptions options_;
  PrivateFolder folder_;
  mutable std::mutex mutex_;
  DiskCacheStatistics statistics_;
  std::string warning_;
  bool warned_ = false;
};

// That of the process.
DiskCache& disk_cache();
bool disk_cache_is_on();  // takes the ForkLock itself
// For tests: another one instead, while no other thread compiles.
void replace_disk_cache(std::unique_ptr<DiskCache> cache);

// The key of the file: all that code depends on. `key` is a cache_key().
std::string disk_key(const std::string& key, Target target);

// Tells the user, on this thread, what is to be told.
void deliver_warnings();

}  // namespace lanewise::jit
