#include "jit/detail/disk_cache.h"

#include <llvm/Config/llvm-config.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "jit/detail/build_identity.h"
#include "jit/detail/codegen.h"
#include "jit/detail/disk_entry.h"
#include "jit/detail/fork_lock.h"
#include "support/format.h"

namespace lanewise::jit {

namespace {

using Outcome = PrivateFolder::Outcome;
using Result = PrivateFolder::Result;

// Files lie in as many folders, each limited on its own, so that looking for what to remove reads
// one of them only.
constexpr uint64_t kShards = 64;
constexpr std::string_view kExtension = ".kernel";

std::string version_folder() { return format("v{}", kDiskFormat); }

// "v1/3f"
std::string shard_folder(const std::string& digest) {
  const auto number = std::stoul(digest.substr(0, 2), nullptr, 16) % kShards;
  return format("{}/{}{}", version_folder(), number / 10, number % 10);
}

std::string file_name(const std::string& digest) {
  return format("{}/{}{}", shard_folder(digest), digest, kExtension);
}

std::string_view environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Calls f(shard) for each folder with files, in all versions or in ours only. The directory may be
// one with other things in it: names are matched exactly.
template <class F>
void for_each_shard(const PrivateFolder& folder, bool all_versions, F f) {
  for (const std::string& version : folder.subfolders()) {
    const bool ours = version == version_folder();
    if (!ours && !(all_versions && version[0] == 'v' && is_number(version.substr(1)))) continue;
    for (const std::string& shard : folder.subfolders(version)) {
      if (shard.size() == 2 && is_number(shard)) f(version + "/" + shard);
    }
  }
}

}  // namespace

// ---- options -------------------------------------------------------------------------------

DiskCacheOptions DiskCacheOptions::from_environment() {
  const auto off = [](std::string why) {
    return DiskCacheOptions{.directory = {}, .why_off = std::move(why)};
  };
  const std::string_view given = environment("LANEWISE_CACHE_DIR");
  if (given == "0") return off("LANEWISE_CACHE_DIR=0");
  // A program with more rights than its caller must not load code that the caller chose.
  if (::getauxval(AT_SECURE) != 0) return off("the program runs with rights of its own");
  if (build_identity().empty()) return off("this build of lanewise has no build id");
  DiskCacheOptions options;
  if (!given.empty()) {
    options.directory = given;
    if (!given.starts_with('/')) {
      char* const here = ::getcwd(nullptr, 0);
      if (here == nullptr) return off("LANEWISE_CACHE_DIR is relative to a folder that is gone");
      options.directory = format("{}/{}", here, given);
      std::free(here);
    }
  } else if (environment("XDG_CACHE_HOME").starts_with('/')) {  // others count as unset
    options.directory = format("{}/lanewise", environment("XDG_CACHE_HOME"));
  } else if (environment("HOME").starts_with('/')) {
    options.directory = format("{}/.cache/lanewise", environment("HOME"));
  } else {
    return off("neither LANEWISE_CACHE_DIR, XDG_CACHE_HOME nor HOME is set");
  }
  const std::string_view limit = environment("LANEWISE_CACHE_BYTES");
  if (!limit.empty()) {
    const char* const end = limit.data() + limit.size();
    const auto [at, error] = std::from_chars(limit.data(), end, options.byte_limit);
    if (error != std::errc() || at != end) {
      options = off(format("LANEWISE_CACHE_BYTES: '{}' is not a number of bytes", limit));
      options.warning = options.why_off;
    }
  }
  return options;
}

std::string disk_key(const std::string& key, Target target) {
  return format("lanewise {}\nllvm {}\nbuild {}\n{}\n", LANEWISE_VERSION, LLVM_VERSION_STRING,
                build_identity(), code_generation_identity(target)) +
         '\0' + key;
}

// ---- loading and storing -------------------------------------------------------------------

DiskCache::DiskCache(DiskCacheOptions options)
    : options_(std::move(options)), folder_(options_.directory, std::string(kExtension)) {
  statistics_.directory = options_.directory;
  statistics_.why_off = options_.why_off;
  statistics_.byte_limit = options_.byte_limit;
  if (!options_.warning.empty()) warn(options_.warning);
}

std::optional<StoredObject> DiskCache::load(const std::string& key) {
  if (!is_on()) return {};
  const std::string name = file_name(digest_text(key));
  std::string bytes;
  const Outcome outcome = folder_.read(name, bytes);
  if (outcome.result != Result::kOk) {
    count_miss(outcome);
    return {};
  }
  DiskEntry entry;
  std::string wrong = decode(bytes, entry);
  if (wrong.empty() && entry.key != key) wrong = "of another kernel";
  if (!wrong.empty()) {
    reject(key, wrong);
    return {};
  }
  StoredObject stored{std::string(entry.symbol), std::string(entry.object)};
  const std::lock_guard lock(mutex_);
  ++statistics_.hits;
  return stored;
}

void DiskCache::store(const std::string& key, const std::string& symbol, std::string_view object) {
  if (!is_on()) return;
  const std::string digest = digest_text(key);
  const std::string bytes = encode({key, symbol, object});
  const uint64_t limit = options_.byte_limit / kShards;
  if (bytes.size() > limit) return;
  const Outcome outcome = folder_.write(file_name(digest), bytes);
  if (outcome.result == Result::kOk) folder_.trim(shard_folder(digest), limit);
  const std::lock_guard lock(mutex_);
  switch (outcome.result) {
    case Result::kOk:
      ++statistics_.stored;
      break;
    case Result::kUntrusted:
      warn(outcome.why);
      break;
    case Result::kAbsent:  // the folder went while the file was written
    case Result::kFailed:
      ++statistics_.failures;
      statistics_.last_failure = outcome.why;
  }
}

void DiskCache::reject(const std::string& key, const std::string& why) {
  const std::string name = file_name(digest_text(key));
  folder_.remove(name);
  const std::lock_guard lock(mutex_);
  ++statistics_.rejected;
  ++statistics_.misses;
  warn(format("{}/{}: {}", folder_.path(), name, why));
}

void DiskCache::count_miss(const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  ++statistics_.misses;
  if (outcome.result == Result::kUntrusted) {
    ++statistics_.rejected;
    warn(outcome.why);
  } else if (outcome.result == Result::kFailed) {
    ++statistics_.failures;
    statistics_.last_failure = outcome.why;
  }
}

// ---- what the user sees --------------------------------------------------------------------

namespace {
std::atomic<bool> warning_waits{false};
}  // namespace

void DiskCache::warn(const std::string& message) {
  if (warned_) return;
  warned_ = true;
  warning_ = format("cache of compiled kernels: {}; compiling instead", message);
  warning_waits = true;
}

std::string DiskCache::take_warning() {
  const std::lock_guard lock(mutex_);
  return std::exchange(warning_, {});
}

DiskCacheStatistics DiskCache::statistics() const {
  const Outcome outcome = is_on() ? folder_.check() : Outcome{};
  const std::lock_guard lock(mutex_);
  DiskCacheStatistics statistics = statistics_;
  if (outcome.result == Result::kUntrusted) statistics.untrusted = outcome.why;
  return statistics;
}

std::vector<DiskCacheEntry> DiskCache::entries() const {
  std::vector<DiskCacheEntry> entries;
  if (!is_on()) return entries;
  for_each_shard(folder_, false, [&](const std::string& shard) {
    for (const PrivateFolder::File& file : folder_.list(shard)) {
      std::string bytes;
      DiskEntry entry;
      if (file.temporary ||
          folder_.read(shard + "/" + file.name, bytes, /*use=*/false).result != Result::kOk ||
          !decode(bytes, entry).empty()) {
        continue;
      }
      const std::string_view identity = entry.key.substr(0, entry.key.find('\0'));
      entries.push_back({std::string(entry.symbol), std::string(identity), file.bytes, file.used});
    }
  });
  std::ranges::sort(entries, std::ranges::greater(), &DiskCacheEntry::last_used);
  return entries;
}

DiskCacheSize DiskCache::size() const {
  DiskCacheSize size;
  if (!is_on()) return size;
  for_each_shard(folder_, true, [&](const std::string& shard) {
    for (const PrivateFolder::File& file : folder_.list(shard)) {
      ++size.files;
      size.bytes += file.bytes;
    }
  });
  return size;
}

DiskCacheSize DiskCache::clear() {
  DiskCacheSize removed;
  if (!is_on()) return removed;
  for_each_shard(folder_, true, [&](const std::string& shard) {
    for (const PrivateFolder::File& file : folder_.list(shard)) {
      folder_.remove(shard + "/" + file.name);
      ++removed.files;
      removed.bytes += file.bytes;
    }
    folder_.remove_subfolder(shard);
  });
  return removed;
}

// ---- the cache of the process --------------------------------------------------------------

namespace {

// Never destroyed: kernels may be compiled until the process ends.
std::unique_ptr<DiskCache>& the_disk_cache() {
  static auto& cache = *new std::unique_ptr<DiskCache>(
      std::make_unique<DiskCache>(DiskCacheOptions::from_environment()));
  return cache;
}

std::function<void(const std::string&)>& warning_handler() {
  static auto& handler = *new std::function<void(const std::string&)>(
      [](const std::string& message) { std::fprintf(stderr, "lanewise: %s\n", message.c_str()); });
  return handler;
}

}  // namespace

DiskCache& disk_cache() { return *the_disk_cache(); }

bool disk_cache_is_on() {
  const ForkLock::Holder holder;
  return disk_cache().is_on();
}

void replace_disk_cache(std::unique_ptr<DiskCache> cache) { the_disk_cache() = std::move(cache); }

void set_warning_handler(std::function<void(const std::string& message)> handler) {
  warning_handler() = std::move(handler);
}

void deliver_warnings() {
  if (!warning_waits.exchange(false)) return;
  std::string message;
  {
    const ForkLock::Holder holder;
    message = disk_cache().take_warning();
  }
  if (!message.empty()) warning_handler()(message);
}

DiskCacheStatistics disk_cache_statistics() {
  const ForkLock::Holder holder;
  return disk_cache().statistics();
}

std::vector<DiskCacheEntry> disk_cache_entries() {
  const ForkLock::Holder holder;
  return disk_cache().entries();
}

DiskCacheSize disk_cache_size() {
  const ForkLock::Holder holder;
  return disk_cache().size();
}

DiskCacheSize clear_disk_cache() {
  const ForkLock::Holder holder;
  return disk_cache().clear();
}

}  // namespace lanewise::jit
