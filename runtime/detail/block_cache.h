// Blocks of memory from the system, and freed ones that wait for reuse.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/detail/size_class.h"
#include "runtime/fork.h"
#include "runtime/memory.h"

namespace lanewise::runtime::detail {

// A block: `size_class` says how large it is.
struct Block {
  void* address = nullptr;
  int size_class = 0;
};

// What a block that nobody uses starts with.
struct FreeBlock {
  // Of the same class: the one freed before and after it.
  FreeBlock* before;
  FreeBlock* after;
  // Of all classes.
  FreeBlock* older;
  FreeBlock* younger;
  int size_class;
};
static_assert(sizeof(FreeBlock) <= kGranule);

// Shared by all threads. Never destroyed.
class BlockCache {
 public:
  BlockCache() = default;
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  // A block of this class or, of large ones, of one little above it. Throws MemoryError.
  Block take(int size_class);
  // Up to `count` cached blocks of just this class, chained by `after`; how many is in `count`.
  FreeBlock* take_cached(int size_class, uint32_t& count);
  // The youngest of `count` blocks chained by `after`, all of one class.
  void give(FreeBlock* first, uint32_t count);

  void free_all();
  void set_limit(uint64_t bytes);
  void set_cache_limit(uint64_t bytes);
  void reset_peak();

  struct Counts {
    uint64_t taken = 0;  // bytes of blocks that somebody has
    uint64_t cached = 0;
    uint64_t peak = 0;  // of `taken`
    uint64_t from_system = 0;
    uint64_t limit = 0;
    uint64_t cache_limit = 0;
  };
  Counts counts();

 private:
  // Each of these needs the lock.
  FreeBlock* find(int size_class);
  void push(FreeBlock* block);
  void unlink(FreeBlock* block);
  // Takes the oldest blocks out until at most `bytes` remain cached, chained by `after`.
  FreeBlock* evict_down_to(uint64_t bytes);

  Block take_new(int size_class);

  ForkSafeMutex mutex_{LockRank::kMemory};
  std::array<FreeBlock*, kClasses> youngest_of_class_ = {};
  FreeBlock* oldest_ = nullptr;
  FreeBlock* youngest_ = nullptr;
  Counts counts_;
};

BlockCache& block_cache();

}  // namespace lanewise::runtime::detail
