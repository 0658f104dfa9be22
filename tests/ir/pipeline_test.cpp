#include "ir/passes/pipeline.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>

#include "ir/interpret.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/error.h"

namespace lanewise::ir {
namespace {

constexpr std::string_view kText = R"(func @f(%x: f32[n]) -> f32[n] {
  %0 = constant 1.0 : f32[n]
  %1 = multiply %0, %x : f32[n]
  %2 = square %1 : f32[n]
  return %2
}
)";

std::string error_of(const PassOptions& options) {
  Graph graph = parse_graph(kText);
  try {
    optimize(graph, options);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Pipeline, LeavesOutPasses) {
  Graph graph = parse_graph(kText);
  optimize(graph, {.disabled = {"simplify_algebra", "dead_code"}});
  EXPECT_EQ(print(graph), R"(func @f(%x: f32[n]) -> f32[n] {
  %0 = constant 1.0 : f32[n]
  %1 = multiply %x, %0 : f32[n]
  %2 = multiply %1, %1 : f32[n]
  return %2
}
)");
}

TEST(Pipeline, RefusesNamesThatAreNoPasses) {
  EXPECT_EQ(error_of({.disabled = {"simplfy"}}), "passes: no pass 'simplfy'");
  EXPECT_EQ(error_of({.disabled = {"expand"}}), "passes: 'expand' cannot be left out");
  EXPECT_EQ(error_of({.print_after = "cse"}), "passes: no pass 'cse'");
}

TEST(Pipeline, PrintsAfterAPass) {
  std::string shown;
  Graph graph = parse_graph(kText);
  const auto print = [&](std::string_view text) { shown += text; };
  optimize(graph, {.print_after = "canonicalize", .print = print});
  EXPECT_EQ(shown, R"(// after canonicalize
func @f(%x: f32[n]) -> f32[n] {
  %0 = constant 1.0 : f32[n]
  %1 = multiply %x, %0 : f32[n]
  %2 = square %1 : f32[n]
  return %2
}
)");
}

TEST(Pipeline, RelaxesOnlyWhereThatIsAllowed) {
  constexpr std::string_view text = R"(func @f(%x: f32[n], %y: f32[n]) -> (f32[n], f32[n]) {
  %0 = multiply %x, %y : f32[n]
  %1 = subtract %y, %0 : f32[n]
  %2 = pow_const %x {exponent = 3} : f32[n]
  return %1, %2
}
)";
  Graph fast = parse_graph(text);
  optimize(fast, {.fast = true});
  EXPECT_EQ(print(fast), R"(func @f(%x: f32[n], %y: f32[n]) -> (f32[n], f32[n]) {
  %0 = negative %x : f32[n]
  %1 = fma %0, %y, %y : f32[n]
  %2 = multiply %x, %x : f32[n]
  %3 = multiply %2, %x : f32[n]
  return %1, %3
}
)");
  Graph strict = parse_graph(text);
  optimize(strict);
  EXPECT_GT(strict.size(), fast.size());
}

TEST(Pipeline, TimesEachPass) {
  std::vector<PassTime> times;
  Graph graph = parse_graph(kText);
  optimize(graph, {.disabled = {"canonicalize"}, .times = &times});
  const auto usual = std::ranges::count(kGraphPasses, false, &GraphPass::only_fast);
  ASSERT_EQ(std::ssize(times), usual - 1);
  EXPECT_EQ(times[0].pass, "fold_constants");
  for (const PassTime& time : times) EXPECT_GE(time.time.count(), 0);
}

TEST(Pipeline, VerifiesWhatItIsGiven) {
  Graph graph = parse_graph(kText);
  graph.outputs[0] = Value{77};
  try {
    optimize(graph, {.verify = true});
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "internal error: invalid graph after recording: an output is no value of the "
                 "graph (please report this)");
  }
}

// Runs `f` on a thread whose stack has 256 KiB.
void on_small_stack(void (*f)()) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread;
  const auto start = [](void* function) -> void* {
    reinterpret_cast<void (*)()>(function)();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, start, reinterpret_cast<void*>(f)), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

Graph long_chain(int length) {
  Graph graph;
  Builder builder(graph);
  const Value x = builder.input("x", DType::kF32, {});
  Value value = x;
  for (int i = 0; i < length; ++i) value = builder.apply(Op::kAdd, {x, value});
  graph.outputs = {value};
  return graph;
}

Graph big_tree(int leaves) {
  Graph graph;
  Builder builder(graph);
  std::vector<Value> level;
  const Value x = builder.input("x", DType::kI64, {2});
  for (int i = 0; i < leaves; ++i) {
    level.push_back(builder.window(x, {}, {i % 2, {}}));
  }
  while (level.size() > 1) {
    for (size_t i = 0; i < level.size() / 2; ++i) {
      level[i] = builder.apply(Op::kAdd, {level[2 * i], level[2 * i + 1]});
    }
    level.resize(level.size() / 2);
  }
  graph.outputs = {level[0]};
  return graph;
}

TEST(Pipeline, DeepGraphsOnASmallStack) {
  on_small_stack([] {
    Graph chain = long_chain(50000);
    optimize(chain, {.verify = true});
    const Tensor one = Tensor::of<float>({}, {1});
    EXPECT_EQ(interpret(chain, std::vector{one})[0].at<float>(0), 50001);
    EXPECT_EQ(parse_graph(print(chain)), chain);

    Graph tree = big_tree(1 << 16);
    optimize(tree, {.verify = true});
    EXPECT_LT(tree.size(), 25u);  // equal halves are one
    const Tensor two = Tensor::of<int64_t>({2}, {1, 2});
    EXPECT_EQ(interpret(tree, std::vector{two})[0].at<int64_t>(0), 3 << 15);
  });
}

}  // namespace
}  // namespace lanewise::ir
