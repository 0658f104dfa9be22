// Locks that a forked child finds open: fork() waits for them, so that no thread that the child
// does not have can hold one.
#pragma once

#include <cstdint>
#include <mutex>

namespace lanewise::runtime {

// The order in which one thread may take several: a lock only while it holds none of the same or a
// later rank. fork() takes all of them in this order.
enum class LockRank : uint8_t { kFrontend, kCompiler, kThreads, kRandom, kMemory };

// A mutex of static lifetime (make it with `new` and leave it). Its holder must not wait for the
// embedding language's global lock: a thread that has that one may be the one that forks.
class ForkSafeMutex {
 public:
  explicit ForkSafeMutex(LockRank rank);
  ForkSafeMutex(const ForkSafeMutex&) = delete;
  ForkSafeMutex& operator=(const ForkSafeMutex&) = delete;

  void lock() { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace lanewise::runtime
