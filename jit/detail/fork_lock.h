// Keeps fork() away from work inside LLVM, whose locks a child could never take again.
#pragma once

#include <functional>

namespace lanewise::jit {

class ForkLock {
 public:
  // Around any use of LLVM. Many at once.
  class Holder {
   public:
    Holder();
    ~Holder();
    Holder(const Holder&) = delete;
    Holder& operator=(const Holder&) = delete;
  };

  // What a fork has to do besides, set once: `before` runs in the forking thread when no Holder
  // exists, then `after` in the parent and in the child.
  struct Hooks {
    std::function<void()> before;
    std::function<void(bool in_child)> after;
  };
  static void set_hooks(Hooks hooks);
};

}  // namespace lanewise::jit
