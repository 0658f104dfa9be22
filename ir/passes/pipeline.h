// The list of passes and what runs it.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/passes/fuse.h"
#include "ir/passes/passes.h"

namespace lanewise::ir {

struct GraphPass {
  std::string_view name;
  bool (*run)(Graph& graph);
  bool optional = true;
  bool only_fast = false;  // runs only where PassOptions::fast
};

// In the order in which they run. Graphs become programs after these, by "fuse", which has to run,
// and "schedule", which may be left out.
inline constexpr GraphPass kGraphPasses[] = {
    {"canonicalize", canonicalize},
    {"fold_constants", fold_constants},
    {"simplify_algebra", simplify_algebra},
    {"relax", relax, /*optional=*/true, /*only_fast=*/true},
    {"expand", expand, /*optional=*/false},
    {"common_subexpressions", common_subexpressions},
    {"dead_code", dead_code},
};

struct PassTime {
  std::string_view pass;
  std::chrono::nanoseconds time;
};

struct PassOptions {
  bool fast = false;  // results may differ from what ops mean: see passes/relax.cpp
  std::vector<std::string> disabled = {};  // names of passes to leave out
  std::string print_after = {};            // a name, "all", or nothing
  // Where text goes; standard error if empty.
  std::function<void(std::string_view text)> print = {};
  std::vector<PassTime>* times = nullptr;  // appended to, if given
  bool verify = kVerifyByDefault;          // after each pass

#ifdef NDEBUG
  static constexpr bool kVerifyByDefault = false;
#else
  static constexpr bool kVerifyByDefault = true;
#endif

  // LANEWISE_DISABLE_PASSES=a,b and LANEWISE_PRINT_AFTER=name|all, read once.
  static const PassOptions& from_environment();
};

// Runs kGraphPasses. Throws ValueError where the options name a pass that does not exist, or turn
// off one that has to run.
void optimize(Graph& graph, const PassOptions& options = PassOptions::from_environment());

// The same, then fuses and schedules.
Program lower(Graph graph, const FuseOptions& fusion = {},
              const PassOptions& options = PassOptions::from_environment());

}  // namespace lanewise::ir
