#include "runtime/nest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "runtime/cpu.h"

namespace lanewise::runtime {
namespace {

using Addresses = std::vector<int64_t>;  // of all operands at one point of the loops

// Addresses at every point, in the order of the nest.
std::vector<Addresses> walk(const Nest& nest) {
  std::vector<Addresses> visited;
  std::vector<int64_t> index(nest.sizes.size(), 0);
  for (;;) {
    Addresses here;
    for (const NestOperand& operand : nest.operands) {
      int64_t address = operand.base;
      for (size_t i = 0; i < index.size(); ++i) address += operand.strides[i] * index[i];
      here.push_back(address);
    }
    visited.push_back(here);
    int loop = static_cast<int>(index.size()) - 1;
    while (loop >= 0 && ++index[loop] == nest.sizes[loop]) index[loop--] = 0;
    if (loop < 0) return visited;
  }
}

// The rows of a walk: what the reduced loops visit, in order, for each point of the others.
std::map<std::vector<Addresses>, int> rows(const Nest& nest) {
  size_t length = 1;
  for (int i = 0; i < nest.reduced; ++i) length *= nest.sizes[nest.sizes.size() - 1 - i];
  const std::vector<Addresses> visited = walk(nest);
  std::map<std::vector<Addresses>, int> result;
  for (size_t i = 0; i < visited.size(); i += length) {
    ++result[std::vector<Addresses>(visited.begin() + i, visited.begin() + i + length)];
  }
  return result;
}

// Row-major strides in a random order of axes, some reversed, some stepped, some broadcast.
NestOperand random_operand(const std::vector<int64_t>& sizes, std::mt19937& random) {
  NestOperand operand;
  const int choices[] = {0, 1, 2, 4, 8};
  operand.element_size = choices[random() % 5];
  operand.base = static_cast<intptr_t>(random() % 1000) * 8;
  operand.strides.assign(sizes.size(), 0);
  std::vector<int> axes(sizes.size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int>(axes.size() - 1 - i);
  if (random() % 3 == 0) std::shuffle(axes.begin(), axes.end(), random);
  int64_t stride = std::max(operand.element_size, 1);
  for (const int axis : axes) {
    if (random() % 8 == 0) stride *= 1 + random() % 4;
    operand.strides[axis] = stride;
    stride *= sizes[axis];
    if (random() % 5 == 0) operand.strides[axis] *= -1;
    if (random() % 6 == 0) operand.strides[axis] = 0;
  }
  return operand;
}

Nest random_nest(std::mt19937& random) {
  Nest nest;
  const size_t rank = random() % 6;
  const int64_t choices[] = {1, 1, 2, 3, 5};
  for (size_t i = 0; i < rank; ++i) nest.sizes.push_back(choices[random() % 5]);
  nest.reduced = static_cast<int>(random() % (rank + 1));
  const int operands = 1 + static_cast<int>(random() % 4);
  for (int i = 0; i < operands; ++i) nest.operands.push_back(random_operand(nest.sizes, random));
  if (nest.operands[0].element_size > 0) nest.operands[0].written = true;
  return nest;
}

bool same(const Nest& a, const Nest& b) {
  return a.sizes == b.sizes && a.reduced == b.reduced &&
         std::equal(a.operands.begin(), a.operands.end(), b.operands.begin(), b.operands.end(),
                    [](const NestOperand& x, const NestOperand& y) {
                      return x.base == y.base && x.strides == y.strides &&
                             x.element_size == y.element_size && x.written == y.written;
                    });
}

TEST(simplify, visits_the_same_rows_as_often) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 4000; ++trial) {
    const Nest nest = random_nest(random);
    const Nest simple = simplify(nest);
    ASSERT_EQ(rows(simple), rows(nest)) << "trial " << trial;
    ASSERT_TRUE(same(simplify(simple), simple)) << "trial " << trial;
    ASSERT_GE(simple.sizes.size(), 1u);
    ASSERT_LE(simple.sizes.size(), std::max<size_t>(nest.sizes.size(), 1));
    ASSERT_EQ(simple.reduced > 0, nest.reduced > 0) << "trial " << trial;
  }
}

TEST(simplify, leaves_no_single_trip_beside_others) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 1000; ++trial) {
    const Nest simple = simplify(random_nest(random));
    const size_t kept = simple.sizes.size() - simple.reduced;
    const auto ones = [&](size_t from, size_t to) {
      return std::count(simple.sizes.begin() + from, simple.sizes.begin() + to, 1);
    };
    if (kept > 1 || simple.reduced > 0) {
      ASSERT_EQ(ones(0, kept), 0);
    }
    if (simple.reduced > 1) {
      ASSERT_EQ(ones(kept, simple.sizes.size()), 0);
    }
  }
}

