#include "runtime/detail/block_cache.h"

#include <algorithm>
#include <mutex>

#include "runtime/cpu.h"
#include "runtime/detail/system_memory.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::runtime::detail {

namespace {

// A large block may serve a request of up to this many classes below (a quarter of its size).
constexpr int kSlack = 2;

void free_chain(FreeBlock* block) {
  while (block != nullptr) {
    FreeBlock* const next = block->after;
    system_free(block, bytes_of_class(block->size_class));
    block = next;
  }
}

[[noreturn]] void throw_beyond_limit(size_t bytes, uint64_t limit, uint64_t taken) {
  throw MemoryError(
      format("allocate: no room for {} bytes: the memory limit is {} and {} are in use", bytes,
             limit, taken));
}

}  // namespace

BlockCache& block_cache() {
  static BlockCache& instance = [&]() -> BlockCache& {
    auto& cache = *new BlockCache;
    cache.set_cache_limit(usable_memory() / 8);
    return cache;
  }();
  return instance;
}

void BlockCache::push(FreeBlock* block) {
  FreeBlock*& head = youngest_of_class_[block->size_class];
  block->before = head;
  block->after = nullptr;
  if (head != nullptr) head->after = block;
  head = block;
  block->older = youngest_;
  block->younger = nullptr;
  (youngest_ != nullptr ? youngest_->younger : oldest_) = block;
  youngest_ = block;
  counts_.cached += bytes_of_class(block->size_class);
}

void BlockCache::unlink(FreeBlock* block) {
  if (block->before != nullptr) block->before->after = block->after;
  (block->after != nullptr ? block->after->before : youngest_of_class_[block->size_class]) =
      block->before;
  (block->older != nullptr ? block->older->younger : oldest_) = block->younger;
  (block->younger != nullptr ? block->younger->older : youngest_) = block->older;
  counts_.cached -= bytes_of_class(block->size_class);
}

FreeBlock* BlockCache::find(int size_class) {
  const int slack = bytes_of_class(size_class) < kMappedFrom ? 0 : kSlack;
  const int last = std::min(size_class + slack, kClasses - 1);
  for (int c = size_class; c <= last; ++c) {
    if (youngest_of_class_[c] != nullptr) return youngest_of_class_[c];
  }
  return nullptr;
}

FreeBlock* BlockCache::evict_down_to(uint64_t bytes) {
  FreeBlock* chain = nullptr;
  while (counts_.cached > bytes) {
    FreeBlock* const block = oldest_;
    unlink(block);
    block->after = chain;
    chain = block;
  }
  return chain;
}

Block BlockCache::take(int size_class) {
  {
    const std::lock_guard hold(mutex_);
    if (FreeBlock* const block = find(size_class)) {
      unlink(block);
      counts_.taken += bytes_of_class(block->size_class);
      counts_.peak = std::max(counts_.peak, counts_.taken);
      return {block, block->size_class};
    }
  }
  return take_new(size_class);
}

Block BlockCache::take_new(int size_class) {
  const size_t bytes = bytes_of_class(size_class);
  FreeBlock* evicted = nullptr;
  {
    const std::lock_guard hold(mutex_);
    if (counts_.limit > 0) {
      if (counts_.taken + bytes > counts_.limit) {
        throw_beyond_limit(bytes, counts_.limit, counts_.taken);
      }
      evicted = evict_down_to(counts_.limit - counts_.taken - bytes);
    }
    counts_.taken += bytes;
    counts_.peak = std::max(counts_.peak, counts_.taken);
    ++counts_.from_system;
  }
  free_chain(evicted);
  void* address = system_allocate(bytes);
  if (address == nullptr) {
    free_all();
    address = system_allocate(bytes);
  }
  if (address == nullptr) {
    const std::lock_guard hold(mutex_);
    counts_.taken -= bytes;
    --counts_.from_system;
    throw MemoryError(format("allocate: no room for {} bytes: the system has no more", bytes));
  }
  return {address, size_class};
}

FreeBlock* BlockCache::take_cached(int size_class, uint32_t& count) {
  const std::lock_guard hold(mutex_);
  FreeBlock* chain = nullptr;
  uint32_t taken = 0;
  for (; taken < count && youngest_of_class_[size_class] != nullptr; ++taken) {
    FreeBlock* const block = youngest_of_class_[size_class];
    unlink(block);
    block->after = chain;
    chain = block;
  }
  count = taken;
  counts_.taken += taken * bytes_of_class(size_class);
  counts_.peak = std::max(counts_.peak, counts_.taken);
  return chain;
}

void BlockCache::give(FreeBlock* first, uint32_t count) {
  FreeBlock* evicted = nullptr;
  {
    const std::lock_guard hold(mutex_);
    for (uint32_t i = 0; i < count; ++i) {
      FreeBlock* const next = first->after;
      counts_.taken -= bytes_of_class(first->size_class);
      push(first);
      first = next;
    }
    evicted = evict_down_to(counts_.cache_limit);
  }
  free_chain(evicted);
}

void BlockCache::free_all() {
  FreeBlock* evicted = nullptr;
  {
    const std::lock_guard hold(mutex_);
    evicted = evict_down_to(0);
  }
  free_chain(evicted);
}

void BlockCache::set_limit(uint64_t bytes) {
  FreeBlock* evicted = nullptr;
  {
    const std::lock_guard hold(mutex_);
    counts_.limit = bytes;
    if (bytes > 0) evicted = evict_down_to(bytes - std::min(bytes, counts_.taken));
  }
  free_chain(evicted);
}

void BlockCache::set_cache_limit(uint64_t bytes) {
  FreeBlock* evicted = nullptr;
  {
    const std::lock_guard hold(mutex_);
    counts_.cache_limit = bytes;
    evicted = evict_down_to(bytes);
  }
  free_chain(evicted);
}

void BlockCache::reset_peak() {
  const std::lock_guard hold(mutex_);
  counts_.peak = counts_.taken;
}

BlockCache::Counts BlockCache::counts() {
  const std::lock_guard hold(mutex_);
  return counts_;
}

}  // namespace lanewise::runtime::detail
