#include "runtime/random.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <random>
#include <thread>
#include <vector>

#include "runtime/threads.h"

namespace lanewise::runtime {
namespace {

enum class Kind { kUniform, kNormal };

struct Draw {
  Kind kind;
  int64_t count;
  std::vector<float> first;
  std::vector<float> last;
};

struct Stream {
  uint64_t seed;
  std::vector<Draw> draws;
};

const std::vector<Stream>& torch_streams() {
  static const std::vector<Stream> streams = {
#include "torch_values.inc"
  };
  return streams;
}

// PyTorch computes normal values in float32, with some ULP of error in radius and angle.
void expect_like_torch(Kind kind, float ours, float theirs) {
  if (kind == Kind::kUniform) {
    ASSERT_EQ(ours, theirs);
  } else {
    ASSERT_NEAR(ours, theirs, 1e-6 * std::max(1.f, std::abs(theirs)));
  }
}

TEST(random, gives_the_values_of_torch) {
  for (const Stream& stream : torch_streams()) {
    Generator generator(stream.seed);
    for (const Draw& draw : stream.draws) {
      SCOPED_TRACE(testing::Message() << "seed " << stream.seed << ", " << draw.count << " values");
      std::vector<float> values(draw.count);
      (generator.*(draw.kind == Kind::kNormal
                       ? &Generator::normal
                       : static_cast<void (Generator::*)(float*, int64_t)>(&Generator::uniform)))(
          values.data(), draw.count);
      ASSERT_GE(values.size(), draw.first.size());
      for (size_t i = 0; i < draw.first.size(); ++i) {
        expect_like_torch(draw.kind, values[i], draw.first[i]);
      }
      for (size_t i = 0; i < draw.last.size(); ++i) {
        expect_like_torch(draw.kind, values[values.size() - draw.last.size() + i], draw.last[i]);
      }
    }
  }
}

TEST(random, words_are_those_of_the_mersenne_twister) {
  for (const uint32_t seed : {0u, 1u, 5489u, 4294967295u}) {
    Generator generator(seed);
    std::mt19937 reference(seed);
    for (int i = 0; i < 5000; ++i) ASSERT_EQ(generator.next32(), reference());
    const uint64_t high = reference();
    const uint64_t low = reference();
    ASSERT_EQ(generator.next64(), high << 32 | low);
  }
}

TEST(random, uniform_floats_and_doubles_take_24_and_53_bits) {
  Generator generator(3);
  std::mt19937 reference(3);
  std::vector<float> floats(2000);
  generator.uniform(floats.data(), 1);
  generator.uniform(floats.data() + 1, 1999);
  for (const float value : floats) {
    ASSERT_EQ(value, static_cast<float>(reference() & 0xffffff) / 16777216);
  }
  std::vector<double> doubles(1000);
  generator.uniform(doubles.data(), 1000);
  for (const double value : doubles) {
    const uint64_t high = reference();
    const uint64_t bits = (high << 32 | reference()) & ((1ull << 53) - 1);
    ASSERT_EQ(value, static_cast<double>(bits) / 9007199254740992);
  }
}

TEST(random, normal_values_round_box_muller_correctly) {
  constexpr int64_t kCount = 160000;
  std::vector<float> uniforms(kCount);
  std::vector<float> normals(kCount);
  Generator(9).uniform(uniforms.data(), kCount);
  Generator(9).normal(normals.data(), kCount);
  constexpr long double kPi = 3.14159265358979323846264338327950288L;
  int differ = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const bool sine = i % 16 >= 8;
    const long double a = uniforms[sine ? i - 8 : i];
    const long double b = uniforms[sine ? i : i + 8];
    const long double radius = std::sqrt(-2 * std::log1p(-a));
    const long double exact = radius * (sine ? std::sin(2 * kPi * b) : std::cos(2 * kPi * b));
    if (normals[i] == static_cast<float>(exact)) continue;
    // At most a tie missed by a hair, and quarter turns, where pi's rounding shows in `exact`.
    ++differ;
    ASSERT_NEAR(normals[i], exact, std::abs(exact) * 0x1.001p-24L + 1e-18L) << i;
  }
  EXPECT_LE(differ, 5);
}

TEST(random, seeding_drops_the_kept_value) {
  Generator generator(5);
  float first = 0;
  float again = 0;
  generator.normal(&first, 1);
  generator.seed(5);
  generator.normal(&again, 1);
  EXPECT_EQ(first, again);
}

TEST(random, normal_values_have_the_moments_they_should) {
  constexpr int64_t kCount = 1 << 20;
  std::vector<float> values(kCount);
  Generator(11).normal(values.data(), kCount);
  double moments[5] = {};
  for (const float v : values) {
    for (int k = 1; k <= 4; ++k) moments[k] += std::pow(static_cast<double>(v), k) / kCount;
  }
  EXPECT_NEAR(moments[1], 0, 0.005);
  EXPECT_NEAR(moments[2], 1, 0.007);
  EXPECT_NEAR(moments[3], 0, 0.02);
  EXPECT_NEAR(moments[4], 3, 0.05);
}

TEST(random, shared_generator_fills_long_arrays_as_one_would_at_once) {
  for (const int64_t count : {0, 5, 17, 1000, 1 << 18, (1 << 19) + 3, (1 << 20) + 31}) {
    std::vector<float> at_once(count);
    std::vector<float> in_pieces(count);
    Generator generator(77);
    manual_seed(77);
    generator.normal(at_once.data(), count);
    fill_normal(in_pieces.data(), count);
    ASSERT_EQ(at_once, in_pieces) << count;
    generator.uniform(at_once.data(), count);
    fill_uniform(in_pieces.data(), count);
    ASSERT_EQ(at_once, in_pieces) << count;
  }
}

TEST(random, long_fills_can_be_interrupted) {
  struct Interrupted : std::exception {};
  std::vector<float> values(int64_t{1} << 26);
  set_interrupt_check([] { throw Interrupted(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  EXPECT_THROW(fill_normal(values.data(), static_cast<int64_t>(values.size())), Interrupted);
  set_interrupt_check(nullptr);
  EXPECT_NO_THROW(fill_normal(values.data(), 100));
}

TEST(random, does_not_depend_on_the_float_environment) {
  std::vector<float> before(100);
  std::vector<float> after(100);
  Generator(1).normal(before.data(), 100);
  const uint32_t mode = _mm_getcsr();
  _mm_setcsr(0x1f80 | 0x6000);  // towards zero
  Generator(1).normal(after.data(), 100);
  const uint32_t restored = _mm_getcsr();
  _mm_setcsr(mode);
  EXPECT_EQ(before, after);
  EXPECT_EQ(restored, 0x1f80u | 0x6000u);
}

}  // namespace
}  // namespace lanewise::runtime
