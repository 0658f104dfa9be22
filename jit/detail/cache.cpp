#include "jit/detail/cache.h"

#include <chrono>
#include <future>
#include <list>
#include <mutex>
#include <unordered_map>

#include "jit/detail/compile_threads.h"
#include "jit/detail/fork_lock.h"

namespace lanewise::jit {

namespace {

// A kernel holds two memory mappings, and a process usually gets 65,530.
constexpr uint64_t kKernelLimit = 10000;
constexpr uint64_t kCodeByteLimit = uint64_t{256} << 20;

using SharedCode = std::shared_ptr<const Code>;

class Cache {
 public:
  Cache() {
    statistics_.kernel_limit = kKernelLimit;
    statistics_.code_byte_limit = kCodeByteLimit;
    ForkLock::set_hooks({.before = [this] { mutex_.lock(); },
                         .after = [this](bool in_child) { after_fork(in_child); }});
  }

  SharedCode get(const std::string& key, const std::function<CompiledCode()>& make) {
    std::unique_lock lock(mutex_);
    const auto [found, is_new] = entries_.try_emplace(key);
    Entry& entry = found->second;
    if (!is_new) {
      ++statistics_.hits;
      recent_.splice(recent_.begin(), recent_, entry.place);
      const auto result = entry.result;
      lock.unlock();
      return result.get();
    }
    std::promise<SharedCode> promise;
    entry.result = promise.get_future().share();
    recent_.push_front(&found->first);
    entry.place = recent_.begin();
    lock.unlock();
    return compile(key, make, promise);
  }

  CacheStatistics statistics() {
    const std::lock_guard lock(mutex_);
    CacheStatistics statistics = statistics_;
    statistics.kernels = entries_.size();
    return statistics;
  }

  void set_limits(uint64_t kernels, uint64_t code_bytes) {
    const Evicted evicted = [&] {
      const std::lock_guard lock(mutex_);
      statistics_.kernel_limit = kernels;
      statistics_.code_byte_limit = code_bytes;
      return evict();
    }();
  }

  void clear() {
    const Evicted evicted = [&] {
      const std::lock_guard lock(mutex_);
      Evicted all;
      while (!recent_.empty()) drop(recent_.back(), all);
      return all;
    }();
  }

 private:
  struct Entry {
    std::shared_future<SharedCode> result;
    std::list<const std::string*>::iterator place;
    uint64_t bytes = 0;
  };
  // Destroyed without the lock: freeing code takes time.
  using Evicted = std::vector<std::shared_future<SharedCode>>;

  SharedCode compile(const std::string& key, const std::function<CompiledCode()>& make,
                     std::promise<SharedCode>& promise) {
    const auto start = std::chrono::steady_clock::now();
    CompiledCode compiled;
    try {
      compiled = make();
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(mutex_);
      // The next one to ask tries again.
      const auto found = entries_.find(key);
      if (found != entries_.end()) {
        recent_.erase(found->second.place);
        entries_.erase(found);
      }
      throw;
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    promise.set_value(compiled.code);
    const Evicted evicted = [&] {
      const std::lock_guard lock(mutex_);
      if (!compiled.from_disk) {
        ++statistics_.compilations;
        statistics_.compile_seconds += taken.count();
      }
      const auto found = entries_.find(key);
      if (found != entries_.end()) {
        statistics_.code_bytes += compiled.bytes - found->second.bytes;
        found->second.bytes = compiled.bytes;
      }
      return evict();
    }();
    return compiled.code;
  }

  Evicted evict() {
    Evicted evicted;
    while (recent_.size() > 1 && (recent_.size() > statistics_.kernel_limit ||
                                  statistics_.code_bytes > statistics_.code_byte_limit)) {
      drop(recent_.back(), evicted);
      ++statistics_.evictions;
    }
    return evicted;
  }

  void drop(const std::string* key, Evicted& evicted) {
    const auto found = entries_.find(*key);
    statistics_.code_bytes -= found->second.bytes;
    evicted.push_back(std::move(found->second.result));
    recent_.erase(found->second.place);
    entries_.erase(found);
  }

  // Kernels that other threads were compiling will never be ready in the child.
  void after_fork(bool in_child) {
    if (in_child) {
      forget_compile_threads();
      for (auto entry = entries_.begin(); entry != entries_.end();) {
        const bool ready =
            entry->second.result.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
        if (!ready) recent_.erase(entry->second.place);
        entry = ready ? std::next(entry) : entries_.erase(entry);
      }
    }
    mutex_.unlock();
  }

  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;
  std::list<const std::string*> recent_;  // the keys, most recently used first
  CacheStatistics statistics_;
};

// Never destroyed: code may run until the process ends.
Cache& the_cache() {
  static auto* const cache = new Cache;
  return *cache;
}

}  // namespace

std::shared_ptr<const Code> cached(const std::string& key,
                                   const std::function<CompiledCode()>& make) {
  return the_cache().get(key, make);
}

CacheStatistics cache_statistics() { return the_cache().statistics(); }

void set_cache_limits(uint64_t kernels, uint64_t code_bytes) {
  the_cache().set_limits(kernels, code_bytes);
}

void clear_cache() { the_cache().clear(); }

}  // namespace lanewise::jit
