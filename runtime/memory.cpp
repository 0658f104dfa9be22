#include "runtime/memory.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <new>

#include "runtime/detail/block_cache.h"
#include "runtime/detail/size_class.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::runtime {

namespace {

using detail::Block;
using detail::block_cache;
using detail::bytes_of_class;
using detail::FreeBlock;
using detail::kGranule;
using detail::size_class_of;

// Blocks up to this size are kept by the thread that freed them, some of each class.
constexpr size_t kLargestOfThread = 32 << 10;
constexpr int kThreadClasses = size_class_of(kLargestOfThread) + 1;
constexpr uint32_t kMostOfClass = 32;

constexpr std::array<uint32_t, kThreadClasses> kCapacities = [] {
  std::array<uint32_t, kThreadClasses> capacities = {};
  for (int c = 0; c < kThreadClasses; ++c) {
    const size_t fitting = kLargestOfThread / bytes_of_class(c);
    capacities[c] = static_cast<uint32_t>(std::clamp<size_t>(fitting, 2, kMostOfClass));
  }
  return capacities;
}();

// A counter that one thread writes and others read.
class Counter {
 public:
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  void add(uint64_t n) { value_.store(get() + n, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_ = 0;
};

// What one thread keeps for itself.
class ThreadCache {
 public:
  Block take(int size_class) {
    allocations_.add(1);
    if (size_class >= kThreadClasses) return block_cache().take(size_class);
    Stack& stack = stacks_[size_class];
    if (stack.top == nullptr) [[unlikely]]
      return refill(size_class);
    FreeBlock* const block = stack.top;
    stack.top = block->after;
    stack.count.add(-1);
    return {block, size_class};
  }

  void give(void* address, int size_class) {
    auto* const block = static_cast<FreeBlock*>(address);
    block->size_class = size_class;
    if (size_class >= kThreadClasses) {
      block->after = nullptr;
      block_cache().give(block, 1);
      return;
    }
    Stack& stack = stacks_[size_class];
    block->after = stack.top;
    stack.top = block;
    stack.count.add(1);
    if (stack.count.get() > kCapacities[size_class]) [[unlikely]] {
      give_back(size_class, kCapacities[size_class] / 2);
    }
  }

  // Gives the youngest blocks of a class to the shared cache until `remaining` are left.
  void give_back(int size_class, uint32_t remaining) {
    Stack& stack = stacks_[size_class];
    const auto count = static_cast<uint32_t>(stack.count.get());
    if (count <= remaining) return;
    FreeBlock* const first = stack.top;
    for (uint32_t i = remaining; i < count; ++i) stack.top = stack.top->after;
    stack.count.add(uint64_t{remaining} - count);
    block_cache().give(first, count - remaining);
  }

  void give_all_back() {
    for (int c = 0; c < kThreadClasses; ++c) give_back(c, 0);
  }

  ThreadCache* next = nullptr;  // of all threads' caches

  uint64_t allocations() const { return allocations_.get(); }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (int c = 0; c < kThreadClasses; ++c) sum += stacks_[c].count.get() * bytes_of_class(c);
    return sum;
  }

 private:
  struct Stack {
    FreeBlock* top = nullptr;
    Counter count;
  };

  Block refill(int size_class) {
    uint32_t count = kCapacities[size_class] / 2;
    FreeBlock* const chain = block_cache().take_cached(size_class, count);
    if (chain == nullptr) return block_cache().take(size_class);
    stacks_[size_class].top = chain->after;
    stacks_[size_class].count.add(count - 1);
    return {chain, size_class};
  }

  std::array<Stack, kThreadClasses> stacks_;
  Counter allocations_;
};

// All threads' caches, for statistics. Never destroyed.
struct Threads {
  ForkSafeMutex mutex{LockRank::kThreads};
  ThreadCache* first = nullptr;
  uint64_t allocations_of_the_dead = 0;

  void add(ThreadCache* cache) {
    const std::lock_guard hold(mutex);
    cache->next = first;
    first = cache;
  }

