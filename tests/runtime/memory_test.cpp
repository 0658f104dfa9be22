#include "runtime/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstring>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/detail/size_class.h"
#include "support/error.h"

namespace lanewise::runtime {
namespace {

TEST(size_class, is_the_tightest_and_wastes_little) {
  using namespace detail;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    const size_t bytes = i < 100000 ? i + 1 : 1 + random() % (kLargestBlock >> random() % 40);
    const int c = size_class_of(bytes);
    ASSERT_GE(bytes_of_class(c), bytes);
    ASSERT_TRUE(c == 0 || bytes_of_class(c - 1) < bytes) << bytes;
    ASSERT_LE(bytes_of_class(c), std::max(bytes + bytes / 8 + 1, bytes + kGranule)) << bytes;
    ASSERT_EQ(bytes_of_class(c) % kGranule, 0u);
  }
}

TEST(buffer, is_aligned_and_usable_to_the_next_multiple_of_64) {
  for (const size_t bytes : {0, 1, 63, 64, 65, 1000, 4096, 100000, 262144, 1 << 20, 5000001}) {
    const BufferRef buffer = Buffer::allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer->data()) % 64, 0u);
    EXPECT_EQ(buffer->size(), bytes);
    EXPECT_FALSE(buffer->is_foreign());
    std::memset(buffer->data(), 0xa5, (bytes + 63) / 64 * 64);
  }
}

TEST(buffer, counts_references) {
  BufferRef a = Buffer::allocate(100);
  EXPECT_TRUE(a->is_unique());
  BufferRef b = a;
  EXPECT_FALSE(a->is_unique());
  EXPECT_EQ(a, b);
  BufferRef c = std::move(b);
  EXPECT_FALSE(b);  // NOLINT(bugprone-use-after-move): moving empties it
  c = {};
  EXPECT_TRUE(a->is_unique());
  BufferRef& alias = a;
  a = alias;
  EXPECT_TRUE(a->is_unique());
}

TEST(buffer, releases_foreign_memory_once_with_the_last_reference) {
  int released = 0;
  char memory[16];
  const Buffer::Release release = {[](void* count) { ++*static_cast<int*>(count); }, &released};
  BufferRef a = Buffer::foreign(memory, sizeof memory, release);
  EXPECT_TRUE(a->is_foreign());
  EXPECT_EQ(a->data(), memory);
  std::thread([b = a]() mutable { b = {}; }).join();
  EXPECT_EQ(released, 0);
  a = {};
  EXPECT_EQ(released, 1);
}

TEST(buffer, empty_ones_have_addresses_of_their_own) {
  const BufferRef a = Buffer::allocate(0);
  const BufferRef b = Buffer::allocate(0);
  EXPECT_NE(a->data(), b->data());
}

class Allocator : public testing::Test {
 protected:
  void SetUp() override {
    before_ = memory_statistics();
    free_cached_memory();
    reset_peak_memory();
  }
  void TearDown() override {
    set_memory_limit(0);
    set_cache_limit(before_.cache_limit);
    EXPECT_EQ(memory_statistics().in_use, before_.in_use);
  }
  uint64_t in_use() const { return memory_statistics().in_use - before_.in_use; }

  MemoryStatistics before_;
};

TEST_F(Allocator, counts_what_is_in_use) {
  BufferRef small = Buffer::allocate(1000);
  BufferRef large = Buffer::allocate(1000000);
  EXPECT_GE(in_use(), 1001000u);
  EXPECT_LE(in_use(), 1001000u * 9 / 8 + 256);
  large = {};
  EXPECT_LE(in_use(), 1216u);
  EXPECT_GE(memory_statistics().cached, 1000000u);
  EXPECT_GE(memory_statistics().peak, before_.in_use + 1001000u);
  EXPECT_EQ(memory_statistics().allocations, before_.allocations + 2);
  free_cached_memory();
  EXPECT_LT(memory_statistics().cached, 1000000u);
  reset_peak_memory();
  EXPECT_LT(memory_statistics().peak, before_.in_use + 1000000u);
}