Nest nest_of(std::vector<int64_t> sizes, std::vector<NestOperand> operands, int reduced = 0) {
  return {.sizes = std::move(sizes), .reduced = reduced, .operands = std::move(operands)};
}

NestOperand store(intptr_t base, std::vector<int64_t> strides, int element_size = 4) {
  return {
      .base = base, .strides = std::move(strides), .element_size = element_size, .written = true};
}

NestOperand load(intptr_t base, std::vector<int64_t> strides, int element_size = 4) {
  return {.base = base, .strides = std::move(strides), .element_size = element_size};
}

NestOperand iota(intptr_t start, std::vector<int64_t> steps) {
  return {.base = start, .strides = std::move(steps)};
}

void expect_same(const Nest& actual, const Nest& expected) {
  EXPECT_EQ(actual.sizes, expected.sizes);
  EXPECT_EQ(actual.reduced, expected.reduced);
  ASSERT_EQ(actual.operands.size(), expected.operands.size());
  for (size_t i = 0; i < actual.operands.size(); ++i) {
    EXPECT_EQ(actual.operands[i].base, expected.operands[i].base) << i;
    EXPECT_EQ(actual.operands[i].strides, expected.operands[i].strides) << i;
  }
}

TEST(simplify, merges_contiguous_loops_into_one) {
  expect_same(simplify(nest_of({3, 4, 5}, {store(0, {80, 20, 4}), load(1000, {80, 20, 4})})),
              nest_of({60}, {store(0, {4}), load(1000, {4})}));
}

TEST(simplify, merges_a_broadcast_with_a_broadcast_only) {
  expect_same(simplify(nest_of({3, 4, 5}, {store(0, {80, 20, 4}), load(1000, {4, 0, 0})})),
              nest_of({3, 20}, {store(0, {80, 4}), load(1000, {4, 0})}));
}

TEST(simplify, puts_the_smallest_stride_of_the_store_innermost) {
  expect_same(simplify(nest_of({3, 5}, {store(0, {4, 12}), load(1000, {4, 12})})),
              nest_of({15}, {store(0, {4}), load(1000, {4})}));
  expect_same(simplify(nest_of({3, 5}, {load(1000, {20, 4}), store(0, {4, 12})})),
              nest_of({5, 3}, {load(1000, {4, 20}), store(0, {12, 4})}));
}

TEST(simplify, walks_stores_forward) {
  expect_same(simplify(nest_of({10}, {load(1000, {4}), store(36, {-4}), iota(0, {1})})),
              nest_of({10}, {load(1036, {-4}), store(0, {4}), iota(9, {-1})}));
  expect_same(simplify(nest_of({10}, {load(1036, {-4}), store(0, {4})})),
              nest_of({10}, {load(1036, {-4}), store(0, {4})}));
}

TEST(simplify, neither_turns_nor_moves_reduced_loops) {
  const Nest columns = nest_of({6, 3, 5}, {load(1000, {60, 4, 12}), store(0, {4, 0, 0})}, 2);
  expect_same(simplify(columns), columns);
  const Nest backwards = nest_of({6, 5}, {load(1000, {20, -4}), store(0, {4, 0})}, 1);
  expect_same(simplify(backwards), backwards);
}