  void remove(ThreadCache* cache) {
    const std::lock_guard hold(mutex);
    ThreadCache** link = &first;
    while (*link != cache) link = &(*link)->next;
    *link = cache->next;
    allocations_of_the_dead += cache->allocations();
  }
};

Threads& threads() {
  static Threads& instance = *new Threads;
  return instance;
}

// A thread's cache goes when the thread ends; buffers that are freed even later (by destructors of
// other thread-local objects) bypass it.
thread_local ThreadCache* t_cache = nullptr;
thread_local bool t_ended = false;

struct EndOfThread {
  ~EndOfThread() {
    t_ended = true;
    ThreadCache* const cache = std::exchange(t_cache, nullptr);
    if (cache == nullptr) return;
    cache->give_all_back();
    threads().remove(cache);
    delete cache;
  }
};

ThreadCache* make_thread_cache() {
  if (t_ended) return nullptr;
  static thread_local EndOfThread end_of_thread;
  static_cast<void>(end_of_thread);
  t_cache = new (std::nothrow) ThreadCache;
  if (t_cache != nullptr) threads().add(t_cache);
  return t_cache;
}

ThreadCache* thread_cache() {
  ThreadCache* const cache = t_cache;
  return cache != nullptr ? cache : make_thread_cache();
}

Block take_block(size_t bytes) {
  const int size_class = size_class_of(bytes);
  if (ThreadCache* const cache = thread_cache()) return cache->take(size_class);
  return block_cache().take(size_class);
}

void give_block(Block block) {
  if (ThreadCache* const cache = thread_cache()) {
    cache->give(block.address, block.size_class);
    return;
  }
  auto* const free = static_cast<FreeBlock*>(block.address);
  free->size_class = block.size_class;
  block_cache().give(free, 1);
}

}  // namespace

// ---- buffers ------------------------------------------------------------------------------

static_assert(sizeof(Buffer) <= kGranule, "the header is one granule, so that data are aligned");

BufferRef Buffer::allocate(size_t bytes) {
  if (bytes > detail::kLargestBlock - 2 * kGranule) {
    throw MemoryError(format("allocate: no room for {} bytes: no machine has as many", bytes));
  }
  // Even an empty buffer has an address of its own.
  const Block block = take_block(kGranule + (bytes == 0 ? 1 : bytes));
  char* const data = static_cast<char*>(block.address) + kGranule;
  return BufferRef(new (block.address) Buffer(data, bytes, block.size_class, {}));
}

BufferRef Buffer::foreign(void* data, size_t bytes, Release release) {
  return BufferRef(new Buffer(static_cast<char*>(data), bytes, -1, release));
}

void Buffer::destroy(Buffer* buffer) {
  if (!buffer->is_foreign()) {
    const int size_class = buffer->size_class_;
    buffer->~Buffer();
    give_block({buffer, size_class});
    return;
  }
  const Release release = buffer->release_;
  delete buffer;
  if (release.function != nullptr) release.function(release.context);
}

// ---- the allocator as a whole -------------------------------------------------------------

MemoryStatistics memory_statistics() {
  MemoryStatistics statistics;
  uint64_t kept_by_threads = 0;
  {
    const std::lock_guard hold(threads().mutex);
    statistics.allocations = threads().allocations_of_the_dead;
    for (const ThreadCache* cache = threads().first; cache != nullptr; cache = cache->next) {
      statistics.allocations += cache->allocations();
      kept_by_threads += cache->bytes();
    }
  }
  const detail::BlockCache::Counts counts = block_cache().counts();
  statistics.in_use = counts.taken - std::min(counts.taken, kept_by_threads);
  statistics.cached = counts.cached + kept_by_threads;
  statistics.peak = counts.peak;
  statistics.from_system = counts.from_system;
  statistics.limit = counts.limit;
  statistics.cache_limit = counts.cache_limit;
  return statistics;
}

void reset_peak_memory() { block_cache().reset_peak(); }

void free_cached_memory() {
  if (ThreadCache* const cache = thread_cache()) cache->give_all_back();
  block_cache().free_all();
}

void set_memory_limit(uint64_t bytes) { block_cache().set_limit(bytes); }

void set_cache_limit(uint64_t bytes) { block_cache().set_cache_limit(bytes); }

}  // namespace lanewise::runtime
