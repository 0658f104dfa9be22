// Golden tests: each tests/ir/**/*.ir holds a function, what passes make of it, and their names.
//
//   // passes: canonicalize, common_subexpressions
//   func @f(...) -> ... { ... }
//   ----
//   func @f(...) -> ... { ... }          (or the word: unchanged)
//
// "all" stands for the whole list. With "fuse", or "fuse, schedule" at the end, a program is
// expected. Both sides are also run by the interpreter on random values. A symbolic size is 5 for
// the first symbol, 6 for the next and so on. With the environment variable
// LANEWISE_UPDATE_GOLDEN=1 expectations are written instead of compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "ir/interpret.h"
#include "ir/interpret_program.h"
#include "ir/passes/pipeline.h"
#include "ir/passes/schedule.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/error.h"
#include "support/format.h"
#include "tests/support/random_graph.h"

namespace lanewise::ir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeparator = "----\n";
constexpr std::string_view kUnchanged = "unchanged\n";
constexpr std::string_view kPasses = "// passes:";

std::vector<fs::path> golden_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(LANEWISE_TEST_DIR) / "ir")) {
    if (entry.path().extension() == ".ir") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

bool updates() {
  const char* value = std::getenv("LANEWISE_UPDATE_GOLDEN");
  return value && std::string_view(value) == "1";
}

struct Golden {
  std::vector<std::string> passes;
  std::string input;
  std::optional<std::string> expected;
};

Golden parse_golden(const std::string& text) {
  Golden golden;
  const size_t separator = text.find(kSeparator);
  golden.input = text.substr(0, separator);
  if (separator != std::string::npos) golden.expected = text.substr(separator + kSeparator.size());
  if (golden.expected == "") golden.expected.reset();
  std::istringstream lines(golden.input);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(kPasses)) continue;
    std::istringstream names(line.substr(kPasses.size()));
    for (std::string name; std::getline(names >> std::ws, name, ',');)
      golden.passes.push_back(name);
  }
  return golden;
}

// Runs one pass, or all.
void run_pass(const std::string& name, Graph& graph) {
  if (name == "all") return optimize(graph, {.disabled = {}, .verify = true});
  const auto pass = std::ranges::find(kGraphPasses, name, &GraphPass::name);
  if (pass == std::end(kGraphPasses)) throw ValueError(format("no pass '{}'", name));
  pass->run(graph);
}

SymbolValues symbol_values(const Graph& graph) {
  SymbolValues values;
  for (const Parameter& parameter : graph.inputs) {
    for (const Dim& dim : parameter.shape) {
      for (const std::string& name : dim.symbols()) {
        const bool known =
            std::ranges::find(values, name, &SymbolValues::value_type::first) != values.end();
        if (!known) values.emplace_back(name, 5 + std::ssize(values));
      }
    }
  }
  return values;
}

template <class Function>
void expect_equal_results(const Graph& before, const Function& after) {
  test::Random random(before.size());
  for (int i = 0; i < 10; ++i) {
    const auto inputs = test::random_inputs(random, before, symbol_values(before));
    const auto scalars = test::random_scalars(random, before);
    std::vector<Tensor> results[2];
    std::string errors[2];
    for (const bool is_after : {false, true}) {
      try {
        results[is_after] =
            is_after ? interpret(after, inputs, scalars) : interpret(before, inputs, scalars);
      } catch (const ValueError& error) {
        errors[is_after] = error.what();
      }
    }
    ASSERT_EQ(errors[0], errors[1]);
    for (size_t k = 0; k < results[0].size(); ++k) {
      ASSERT_TRUE(same_bits(results[0][k], results[1][k])) << "result " << k << " differs";
    }
  }
}

void expect_law(const Graph& graph) { EXPECT_EQ(parse_graph(print(graph)), graph); }
void expect_law(const Program& program) {
  verify(program, "fuse");
  EXPECT_EQ(parse_program(print(program)), program);
}

// What the passes make of `before`: a graph, or a program where "fuse" is among them.
std::string run_passes(const std::vector<std::string>& passes, const Graph& before) {
  Graph after = before;
  std::optional<Program> program;
  for (const std::string& pass : passes) {
    if (pass == "fuse") {
      program = fuse(after);
    } else if (pass == "schedule") {
      schedule(program.value());
    } else {
      run_pass(pass, after);
    }
  }
  expect_law(before);
  if (program) {
    expect_law(*program);
    expect_equal_results(before, *program);
    return print(*program);
  }
  expect_law(after);
  expect_equal_results(before, after);
  return after == before ? std::string(kUnchanged) : print(after);
}

class Goldens : public testing::TestWithParam<fs::path> {};

TEST_P(Goldens, Run) {
  const Golden golden = parse_golden(read(GetParam()));
  ASSERT_FALSE(golden.passes.empty()) << "no line '" << kPasses << " ...'";
  const std::string actual = run_passes(golden.passes, parse_graph(golden.input));
  if (updates()) {
    std::ofstream(GetParam()) << golden.input << kSeparator << actual;
    return;
  }
  ASSERT_TRUE(golden.expected) << "no expectation after " << kSeparator
                               << "run with LANEWISE_UPDATE_GOLDEN=1 to write\n"
                               << actual;
  EXPECT_EQ(actual, *golden.expected);
}

std::string golden_name(const testing::TestParamInfo<fs::path>& info) {
  std::string name =
      info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  std::ranges::replace_if(name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Files, Goldens, testing::ValuesIn(golden_files()), golden_name);

TEST(Goldens, ThereAreSome) { EXPECT_GE(golden_files().size(), 20u); }

}  // namespace
}  // namespace lanewise::ir
