#include "jit/detail/target.h"

#include <gtest/gtest.h>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {
namespace {

using runtime::IsaLevel;

std::string refusal(IsaLevel level, std::string_view asked) {
  try {
    choose_target(level, asked);
  } catch (const UnsupportedError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(target, is_the_best_of_the_cpu_or_what_is_asked_for) {
  for (const char* asked : {"", "host"}) {
    EXPECT_EQ(choose_target(IsaLevel::kX86_64_v3, asked), Target::kX86_64_v3);
    EXPECT_EQ(choose_target(IsaLevel::kX86_64_v4, asked), Target::kX86_64_v4);
  }
  EXPECT_EQ(choose_target(IsaLevel::kX86_64_v4, "x86-64-v3"), Target::kX86_64_v3);
}

TEST(target, a_cpu_without_avx2_is_refused) {
  const std::string expected = format(
      "lanewise: needs a CPU with AVX2 and FMA (x86-64-v3): this one is {}", runtime::cpu_name());
  EXPECT_EQ(refusal(IsaLevel::kBelowV3, ""), expected);
  EXPECT_EQ(refusal(IsaLevel::kBelowV3, "x86-64-v3"), expected);
}

TEST(target, what_the_cpu_lacks_and_unknown_names_are_refused) {
  EXPECT_EQ(refusal(IsaLevel::kX86_64_v3, "x86-64-v4"),
            format("LANEWISE_TARGET: x86-64-v4 is more than this CPU has (x86-64-v3, {})",
                   runtime::cpu_name()));
  EXPECT_EQ(refusal(IsaLevel::kX86_64_v4, "avx512"),
            "LANEWISE_TARGET: 'avx512' is none of x86-64-v3, x86-64-v4, host");
}

}  // namespace
}  // namespace lanewise::jit