TEST_F(Allocator, does_not_grow_in_a_loop) {
  std::mt19937 random(1);
  const auto round = [&] {
    std::vector<BufferRef> live;
    for (const size_t bytes : {8u, 100u, 5000u, 40000u, 300000u, 3000000u}) {
      for (int i = 0; i < 3; ++i) live.push_back(Buffer::allocate(bytes));
    }
    std::shuffle(live.begin(), live.end(), random);
    while (!live.empty()) live.pop_back();
  };
  round();
  const MemoryStatistics first = memory_statistics();
  for (int i = 0; i < 1000; ++i) round();
  const MemoryStatistics last = memory_statistics();
  EXPECT_EQ(last.from_system, first.from_system);
  EXPECT_EQ(last.in_use, first.in_use);
  EXPECT_EQ(last.cached, first.cached);
  EXPECT_EQ(last.allocations, first.allocations + 18000);
}

TEST_F(Allocator, takes_no_page_faults_for_reused_memory) {
  constexpr size_t kBytes = 8 << 20;
  const auto touch = [] {
    const BufferRef buffer = Buffer::allocate(kBytes);
    std::memset(buffer->data(), 1, kBytes);
  };
  touch();
  rusage before;
  rusage after;
  getrusage(RUSAGE_THREAD, &before);
  for (int i = 0; i < 10; ++i) touch();
  getrusage(RUSAGE_THREAD, &after);
  EXPECT_LE(after.ru_minflt - before.ru_minflt, 8);  // anew: 2048 a round, or 4 huge ones
}

TEST_F(Allocator, serves_growing_sizes_from_bounded_memory) {
  set_cache_limit(64 << 20);
  for (size_t bytes = 1000000; bytes < 20000000; bytes += 10007) Buffer::allocate(bytes);
  EXPECT_LE(memory_statistics().cached, (uint64_t{64} << 20) + (2 << 20));
}

TEST_F(Allocator, gives_the_blocks_freed_first_back_to_the_system) {
  set_cache_limit(5 << 20);
  BufferRef a = Buffer::allocate(2 << 20);
  BufferRef b = Buffer::allocate(2 << 20);
  BufferRef c = Buffer::allocate(2 << 20);
  const char* const address_b = b->data();
  const char* const address_c = c->data();
  a = {};
  c = {};
  b = {};
  const uint64_t from_system = memory_statistics().from_system;
  b = Buffer::allocate(2 << 20);
  c = Buffer::allocate(2 << 20);
  EXPECT_EQ(b->data(), address_b) << "freed last, used first";
  EXPECT_EQ(c->data(), address_c);
  EXPECT_EQ(memory_statistics().from_system, from_system);
}

TEST_F(Allocator, keeps_nothing_larger_than_the_cache) {
  set_cache_limit(1 << 20);
  Buffer::allocate(4 << 20);
  EXPECT_LE(memory_statistics().cached, uint64_t{3} << 20);
  set_cache_limit(0);
  free_cached_memory();
  Buffer::allocate(1 << 20);
  EXPECT_EQ(memory_statistics().cached, 0u);
}

TEST_F(Allocator, holds_to_the_limit) {
  const uint64_t limit = memory_statistics().in_use + memory_statistics().cached + (16 << 20);
  set_memory_limit(limit);
  BufferRef a = Buffer::allocate(8 << 20);
  try {
    Buffer::allocate(12 << 20);
    FAIL() << "should have thrown";
  } catch (const MemoryError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("allocate: no room for "), std::string::npos) << message;
    EXPECT_NE(message.find("the memory limit is " + std::to_string(limit)), std::string::npos);
  }
  a = {};
  EXPECT_NO_THROW(Buffer::allocate(12 << 20)) << "what is cached makes room";
  EXPECT_LE(memory_statistics().in_use + memory_statistics().cached, limit);
}

