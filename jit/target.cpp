#include "jit/detail/target.h"

#include <cstdlib>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

namespace {

using runtime::IsaLevel;

constexpr const char* kVariable = "LANEWISE_TARGET";

Target best_of(IsaLevel level) {
  if (level == IsaLevel::kBelowV3) {
    throw UnsupportedError(
        format("lanewise: needs a CPU with AVX2 and FMA (x86-64-v3): this one is {}",
               runtime::cpu_name()));
  }
  return level == IsaLevel::kX86_64_v4 ? Target::kX86_64_v4 : Target::kX86_64_v3;
}

}  // namespace

Target choose_target(IsaLevel level, std::string_view asked) {
  const Target best = best_of(level);
  if (asked.empty() || asked == "host") return best;
  for (const Target target : {Target::kX86_64_v3, Target::kX86_64_v4}) {
    if (asked != to_string(target)) continue;
    if (target <= best) return target;
    throw UnsupportedError(format("{}: {} is more than this CPU has ({}, {})", kVariable, asked,
                                  best, runtime::cpu_name()));
  }
  throw UnsupportedError(
      format("{}: '{}' is none of x86-64-v3, x86-64-v4, host", kVariable, asked));
}

std::string_view to_string(Target target) {
  return target == Target::kX86_64_v3 ? "x86-64-v3" : "x86-64-v4";
}

Target default_target() {
  static const Target target = [] {
    const char* const asked = std::getenv(kVariable);
    return choose_target(runtime::isa_level(), asked == nullptr ? "" : asked);
  }();
  return target;
}

}  // namespace lanewise::jit
