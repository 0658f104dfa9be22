#include "runtime/random.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "runtime/detail/box_muller.h"
#include "runtime/float_environment.h"
#include "runtime/fork.h"
#include "runtime/threads.h"

namespace lanewise::runtime {

// ---- Mersenne Twister (Matsumoto and Nishimura, 1998) -------------------------------------

namespace {

constexpr int kShift = 397;

uint32_t twist(uint32_t current, uint32_t next, uint32_t shifted) {
  const uint32_t mixed = (current & 0x80000000u) | (next & 0x7fffffffu);
  return shifted ^ (mixed >> 1) ^ (-(next & 1) & 0x9908b0dfu);
}

uint32_t temper(uint32_t word) {
  word ^= word >> 11;
  word ^= word << 7 & 0x9d2c5680u;
  word ^= word << 15 & 0xefc60000u;
  return word ^ word >> 18;
}

constexpr int kBlock = 16;  // normal values made at once

}  // namespace

void Generator::seed(uint64_t seed) {
  auto word = static_cast<uint32_t>(seed);
  for (uint32_t i = 0; i < kWords; ++i) {
    state_[i] = word;
    word = 1812433253u * (word ^ word >> 30) + i + 1;
  }
  used_ = kWords;
  kept_normal_.reset();
}

void Generator::refill() {
  constexpr int kFirst = kWords - kShift;
  uint32_t* const s = state_.data();
  for (int i = 0; i < kFirst; ++i) s[i] = twist(s[i], s[i + 1], s[i + kShift]);
  for (int i = kFirst; i < kWords - 1; ++i) s[i] = twist(s[i], s[i + 1], s[i - kFirst]);
  s[kWords - 1] = twist(s[kWords - 1], s[0], s[kShift - 1]);
  used_ = 0;
}

uint32_t Generator::next32() {
  if (used_ == kWords) refill();
  return temper(state_[used_++]);
}

uint64_t Generator::next64() {
  const uint64_t high = next32();
  return high << 32 | next32();
}

// ---- distributions ------------------------------------------------------------------------

void Generator::uniform(float* out, int64_t count) {
  while (count > 0) {
    if (used_ == kWords) refill();
    const int here = static_cast<int>(std::min<int64_t>(count, kWords - used_));
    const uint32_t* const words = state_.data() + used_;
    for (int i = 0; i < here; ++i) {
      out[i] = static_cast<float>(static_cast<int32_t>(temper(words[i]) & 0xffffff)) * 0x1p-24f;
    }
    out += here;
    count -= here;
    used_ += here;
  }
}

void Generator::uniform(double* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<double>(static_cast<int64_t>(next64() & ((1ull << 53) - 1))) * 0x1p-53;
  }
}

float Generator::next_normal() {
  if (kept_normal_) {
    const double kept = *kept_normal_;
    kept_normal_.reset();
    return static_cast<float>(kept);
  }
  double uniforms[2];
  uniform(uniforms, 2);
  const detail::NormalPair pair = detail::box_muller(uniforms[1], uniforms[0]);
  kept_normal_ = pair.second;
  return static_cast<float>(pair.first);
}

void Generator::normal(float* out, int64_t count) {
  const DefaultFloatEnvironment environment;
  if (count < kBlock) {
    for (int64_t i = 0; i < count; ++i) out[i] = next_normal();
    return;
  }
  constexpr int64_t kInCache = 4096;
  const int64_t in_blocks = count / kBlock * kBlock;
  for (int64_t first = 0; first < in_blocks; first += kInCache) {
    const int64_t here = std::min(kInCache, in_blocks - first);
    uniform(out + first, here);
    detail::box_muller_blocks(out + first, here / kBlock);
  }
  if (in_blocks == count) return;
  float last[kBlock];
  uniform(last, count - in_blocks);  // drawn and lost
  uniform(last, kBlock);
  detail::box_muller_blocks(last, 1);
  std::copy_n(last, kBlock, out + count - kBlock);
}

// ---- the process's generator --------------------------------------------------------------

namespace {

uint64_t seed_of_system() {
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed) return seed;
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// Never destroyed.
struct SharedGenerator {
  ForkSafeMutex mutex{LockRank::kRandom};
  Generator generator{seed_of_system()};
};

SharedGenerator& shared() {
  static SharedGenerator& instance = *new SharedGenerator;
  return instance;
}

// Draws in pieces, open to interrupts in between, when the lock is not held. The last piece is at
// least as long as a piece, if there are several: to `normal` the values are those of one call.
void fill_in_pieces(float* out, int64_t count, void (Generator::*draw)(float*, int64_t)) {
  constexpr int64_t kPiece = 1 << 18;
  static_assert(kPiece % kBlock == 0);
  while (count > 0) {
    const int64_t here = count < 2 * kPiece ? count : kPiece;
    {
      const std::lock_guard hold(shared().mutex);
      (shared().generator.*draw)(out, here);
    }
    out += here;
    count -= here;
    if (count > 0) check_interrupt();
  }
}

}  // namespace

void manual_seed(uint64_t seed) {
  const std::lock_guard hold(shared().mutex);
  shared().generator.seed(seed);
}

void fill_uniform(float* out, int64_t count) { fill_in_pieces(out, count, &Generator::uniform); }

void fill_normal(float* out, int64_t count) { fill_in_pieces(out, count, &Generator::normal); }

}  // namespace lanewise::runtime
