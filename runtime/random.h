// Random numbers: the stream that PyTorch has on the CPU, value for value (normal ones to float32
// rounding). Results do not depend on threads, instruction set or libm.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace lanewise::runtime {

// Mersenne Twister MT19937 and the distributions drawn from it. Not for several threads at once.
class Generator {
 public:
  explicit Generator(uint64_t seed) { this->seed(seed); }
  // Starts anew; only the low 32 bits count.
  void seed(uint64_t seed);

  uint32_t next32();
  uint64_t next64();  // the first of two words is the high one

  // [0, 1) in steps of 2^-24 and 2^-53.
  void uniform(float* out, int64_t count);
  void uniform(double* out, int64_t count);
  // Mean 0, deviation 1, by Box-Muller. From 16 on: blocks of 16 uniform floats, element j and j +
  // 8 of each giving two values; where the count is no multiple of 16, the last 16 are drawn again.
  // Below: one by one from uniform doubles, keeping the second value of a pair for the next draw.
  void normal(float* out, int64_t count);

 private:
  static constexpr int kWords = 624;

  void refill();
  float next_normal();

  std::array<uint32_t, kWords> state_;
  int used_ = kWords;  // words of the state handed out
  std::optional<double> kept_normal_;
};

// ---- the process's generator, which threads may share -------------------------------------

// Until then it is seeded by the operating system.
void manual_seed(uint64_t seed);
// Long fills call the interrupt check.
void fill_uniform(float* out, int64_t count);
void fill_normal(float* out, int64_t count);

}  // namespace lanewise::runtime
