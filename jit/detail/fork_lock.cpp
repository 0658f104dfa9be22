#include "jit/detail/fork_lock.h"

#include <pthread.h>

#include <shared_mutex>

namespace lanewise::jit {

namespace {

// Never destroyed.
std::shared_mutex& the_lock() {
  static auto* const lock = new std::shared_mutex;
  return *lock;
}

ForkLock::Hooks& the_hooks() {
  static auto* const hooks = new ForkLock::Hooks;
  return *hooks;
}

void before_fork() {
  the_lock().lock();
  if (the_hooks().before) the_hooks().before();
}

void after_fork(bool in_child) {
  if (the_hooks().after) the_hooks().after(in_child);
  if (in_child) {
    // Its owner is the thread that forked, as the parent numbers threads.
    new (&the_lock()) std::shared_mutex;
  } else {
    the_lock().unlock();
  }
}

void register_handlers() {
  [[maybe_unused]] static const int done =
      pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); });
}

}  // namespace

ForkLock::Holder::Holder() {
  register_handlers();
  the_lock().lock_shared();
}

ForkLock::Holder::~Holder() { the_lock().unlock_shared(); }

void ForkLock::set_hooks(Hooks hooks) { the_hooks() = std::move(hooks); }

}  // namespace lanewise::jit
