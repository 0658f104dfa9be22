// Threads: how many evaluation uses, loops over them, and interrupting long work.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

namespace lanewise::runtime {

inline constexpr int kMostThreads = 1024;

// Threads that one evaluation uses at most, the calling one included: what was set last, else
// LANEWISE_NUM_THREADS, else the usable cores. ValueError where the variable is no such number.
int num_threads();
// 1 to kMostThreads, else ValueError. Results never depend on it.
void set_num_threads(int count);

// What long work calls every 50 ms or so, on the thread that asked for the work and outside of any
// lock. It throws to end the work; then arrays being written have undefined contents.
using InterruptCheck = void (*)();
void set_interrupt_check(InterruptCheck check);
// Calls it if 50 ms have gone since this thread last did: for loops of ours that may run long.
void check_interrupt();

namespace detail {

// A reference to a callable that outlives it.
class LoopBody {
 public:
  template <class Body>
  explicit LoopBody(const Body& body)
      : object_(&body), call_([](const void* object, int64_t i, int worker) {
          (*static_cast<const Body*>(object))(i, worker);
        }) {}
  void operator()(int64_t i, int worker) const { call_(object_, i, worker); }

 private:
  const void* object_;
  void (*call_)(const void*, int64_t, int);
};

void parallel_for(int64_t count, int threads, LoopBody body);

}  // namespace detail

// Calls body(i, worker) once for each i in [0, count), on at most `threads` threads, and returns
// when all are done. `worker` is less than `threads`, no two calls with the same one overlap, and 0
// is the calling thread. The body must not throw; each call should take 5 us to 20 ms. Every thread
// runs in the default floating-point environment. Where the interrupt check throws, no further
// calls are begun, and the exception leaves when those under way have ended.
// A process forked off after threads were used here has none of them: it does all calls itself.
template <class Body>
void parallel_for(int64_t count, int threads, const Body& body) {
  detail::parallel_for(count, threads, detail::LoopBody(body));
}

}  // namespace lanewise::runtime
