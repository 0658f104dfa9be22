#include "runtime/threads.h"

#include <immintrin.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <pthread.h>

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "runtime/cpu.h"
#include "runtime/float_environment.h"
#include "runtime/fork.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::runtime {

namespace {

using Clock = std::chrono::steady_clock;

// ---- the pool -----------------------------------------------------------------------------

int threads_at_start() {
  const char* const text = std::getenv("LANEWISE_NUM_THREADS");
  if (text == nullptr || *text == '\0') return std::min(usable_cores(), kMostThreads);
  const std::string_view view(text);
  int count = 0;
  const auto result = std::from_chars(view.data(), view.data() + view.size(), count);
  if (result.ec != std::errc() || result.ptr != view.data() + view.size() || count < 1 ||
      count > kMostThreads) {
    throw ValueError(format("LANEWISE_NUM_THREADS: {} is not a number of threads from 1 to {}",
                            text, kMostThreads));
  }
  return count;
}

// Worker threads are oneTBB's, shared with its other users. Never destroyed: workers may still look
// for tasks while the process ends.
class Pool {
 public:
  explicit Pool(int threads) : threads_(threads) {}

  int threads() const { return threads_.load(std::memory_order_relaxed); }
  void set_threads(int count) { threads_.store(count, std::memory_order_relaxed); }

  // Room for `helpers` threads besides the caller's.
  tbb::task_arena& arena(int helpers) {
    Arena* const last = last_.load(std::memory_order_acquire);
    if (last != nullptr && last->helpers == helpers) return last->arena;
    const std::lock_guard hold(mutex_);
    started_.store(true, std::memory_order_relaxed);
    std::unique_ptr<Arena>& arena = arenas_[helpers];
    if (arena == nullptr) {
      allow(helpers + 1);
      arena = std::make_unique<Arena>(helpers);
    }
    last_.store(arena.get(), std::memory_order_release);
    return arena->arena;
  }

  // After fork() the child has no workers, and whatever locks they held stay taken: it does all
  // work on the calling thread.
  bool lost_workers() const { return lost_workers_.load(std::memory_order_relaxed); }
  void after_fork_in_child() {
    if (started_.load(std::memory_order_relaxed)) lost_workers_.store(true);
  }

 private:
  struct Arena {
    explicit Arena(int count) : helpers(count), arena(count, /*reserved_for_masters=*/0) {}
    int helpers;
    tbb::task_arena arena;
  };

  // oneTBB has as many threads as cores until told otherwise.
  void allow(int threads) {
    using tbb::global_control;
    const size_t wanted = static_cast<size_t>(threads);
    if (wanted <= global_control::active_value(global_control::max_allowed_parallelism)) return;
    allowance_.reset();  // the smallest of several counts
    allowance_ = std::make_unique<global_control>(global_control::max_allowed_parallelism, wanted);
  }

  std::atomic<int> threads_;
  std::atomic<bool> started_ = false;
  std::atomic<bool> lost_workers_ = false;
  std::atomic<Arena*> last_ = nullptr;
  ForkSafeMutex mutex_{LockRank::kThreads};
  std::map<int, std::unique_ptr<Arena>> arenas_;  // by their number of helpers
  std::unique_ptr<tbb::global_control> allowance_;
};

Pool& pool() {
  static Pool& instance = []() -> Pool& {
    Pool& made = *new Pool(threads_at_start());
    pthread_atfork(nullptr, nullptr, [] { pool().after_fork_in_child(); });
    return made;
  }();
  return instance;
}

// ---- interrupts ---------------------------------------------------------------------------

constexpr auto kCheckInterval = std::chrono::milliseconds(50);

std::atomic<InterruptCheck> interrupt_check = nullptr;
thread_local Clock::rep t_last_check = 0;  // since the clock's epoch

// ---- loops --------------------------------------------------------------------------------

// The iterations of a loop while they are handed out. Each worker has a part of its own, in order,
// and then helps with those of others. Helpers come when a thread is free, which may be after all
// is done: the loop never waits for one that has not begun, and the object lives until the last has
// come.
class alignas(64) Loop {
 public:
  static Loop* make(int64_t count, int workers, detail::LoopBody body) {
    const size_t bytes = sizeof(Loop) + sizeof(Part) * static_cast<size_t>(workers);
    void* const memory = ::operator new(bytes, std::align_val_t(alignof(Loop)));
    return new (memory) Loop(count, workers, body);
  }

