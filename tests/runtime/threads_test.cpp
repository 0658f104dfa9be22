#include "runtime/threads.h"

#include <gtest/gtest.h>
#include <immintrin.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/float_environment.h"
#include "runtime/fork.h"
#include "runtime/memory.h"
#include "support/error.h"

namespace lanewise::runtime {
namespace {

// Sets the number of threads for the time of a test.
class Threads : public testing::Test {
 protected:
  void TearDown() override {
    set_num_threads(before_);
    set_interrupt_check(nullptr);
  }
  int before_ = num_threads();
};

TEST_F(Threads, number_is_what_was_set) {
  set_num_threads(3);
  EXPECT_EQ(num_threads(), 3);
  EXPECT_THROW(set_num_threads(0), ValueError);
  EXPECT_THROW(set_num_threads(-1), ValueError);
  EXPECT_THROW(set_num_threads(kMostThreads + 1), ValueError);
  EXPECT_EQ(num_threads(), 3);
}

void spin(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) _mm_pause();
}

TEST_F(Threads, loop_calls_each_iteration_once) {
  for (const int threads : {1, 2, 3, 7}) {
    set_num_threads(threads);
    for (const int64_t count : {0, 1, 2, 6, 7, 8, 100, 1001}) {
      std::vector<std::atomic<int>> calls(count);
      parallel_for(count, threads, [&](int64_t i, int) { ++calls[i]; });
      for (int64_t i = 0; i < count; ++i) ASSERT_EQ(calls[i], 1) << threads << " " << i;
    }
  }
}

TEST_F(Threads, loop_really_uses_several) {
  set_num_threads(3);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  for (int attempt = 0; attempt < 100 && seen.size() < 3; ++attempt) {
    parallel_for(60, 3, [&](int64_t, int) {
      spin(std::chrono::microseconds(200));
      const std::lock_guard hold(mutex);
      seen.insert(std::this_thread::get_id());
    });
  }
  EXPECT_GE(seen.size(), 3u);
}

TEST_F(Threads, workers_are_numbered_and_do_not_overlap) {
  set_num_threads(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<int> wrong = 0;
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 200; ++round) {
    parallel_for(64, 4, [&](int64_t, int worker) {
      if (worker < 0 || worker >= 4 || ++inside[worker] != 1) ++wrong;
      if ((worker == 0) != (std::this_thread::get_id() == caller)) ++wrong;
      spin(std::chrono::microseconds(5));
      --inside[worker];
    });
  }
  EXPECT_EQ(wrong, 0);
}

TEST_F(Threads, loops_run_inside_loops_and_from_many_threads) {
  set_num_threads(3);
  std::atomic<int> calls = 0;
  std::vector<std::thread> callers;
  callers.reserve(4);
  for (int t = 0; t < 4; ++t) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        parallel_for(8, 3,
                     [&](int64_t, int) { parallel_for(4, 3, [&](int64_t, int) { ++calls; }); });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(calls, 4 * 50 * 8 * 4);
}

TEST_F(Threads, results_are_visible_to_the_caller) {
  set_num_threads(2);
  std::vector<int> values(4096);
  for (int round = 1; round <= 200; ++round) {
    parallel_for(64, 2, [&](int64_t i, int) {
      for (int k = 0; k < 64; ++k) values[i * 64 + k] = round;
    });
    for (const int value : values) ASSERT_EQ(value, round);
  }
}

// ---- floating-point environment -----------------------------------------------------------

constexpr uint32_t kFlushAndTruncate = 0x1f80 | 0x8000 | 0x0040 | 0x6000 | 0x0004;

TEST(float_environment, is_default_inside_and_restored_outside) {
  const uint32_t before = _mm_getcsr();
  _mm_setcsr(kFlushAndTruncate);
  {
    const DefaultFloatEnvironment environment;
    EXPECT_EQ(_mm_getcsr() & ~0x3fu, 0x1f80u);
    volatile float zero = 0;
    volatile float raised = 1 / zero;
    static_cast<void>(raised);
  }
  const uint32_t after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after, kFlushAndTruncate) << "flags raised inside are gone too";
}

TEST_F(Threads, loops_run_in_the_default_environment) {
  set_num_threads(2);
  const uint32_t before = _mm_getcsr();
  _mm_setcsr(kFlushAndTruncate);
  std::atomic<int> wrong = 0;
  for (int round = 0; round < 20; ++round) {
    parallel_for(16, 2, [&](int64_t, int) {
      if ((_mm_getcsr() & ~0x3fu) != 0x1f80u) ++wrong;
      spin(std::chrono::microseconds(20));
    });
  }
  const uint32_t after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(after, kFlushAndTruncate);
  EXPECT_EQ(wrong, 0);
}

// ---- interrupts ---------------------------------------------------------------------------

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

