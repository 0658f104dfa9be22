#include "jit/detail/compile_threads.h"

#include <pthread.h>
#include <signal.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "jit/detail/fork_lock.h"
#include "support/error.h"

namespace lanewise::jit {

namespace {

// Only what is used of it takes memory.
constexpr size_t kStackBytes = size_t{512} << 20;

struct Job {
  const std::function<void(CompileThread&)>* run;
  std::exception_ptr failure;
  bool done = false;
};

class Threads {
 public:
  void run(Job& job) {
    std::unique_lock lock(mutex_);
    jobs_.push_back(&job);
    if (idle_ < jobs_.size() && started_ < limit()) start();
    work_.notify_one();
    done_.wait(lock, [&] { return job.done; });
  }

 private:
  static size_t limit() { return std::max(1U, std::thread::hardware_concurrency()); }

  // Signals are for the threads of the host program.
  void start() {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStackBytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const int failed = pthread_create(&thread, &attributes, &Threads::enter, this);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (failed == 0) {
      ++started_;
    } else if (started_ == 0) {
      jobs_.pop_back();
      throw CompileError("compile: cannot start a thread");
    }
  }

  static void* enter(void* self) {
    static_cast<Threads*>(self)->work();
    return nullptr;
  }

  [[noreturn]] void work() {
    CompileThread thread;
    std::unique_lock lock(mutex_);
    for (;;) {
      ++idle_;
      work_.wait(lock, [&] { return !jobs_.empty(); });
      --idle_;
      Job& job = *jobs_.front();
      jobs_.pop_front();
      lock.unlock();
      try {
        const ForkLock::Holder holder;
        (*job.run)(thread);
      } catch (...) {
        job.failure = std::current_exception();
      }
      lock.lock();
      job.done = true;
      done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::deque<Job*> jobs_;
  size_t idle_ = 0;
  size_t started_ = 0;
};

// Never destroyed: its threads wait in it until the process ends.
Threads* threads = nullptr;
std::mutex threads_mutex;

Threads& the_threads() {
  const std::lock_guard lock(threads_mutex);
  if (threads == nullptr) threads = new Threads;
  return *threads;
}

}  // namespace

void run_on_compile_thread(const std::function<void(CompileThread&)>& job) {
  Job waiting{&job, nullptr};
  the_threads().run(waiting);
  if (waiting.failure) std::rethrow_exception(waiting.failure);
}

void forget_compile_threads() {
  new (&threads_mutex) std::mutex;
  threads = nullptr;
}

}  // namespace lanewise::jit
