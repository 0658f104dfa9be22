#include "runtime/fork.h"

#include <pthread.h>

#include <algorithm>
#include <vector>

namespace lanewise::runtime {

namespace {

struct Registry {
  struct Entry {
    LockRank rank;
    ForkSafeMutex* mutex;
  };
  std::mutex guard;
  std::vector<Entry> entries;  // outermost first
};

// Never destroyed: the process may fork while it ends.
Registry& registry() {
  static Registry& instance = *new Registry;
  return instance;
}

void lock_all() {
  registry().guard.lock();
  for (const Registry::Entry& entry : registry().entries) entry.mutex->lock();
}

void unlock_all() {
  std::vector<Registry::Entry>& entries = registry().entries;
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) entry->mutex->unlock();
  registry().guard.unlock();
}

}  // namespace

ForkSafeMutex::ForkSafeMutex(LockRank rank) {
  static const int registered = pthread_atfork(lock_all, unlock_all, unlock_all);
  static_cast<void>(registered);  // fails for want of memory only
  const std::lock_guard hold(registry().guard);
  std::vector<Registry::Entry>& entries = registry().entries;
  const auto place =
      std::upper_bound(entries.begin(), entries.end(), rank,
                       [](LockRank r, const Registry::Entry& entry) { return r < entry.rank; });
  entries.insert(place, {rank, this});
}

}  // namespace lanewise::runtime
