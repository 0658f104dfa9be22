#include "tests/support/program_check.h"

#include <gtest/gtest.h>

#include "ir/interpret_program.h"
#include "ir/passes/schedule.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/error.h"
#include "tests/support/random_graph.h"

namespace lanewise::test {

using namespace ir;

namespace {

// The results, or the message of the error.
template <class Interpret>
std::pair<std::vector<Tensor>, std::string> outcome(Interpret interpret) {
  try {
    return {interpret(), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

void expect_valid(const Program& program) {
  const auto problem = find_problem(program);
  EXPECT_FALSE(problem.has_value()) << problem->message << " in kernel " << problem->kernel << "\n"
                                    << print(program);
  if (problem) return;
  EXPECT_EQ(parse_program(print(program)), program) << print(program);
}

}  // namespace

Program fuse_and_check(const Graph& graph, const SymbolValues& symbols,
                       const FuseOptions& options) {
  Random random(graph.size());
  const std::vector<Tensor> inputs = random_inputs(random, graph, symbols);
  const std::vector<Scalar> scalars = random_scalars(random, graph);
  const auto [expected, expected_error] =
      outcome([&] { return interpret(graph, inputs, scalars); });
  Program program = fuse(graph, options);
  for (const bool improved : {false, true}) {
    if (improved) schedule(program);
    expect_valid(program);
    const auto [actual, actual_error] =
        outcome([&] { return interpret(program, inputs, scalars, {.in_place = improved}); });
    EXPECT_EQ(expected_error, actual_error) << print(graph) << print(program);
    EXPECT_EQ(expected.size(), actual.size());
    for (size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
      EXPECT_TRUE(same_bits(expected[i], actual[i])) << "result " << i << " of\n"
                                                     << print(graph) << print(program);
    }
  }
  return program;
}

bool same_code(const Kernel& a, const Kernel& b) {
  const auto same_operand = [](const Operand& x, const Operand& y) {
    const bool numbers = (x.buffer == Operand::kIndex) == (y.buffer == Operand::kIndex);
    return numbers && x.shape == y.shape && x.axes == y.axes;
  };
  return a.domain == b.domain && a.reduced == b.reduced &&
         std::ranges::equal(a.operands, b.operands, same_operand) &&
         a.scalars.size() == b.scalars.size() && a.stores == b.stores &&
         std::ranges::equal(a.body.nodes(), b.body.nodes(), same);
}

size_t count_codes(const Program& program) {
  std::vector<const Kernel*> codes;
  for (const Step& step : program.steps) {
    for (const Kernel& kernel : step.kernels) {
      const auto equal = [&](const Kernel* other) { return same_code(kernel, *other); };
      if (std::ranges::none_of(codes, equal)) codes.push_back(&kernel);
    }
  }
  return codes.size();
}

size_t count_kernels(const Program& program) {
  size_t count = 0;
  for (const Step& step : program.steps) count += step.kernels.size();
  return count;
}

}  // namespace lanewise::test