TEST(simplify, merges_reduced_loops_among_themselves) {
  expect_same(simplify(nest_of({6, 3, 5}, {load(1000, {60, 20, 4}), store(0, {4, 0, 0})}, 2)),
              nest_of({6, 15}, {load(1000, {60, 4}), store(0, {4, 0})}, 1));
  expect_same(simplify(nest_of({3, 5}, {load(1000, {20, 4}), store(0, {0, 0})}, 2)),
              nest_of({15}, {load(1000, {4}), store(0, {0})}, 1));
}

TEST(simplify, keeps_the_innermost_of_single_trips) {
  expect_same(simplify(nest_of({1, 1}, {store(0, {40, 4}), load(1000, {80, 8})})),
              nest_of({1}, {store(0, {4}), load(1000, {8})}));
  expect_same(simplify(nest_of({1, 1}, {load(1000, {80, 8}), store(0, {4, 0})}, 1)),
              nest_of({1}, {load(1000, {8}), store(0, {0})}, 1));
  expect_same(simplify(nest_of({}, {store(0, {}), load(1000, {}, 8)})),
              nest_of({1}, {store(0, {4}), load(1000, {8}, 8)}));
}

TEST(classify, names_each_stride) {
  const Layout layout = classify(
      nest_of({100}, {store(0, {4}), load(1000, {0}), load(2000, {8}), load(3000, {12}),
                      load(4000, {16}), load(5000, {20}), load(6000, {-4}), load(7000, {-8}),
                      load(8001, {6}), iota(0, {1}), iota(0, {0}), iota(0, {-3})}));
  const std::vector<OperandLayout> expected = {
      {.stride = Stride::kUnit},
      {.stride = Stride::kBroadcast},
      {.stride = Stride::kSmall, .step = 2},
      {.stride = Stride::kSmall, .step = 3},
      {.stride = Stride::kSmall, .step = 4},
      {.stride = Stride::kOther},
      {.stride = Stride::kReversed},
      {.stride = Stride::kOther},
      {.stride = Stride::kOther},
      {.stride = Stride::kUnit},
      {.stride = Stride::kBroadcast},
      {.stride = Stride::kOther},
  };
  EXPECT_EQ(layout.operands, expected);
  EXPECT_EQ(layout.rank, 1);
  EXPECT_EQ(layout.reduced, 0);
}

OperandLayout column(int step, int group, int column) {
  return {.stride = Stride::kSmall, .step = step, .group = group, .column = column};
}

TEST(classify, groups_columns_of_the_same_rows) {
  const Layout layout =
      classify(nest_of({100}, {load(1008, {12}), load(2004, {8}), store(0, {4}), load(1000, {12}),
                               load(2000, {8}), load(1012, {12}), load(1000, {8}), load(3000, {8}),
                               load(3002, {8}), load(4000, {8}), store(4004, {8})}));
  EXPECT_EQ(layout.operands[0], column(3, 0, 2));
  EXPECT_EQ(layout.operands[1], column(2, 1, 1));
  EXPECT_EQ(layout.operands[2], OperandLayout{});
  EXPECT_EQ(layout.operands[3], column(3, 0, 0));
  EXPECT_EQ(layout.operands[4], column(2, 1, 0));
  EXPECT_EQ(layout.operands[5], column(3, -1, 0)) << "a row further on";
  EXPECT_EQ(layout.operands[6], column(2, -1, 0)) << "other rows";
  EXPECT_EQ(layout.operands[7], column(2, -1, 0));
  EXPECT_EQ(layout.operands[8], column(2, -1, 0)) << "half an element further on";
  EXPECT_EQ(layout.operands[9], column(2, -1, 0)) << "beside a stored column";
  EXPECT_EQ(layout.operands[10], column(2, -1, 0)) << "stored";
}

TEST(classify, groups_only_where_all_loops_agree) {
  const Layout layout =
      classify(nest_of({10, 5}, {store(0, {20, 4}), load(1000, {100, 8}), load(1004, {120, 8})}));
  EXPECT_EQ(layout.operands[1].group, -1);
  EXPECT_EQ(layout.operands[2].group, -1);
}