  // By each worker when it is done with the object.
  void drop() {
    if (references_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    this->~Loop();
    ::operator delete(this, std::align_val_t(alignof(Loop)));
  }

  void run_as_caller() {
    try {
      work(0, [] { check_interrupt(); });
    } catch (...) {
      stopped_.store(true, std::memory_order_relaxed);
      close();
      throw;
    }
    close();
  }

  void run_as_helper() {
    if ((state_.fetch_add(1, std::memory_order_acquire) & kClosed) == 0) {
      const DefaultFloatEnvironment environment;
      work(next_worker_.fetch_add(1, std::memory_order_relaxed), [] {});
    }
    if (state_.fetch_sub(1, std::memory_order_release) == (kClosed | 1)) state_.notify_one();
  }

 private:
  struct alignas(64) Part {
    std::atomic<int64_t> next;
    int64_t end;
  };
  static constexpr uint32_t kClosed = 1u << 31;

  Loop(int64_t count, int workers, detail::LoopBody body)
      : references_(static_cast<uint32_t>(workers)), workers_(workers), body_(body) {
    int64_t first = 0;
    for (int w = 0; w < workers; ++w) {
      const int64_t length = count / workers + (w < count % workers ? 1 : 0);
      new (parts() + w) Part{first, first + length};
      first += length;
    }
  }

  Part* parts() { return reinterpret_cast<Part*>(this + 1); }

  template <class After>
  void work(int worker, After after) {
    for (int i = 0; i < workers_; ++i) {
      Part& part = parts()[(worker + i) % workers_];
      while (!stopped_.load(std::memory_order_relaxed)) {
        if (part.next.load(std::memory_order_relaxed) >= part.end) break;
        const int64_t index = part.next.fetch_add(1, std::memory_order_relaxed);
        if (index >= part.end) break;
        body_(index, worker);
        after();
      }
    }
  }

  // Lets no more helpers in and waits for those that are inside.
  void close() {
    constexpr int kSpins = 2000;  // some tens of us: a helper is usually about to finish
    uint32_t state = state_.fetch_or(kClosed, std::memory_order_acquire) | kClosed;
    for (int spins = 0; state != kClosed; state = state_.load(std::memory_order_acquire)) {
      if (++spins < kSpins) {
        _mm_pause();
      } else {
        state_.wait(state, std::memory_order_acquire);
      }
    }
  }

  std::atomic<uint32_t> references_;  // the caller and its helpers
  std::atomic<uint32_t> state_ = 0;   // helpers inside, and kClosed
  std::atomic<int> next_worker_ = 1;
  std::atomic<bool> stopped_ = false;
  int workers_;
  detail::LoopBody body_;  // gone once the loop is closed
};

void run_alone(int64_t count, detail::LoopBody body) {
  for (int64_t i = 0; i < count; ++i) {
    body(i, 0);
    if (i + 1 < count) check_interrupt();
  }
}

// oneTBB hands a loop over to a helper; ThreadSanitizer does not see that where the library is not
// built for it.
#ifdef __SANITIZE_THREAD__
void hand_over(Loop* loop) { __tsan_release(loop); }
void take_over(Loop* loop) { __tsan_acquire(loop); }
#else
void hand_over(Loop*) {}
void take_over(Loop*) {}
#endif

// A task that calls a helper. Copyable, as oneTBB wants; only one copy is called.
class Helper {
 public:
  explicit Helper(Loop* loop) : loop_(loop) {}
  void operator()() const {
    take_over(loop_);
    loop_->run_as_helper();
    loop_->drop();
  }

 private:
  Loop* loop_;
};

// As many as there is memory to call.
void call_helpers(Loop* loop, int count) noexcept {
  int called = 0;
  hand_over(loop);
  try {
    tbb::task_arena& arena = pool().arena(std::max(count + 1, num_threads()) - 1);
    for (; called < count; ++called) arena.enqueue(Helper(loop));
  } catch (...) {
    for (; called < count; ++called) loop->drop();
  }
}

}  // namespace

int num_threads() { return pool().threads(); }

void set_num_threads(int count) {
  if (count < 1 || count > kMostThreads) {
    throw ValueError(
        format("set_num_threads: {} is not a number of threads from 1 to {}", count, kMostThreads));
  }
  pool().set_threads(count);
}

void set_interrupt_check(InterruptCheck check) {
  interrupt_check.store(check, std::memory_order_release);
}

void check_interrupt() {
  const Clock::rep now = Clock::now().time_since_epoch().count();
  if (now - t_last_check < Clock::duration(kCheckInterval).count()) return;
  t_last_check = now;
  const InterruptCheck check = interrupt_check.load(std::memory_order_acquire);
  if (check != nullptr) check();
}

void detail::parallel_for(int64_t count, int threads, LoopBody body) {
  const DefaultFloatEnvironment environment;
  const int workers = static_cast<int>(std::min<int64_t>({count, threads, kMostThreads}));
  if (workers <= 1 || pool().lost_workers()) {
    run_alone(count, body);
    return;
  }
  Loop* const loop = Loop::make(count, workers, body);
  // Dropped at the end, also where the interrupt check throws.
  const auto drop = [](Loop* l) { l->drop(); };
  const std::unique_ptr<Loop, decltype(drop)> caller(loop, drop);
  call_helpers(loop, workers - 1);
  loop->run_as_caller();
}

}  // namespace lanewise::runtime