TEST_F(Allocator, refuses_impossible_sizes) {
  EXPECT_THROW(Buffer::allocate(SIZE_MAX), MemoryError);
  EXPECT_THROW(Buffer::allocate(SIZE_MAX - 63), MemoryError);
  EXPECT_THROW(Buffer::allocate(detail::kLargestBlock), MemoryError);
  EXPECT_THROW(Buffer::allocate(detail::kLargestBlock - 128), MemoryError);
}

TEST_F(Allocator, takes_back_what_a_thread_kept) {
  const uint64_t cached = memory_statistics().cached;
  std::thread([] {
    std::vector<BufferRef> live;
    live.reserve(1000);
    for (int i = 0; i < 1000; ++i) live.push_back(Buffer::allocate(500));
  }).join();
  EXPECT_GE(memory_statistics().cached, cached + 500000);
  free_cached_memory();
  EXPECT_LE(memory_statistics().cached, cached);
}

// A buffer held by a thread-local object that is destroyed after the thread's cache.
TEST_F(Allocator, takes_buffers_freed_while_a_thread_ends) {
  std::thread([] {
    static thread_local BufferRef held;  // constructed first, so destroyed last
    held = {};
    held = Buffer::allocate(100);
  }).join();
}

// Threads allocate, fill, hand over to each other, check and free.
TEST_F(Allocator, is_safe_among_threads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 20000;
  std::mutex mutex;
  std::vector<BufferRef> shared;
  std::atomic<int> damaged = 0;
  const auto mark = [](const BufferRef& buffer) {
    return static_cast<char>(reinterpret_cast<uintptr_t>(buffer->data()) >> 6 ^ buffer->size());
  };
  const auto work = [&](int seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < kRounds; ++i) {
      const size_t bytes = 1 + random() % (size_t{1} << (4 + random() % 15));
      BufferRef mine = Buffer::allocate(bytes);
      std::memset(mine->data(), mark(mine), bytes);
      BufferRef theirs;
      {
        const std::lock_guard hold(mutex);
        shared.push_back(std::move(mine));
        std::swap(shared[random() % shared.size()], shared.back());
        if (shared.size() > 200) {
          theirs = std::move(shared.back());
          shared.pop_back();
        }
      }
      if (!theirs) continue;
      const char* const data = theirs->data();
      const char expected = mark(theirs);
      if (!std::all_of(data, data + theirs->size(), [&](char c) { return c == expected; })) {
        ++damaged;
      }
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(damaged, 0);
  shared.clear();
}

bool huge_pages_are_offered() {
  std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
  std::string text;
  std::getline(file, text);
  return !text.empty() && text.find("[never]") == std::string::npos;
}

// Kilobytes of huge pages in the mapping that holds `address`.
long huge_kilobytes_at(const char* address) {
  std::ifstream maps("/proc/self/smaps");
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t first = 0;
    uintptr_t last = 0;
    const char* const end = line.data() + line.size();
    const auto [dash, error] = std::from_chars(line.data(), end, first, 16);
    if (error == std::errc() && *dash == '-') {  // "7f0000000000-7f0000200000 rw-p ..."
      std::from_chars(dash + 1, end, last, 16);
      inside = first <= wanted && wanted < last;
    } else if (inside && line.starts_with("AnonHugePages:")) {
      return std::stol(line.substr(line.find(':') + 1));
    }
  }
  return -1;
}

TEST_F(Allocator, uses_huge_pages_for_large_blocks) {
  if (!huge_pages_are_offered()) GTEST_SKIP() << "this system offers no transparent huge pages";
  constexpr size_t kBytes = 32 << 20;
  const BufferRef buffer = Buffer::allocate(kBytes);
  std::memset(buffer->data(), 1, kBytes);
  EXPECT_GT(huge_kilobytes_at(buffer->data()), 0);
}

}  // namespace
}  // namespace lanewise::runtime