TEST(classify, a_lone_column_of_a_group_of_higher_ones_counts_from_the_lowest) {
  const Layout layout =
      classify(nest_of({10}, {store(0, {4}), load(1012, {16}), load(1004, {16})}));
  EXPECT_EQ(layout.operands[1], column(4, 0, 2));
  EXPECT_EQ(layout.operands[2], column(4, 0, 0));
}

TEST(classify, streams_outputs_larger_than_the_cache) {
  const int64_t cache = static_cast<int64_t>(cache_sizes().l3 / 4);  // in elements
  constexpr intptr_t kX = 1l << 40;
  constexpr intptr_t kY = 1l << 41;
  const auto streams = [](const Nest& nest) { return classify(nest).streaming; };
  EXPECT_TRUE(streams(nest_of({cache}, {store(0, {4}), load(kX, {4})})));
  EXPECT_FALSE(streams(nest_of({cache / 4}, {store(0, {4}), load(kX, {4})})));
  EXPECT_TRUE(streams(nest_of({cache / 4}, {store(0, {4}), load(kX, {4}), load(kY, {4})})));
  EXPECT_TRUE(streams(nest_of({cache / 4}, {store(0, {4}), load(kX, {8})}))) << "whole lines";
  EXPECT_TRUE(streams(nest_of({4, cache}, {store(0, {4 * cache, 4}), load(kX, {0, 4})})));
  EXPECT_FALSE(streams(nest_of({cache}, {store(0, {4}), load(kX, {0})}))) << "hardly any input";
  EXPECT_TRUE(streams(nest_of({2 * cache}, {store(0, {4}), load(kX, {0})})));
  EXPECT_FALSE(streams(nest_of({cache}, {store(0, {4}), load(0, {4})}))) << "updated in place";
  EXPECT_FALSE(streams(nest_of({cache}, {store(0, {8}), load(kX, {4})}))) << "strided";
  EXPECT_FALSE(streams(nest_of({cache, 8}, {store(0, {4, 0}), load(kX, {32, 4})}, 1)));
}

TEST(classify, reduces_side_by_side_where_that_is_cheaper) {
  // Over the leading axis of (100, 50): neighbours in memory belong to different rows.
  const Layout leading = classify(nest_of({50, 100}, {load(0, {4, 200}), store(0, {4, 0})}, 1));
  EXPECT_TRUE(leading.columns);
  EXPECT_EQ(vector_loop(leading), 0);
  EXPECT_EQ(leading.operands[0].stride, Stride::kUnit);
  EXPECT_EQ(leading.operands[1].stride, Stride::kUnit);
  // Over the last axis of (50, 1000), and of (50, 5), where the ends of rows would cost most.
  const Layout last = classify(nest_of({50, 1000}, {load(0, {4000, 4}), store(0, {4, 0})}, 1));
  EXPECT_FALSE(last.columns);
  EXPECT_EQ(vector_loop(last), 1);
  EXPECT_TRUE(classify(nest_of({50, 5}, {load(0, {20, 4}), store(0, {4, 0})}, 1)).columns);
  // There must be rows, and something to reduce.
  EXPECT_FALSE(classify(nest_of({5}, {load(0, {4}), store(0, {0})}, 1)).columns);
  EXPECT_FALSE(classify(nest_of({50, 100}, {load(0, {4, 200}), store(0, {4, 200})})).columns);
}

TEST(classify, knows_reduced_rows_that_exceed_the_cache) {
  const int64_t many = static_cast<int64_t>(cache_sizes().l2 / 8) + 1;
  EXPECT_TRUE(
      classify(nest_of({4, many}, {load(0, {4 * many, 4}), store(0, {4, 0})}, 1)).long_rows);
  EXPECT_FALSE(classify(nest_of({4, 99}, {load(0, {4 * 99, 4}), store(0, {4, 0})}, 1)).long_rows);
  EXPECT_FALSE(classify(nest_of({4, many}, {load(0, {4, 0}), store(0, {4, 0})}, 1)).long_rows);
  EXPECT_FALSE(classify(nest_of({many}, {load(0, {4}), store(0, {4})})).long_rows);
}

}  // namespace
}  // namespace lanewise::runtime
