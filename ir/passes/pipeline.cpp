#include "ir/passes/pipeline.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "ir/passes/schedule.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

namespace {

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

constexpr std::string_view kFuse = "fuse";
constexpr std::string_view kSchedule = "schedule";

bool is_optional(std::string_view name) {
  if (name == kFuse) return false;
  if (name == kSchedule) return true;
  const auto found = std::ranges::find(kGraphPasses, name, &GraphPass::name);
  if (found == std::end(kGraphPasses)) throw ValueError(format("passes: no pass '{}'", name));
  return found->optional;
}

void check_names(const PassOptions& options) {
  for (const std::string& name : options.disabled) {
    if (!is_optional(name)) throw ValueError(format("passes: '{}' cannot be left out", name));
  }
  if (!options.print_after.empty() && options.print_after != "all")
    is_optional(options.print_after);
}

// One pass by name: left out, timed, verified, printed as the options say.
class Runner {
 public:
  explicit Runner(const PassOptions& options) : options_(options) { check_names(options); }

  template <class Subject, class Run>
  void operator()(std::string_view name, Subject& subject, Run run) const {
    if (std::ranges::find(options_.disabled, name) != options_.disabled.end()) return;
    const auto start = std::chrono::steady_clock::now();
    run(subject);
    if (options_.times) {
      options_.times->push_back({name, std::chrono::steady_clock::now() - start});
    }
    if (options_.verify) verify(subject, name);
    if (options_.print_after == "all" || options_.print_after == name) {
      show(format("// after {}\n{}", name, print(subject)));
    }
  }

 private:
  void show(const std::string& text) const {
    if (options_.print) {
      options_.print(text);
    } else {
      std::fputs(text.c_str(), stderr);
    }
  }

  const PassOptions& options_;
};

}  // namespace

const PassOptions& PassOptions::from_environment() {
  static const PassOptions options = [] {
    PassOptions result;
    result.disabled = split(environment("LANEWISE_DISABLE_PASSES"));
    result.print_after = environment("LANEWISE_PRINT_AFTER");
    return result;
  }();
  return options;
}

void optimize(Graph& graph, const PassOptions& options) {
  const Runner run(options);
  if (options.verify) verify(graph, "recording");
  for (const GraphPass& pass : kGraphPasses) {
    if (!pass.only_fast || options.fast) run(pass.name, graph, pass.run);
  }
}

Program lower(Graph graph, const FuseOptions& fusion, const PassOptions& options) {
  optimize(graph, options);
  const Runner run(options);
  Program program;
  run(kFuse, program, [&](Program& result) { result = fuse(graph, fusion); });
  run(kSchedule, program, schedule);
  return program;
}

}  // namespace lanewise::ir
