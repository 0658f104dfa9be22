// The floating-point mode that machine code of ours runs in.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace lanewise::runtime {

// While it lives, the thread rounds to nearest, keeps subnormals and traps nothing. Restores
// control bits and exception flags as they were found.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment() : found_(_mm_getcsr()) {
    if ((found_ & ~kFlags) != kDefault) [[unlikely]]
      _mm_setcsr(kDefault);
  }
  // Writing is cheaper than looking whether it is needed.
  ~DefaultFloatEnvironment() { _mm_setcsr(found_); }
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;

 private:
  static constexpr uint32_t kDefault = 0x1f80;  // all exceptions masked
  static constexpr uint32_t kFlags = 0x003f;    // exceptions that have happened

  uint32_t found_;
};

}  // namespace lanewise::runtime
