// Laws that hold for every graph, on random ones.
#include <gtest/gtest.h>

#include "ir/interpret.h"
#include "ir/passes/pipeline.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/error.h"
#include "tests/support/random_graph.h"

namespace lanewise::ir {
namespace {

constexpr int kGraphs = 1500;

// Results, or the message of a check that fails.
struct Outcome {
  std::vector<Tensor> results;
  std::string error;
};

Outcome run(const Graph& graph, std::span<const Tensor> inputs, std::span<const Scalar> scalars) {
  try {
    return {interpret(graph, inputs, scalars), {}};
  } catch (const ValueError& error) {
    return {{}, error.what()};
  }
}

void expect_same(const Outcome& a, const Outcome& b, const std::string& context) {
  ASSERT_EQ(a.error, b.error) << context;
  ASSERT_EQ(a.results.size(), b.results.size()) << context;
  for (size_t i = 0; i < a.results.size(); ++i) {
    ASSERT_TRUE(same_bits(a.results[i], b.results[i])) << "result " << i << "\n" << context;
  }
}

TEST(RandomGraphs, PrintAndParse) {
  test::Random random(1);
  for (int i = 0; i < kGraphs; ++i) {
    const Graph graph = test::random_graph(random, {.checks = true});
    verify(graph, "generation");
    const std::string text = print(graph);
    ASSERT_EQ(parse_graph(text), graph) << text;
    ASSERT_EQ(print(parse_graph(text)), text);
  }
}

// Every pass alone and all of them, with random ones left out.
TEST(RandomGraphs, PassesKeepResults) {
  test::Random random(2);
  for (int i = 0; i < kGraphs; ++i) {
    const Graph graph = test::random_graph(random, {.checks = i % 4 == 0});
    const auto inputs = test::random_inputs(random, graph);
    const auto scalars = test::random_scalars(random, graph);
    const Outcome expected = run(graph, inputs, scalars);

    for (const GraphPass& pass : kGraphPasses) {
      Graph changed = graph;
      const bool says_changed = pass.run(changed);
      verify(changed, pass.name);
      const std::string context =
          "after " + std::string(pass.name) + "\n" + print(graph) + "\n" + print(changed);
      ASSERT_EQ(says_changed, !(changed == graph)) << context;
      if (pass.only_fast) continue;  // may change results
      expect_same(run(changed, inputs, scalars), expected, context);
      if (HasFatalFailure()) return;
    }

    PassOptions options{.verify = true};
    for (const GraphPass& pass : kGraphPasses) {
      if (pass.optional && test::chance(random, 30)) options.disabled.emplace_back(pass.name);
    }
    Graph optimized = graph;
    optimize(optimized, options);
    expect_same(run(optimized, inputs, scalars), expected, print(graph) + print(optimized));
    if (HasFatalFailure()) return;
  }
}

TEST(RandomGraphs, PassesSettle) {
  test::Random random(3);
  for (int i = 0; i < kGraphs; ++i) {
    Graph graph = test::random_graph(random);
    common_subexpressions(graph);
    dead_code(graph);
    EXPECT_FALSE(common_subexpressions(graph));
    EXPECT_FALSE(dead_code(graph));
    canonicalize(graph);
    EXPECT_FALSE(canonicalize(graph)) << print(graph);
  }
}

}  // namespace
}  // namespace lanewise::ir