TEST_F(Threads, an_interrupt_ends_a_long_loop_soon) {
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    set_interrupt_check([] { throw Interrupted(); });
    std::atomic<int> calls = 0;
    std::atomic<int> inside = 0;
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(parallel_for(1000000, threads,
                              [&](int64_t, int) {
                                ++inside;
                                spin(std::chrono::microseconds(500));
                                ++calls;
                                --inside;
                              }),
                 Interrupted);
    EXPECT_EQ(inside, 0) << "nobody works on after the exception";
    const auto time = std::chrono::steady_clock::now() - start;
    EXPECT_LT(time, std::chrono::seconds(1));
    EXPECT_LT(calls, 10000);
    // The next loop is not affected.
    set_interrupt_check(nullptr);
    std::atomic<int> later = 0;
    parallel_for(100, threads, [&](int64_t, int) { ++later; });
    EXPECT_EQ(later, 100);
  }
}

std::atomic<int> checks = 0;

TEST_F(Threads, the_interrupt_check_is_called_now_and_then_by_the_caller_only) {
  static std::thread::id caller;
  static std::atomic<bool> wrong;
  caller = std::this_thread::get_id();
  wrong = false;
  checks = 0;
  set_interrupt_check([] {
    ++checks;
    if (std::this_thread::get_id() != caller) wrong = true;
  });
  const auto start = std::chrono::steady_clock::now();
  parallel_for(800, 2, [&](int64_t, int) { spin(std::chrono::microseconds(500)); });
  const auto time = std::chrono::steady_clock::now() - start;
  EXPECT_FALSE(wrong);
  EXPECT_GE(checks, 1);
  EXPECT_LE(checks, time / std::chrono::milliseconds(50) + 1);
}

// ---- fork ---------------------------------------------------------------------------------

// Whether a forked child runs `work` to its end and finds it true.
bool works_in_child(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);  // rather than hang
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool loop_works() {
  std::vector<std::atomic<int>> calls(500);
  parallel_for(500, 3, [&](int64_t i, int) {
    const BufferRef small = Buffer::allocate(100);
    const BufferRef large = Buffer::allocate(200000);
    std::memset(large->data(), 1, large->size());
    ++calls[i];
  });
  for (const auto& call : calls) {
    if (call != 1) return false;
  }
  return true;
}

TEST_F(Threads, a_child_works_after_the_pool_was_used) {
  set_num_threads(3);
  ASSERT_TRUE(loop_works());
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(works_in_child(loop_works));
  EXPECT_TRUE(loop_works());
}

TEST_F(Threads, a_child_works_when_forked_amid_the_work_of_others) {
  set_num_threads(3);
  std::atomic<bool> stop = false;
  std::vector<std::thread> busy;
  busy.reserve(2);
  for (int t = 0; t < 2; ++t) {
    busy.emplace_back([&] {
      while (!stop) loop_works();
    });
  }
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(works_in_child(loop_works));
  stop = true;
  for (std::thread& thread : busy) thread.join();
}

TEST_F(Threads, a_grandchild_works_too) {
  set_num_threads(2);
  ASSERT_TRUE(loop_works());
  EXPECT_TRUE(works_in_child([] { return loop_works() && works_in_child(loop_works); }));
}

TEST(fork_safe_mutex, is_open_in_the_child) {
  static ForkSafeMutex& inner = *new ForkSafeMutex(LockRank::kMemory);
  static ForkSafeMutex& outer = *new ForkSafeMutex(LockRank::kFrontend);
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    while (!stop) {
      const std::lock_guard hold_outer(outer);
      const std::lock_guard hold_inner(inner);
    }
  });
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(works_in_child([] {
      const bool opened = outer.try_lock() && inner.try_lock();
      return opened;
    }));
  }
  stop = true;
  busy.join();
}

// ---- the environment variable, which a process reads once ----------------------------------

// Says on stderr what a fresh process makes of this value.
[[noreturn]] void report_threads(const std::string& value) {
  setenv("LANEWISE_NUM_THREADS", value.c_str(), 1);
  try {
    std::fprintf(stderr, "threads %d\n", num_threads());
  } catch (const ValueError& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  std::exit(0);
}

TEST(environment, sets_the_number_of_threads) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // starts this program anew
  const auto succeeds = testing::ExitedWithCode(0);
  EXPECT_EXIT(report_threads("5"), succeeds, "threads 5");
  EXPECT_EXIT(report_threads(""), succeeds, "threads [1-9]");
  for (const std::string bad : {"0", "-2", "two", "2x", "1.5", "99999999999", " 2"}) {
    EXPECT_EXIT(report_threads(bad), succeeds,
                "LANEWISE_NUM_THREADS: " + bad + " is not a number of threads from 1 to 1024");
  }
}

}  // namespace
}  // namespace lanewise::runtime
