#include "ir/passes/fuse.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <functional>

#include "ir/builder.h"
#include "ir/passes/schedule.h"
#include "ir/verify.h"
#include "tests/support/program_check.h"

namespace lanewise::ir {
namespace {

using test::count_codes;
using test::count_kernels;
using test::fuse_and_check;

// Runs f on a thread whose stack is as small as threads of other programs have it.
void with_small_stack(const std::function<void()>& f) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 256 * 1024);
  pthread_t thread;
  const auto start = [](void* argument) -> void* {
    (*static_cast<const std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(0, pthread_create(&thread, &attributes, start,
                              const_cast<void*>(static_cast<const void*>(&f))));
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

// x + s0 + s1 + ...
Graph chain(int length, const Shape& shape) {
  Graph graph;
  Builder builder(graph);
  Value value = builder.input("x", DType::kF64, shape);
  for (int i = 0; i < length; ++i) {
    value = builder.apply(Op::kAdd, {value, builder.scalar(DType::kF64, shape)});
  }
  graph.outputs = {value};
  return graph;
}

// The sum of 2^depth arguments, level by level.
Graph tree(int depth, const Shape& shape) {
  Graph graph;
  Builder builder(graph);
  std::vector<Value> values;
  for (int i = 0; i < 1 << depth; ++i) {
    values.push_back(builder.input("x" + std::to_string(i), DType::kF64, shape));
  }
  while (values.size() > 1) {
    std::vector<Value> next;
    for (size_t i = 0; i < values.size(); i += 2) {
      next.push_back(builder.apply(Op::kAdd, {values[i], values[i + 1]}));
    }
    values = next;
  }
  graph.outputs = {values[0]};
  return graph;
}

// Kernels and arrays stay within the limits.
void expect_within(const Program& program, const FuseLimits& limits) {
  for (const Step& step : program.steps) {
    for (const Kernel& kernel : step.kernels) {
      const auto primitives = std::ranges::count_if(
          kernel.body.nodes(), [](const Node& node) { return node.arity() > 0; });
      EXPECT_LE(primitives, limits.primitives);
      EXPECT_LE(std::ssize(kernel.operands), limits.operands);
    }
  }
}

TEST(Fuse, LongChainRunsInBlocks) {
  const Program program = fuse_and_check(chain(1000, Shape{40}));
  ASSERT_EQ(program.steps.size(), 1u);
  EXPECT_TRUE(program.steps[0].blocked);
  EXPECT_EQ(count_kernels(program), 4u);
  expect_within(program, {});
  for (const Buffer& buffer : program.buffers) EXPECT_NE(buffer.kind, Buffer::Kind::kTemporary);
}

TEST(Fuse, ChainOf50000) {
  with_small_stack([] {
    const Graph graph = chain(50000, Shape{Dim::symbol("n")});
    Program program = fuse(graph);
    schedule(program);
    verify(program, "schedule");
    expect_within(program, {});
    ASSERT_EQ(program.steps.size(), 1u);
    EXPECT_TRUE(program.steps[0].blocked);
    EXPECT_EQ(count_kernels(program), 196u);
    EXPECT_LE(count_codes(program), 3u);  // the first, those between, the last
  });
}

TEST(Fuse, TreeRunsInBlocks) {
  const Program program = fuse_and_check(tree(8, Shape{11}));
  ASSERT_EQ(program.steps.size(), 1u);
  EXPECT_TRUE(program.steps[0].blocked);
  expect_within(program, {});
}

TEST(Fuse, TreeOf65536Leaves) {
  with_small_stack([] {
    const Graph graph = tree(16, Shape{Dim::symbol("n")});
    Program program = fuse(graph);
    schedule(program);
    verify(program, "schedule");
    expect_within(program, {});
    ASSERT_EQ(program.steps.size(), 1u);
    EXPECT_LE(count_kernels(program), 5000u);
    EXPECT_LE(count_codes(program), 40u);
  });
}

// Eight times the graph: far from 64 times the time, caches and noise allowed for.
TEST(Fuse, CostGrowsLinearly) {
  const auto seconds = [](const Graph& graph) {
    double best = 1e9;
    for (int i = 0; i < 3; ++i) {
      const auto start = std::chrono::steady_clock::now();
      Program program = fuse(graph);
      schedule(program);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      best = std::min(best, time.count());
    }
    return best;
  };
  const Shape shape{Dim::symbol("n")};
  EXPECT_LT(seconds(chain(40000, shape)), 32 * seconds(chain(5000, shape)));
  EXPECT_LT(seconds(tree(15, shape)), 32 * seconds(tree(12, shape)));
}

}  // namespace
}  // namespace lanewise::ir
