#include "ir/interpret.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "ir/builder.h"
#include "ir/reduction_order.h"
#include "ir/scan_order.h"
#include "support/error.h"
#include "tests/support/random_values.h"

namespace lanewise::ir {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

// Applies `op` to 1-d operands.
template <class R = void, class... Ts>
Tensor apply_op(Op op, const std::vector<Ts>&... operands) {
  Graph graph;
  Builder builder(graph);
  const auto input = [&]<class T>(const std::vector<T>& v) {
    return builder.input("x", dtype_of<T>(), {Dim(static_cast<int64_t>(v.size()))});
  };
  graph.outputs = {builder.apply(op, {input(operands)...})};
  const std::vector<Tensor> inputs{
      Tensor::of<Ts>({static_cast<int64_t>(operands.size())}, operands)...};
  return interpret(graph, inputs).at(0);
}

template <class To, class From>
To cast_one(From value) {
  Node node{.op = Op::kCast, .dtype = dtype_of<To>(), .shape = {}};
  const Scalar operand = Scalar::of(value);
  return interpret_element(node, {&operand, 1}).template as<To>();
}

template <class T>
void expect(const Tensor& actual, const std::vector<T>& expected) {
  const Tensor wanted = Tensor::of<T>({static_cast<int64_t>(expected.size())}, expected);
  EXPECT_TRUE(same_bits(actual, wanted));
}

TEST(Interpret, IntegersWrap) {
  expect<int8_t>(apply_op(Op::kAdd, std::vector<int8_t>{127, -128}, std::vector<int8_t>{1, -1}),
                 {-128, 127});
  expect<uint16_t>(
      apply_op(Op::kMultiply, std::vector<uint16_t>{65535}, std::vector<uint16_t>{65535}), {1});
  expect<int64_t>(apply_op(Op::kNegative, std::vector<int64_t>{INT64_MIN}), {INT64_MIN});
  expect<int32_t>(apply_op(Op::kAbsolute, std::vector<int32_t>{INT32_MIN, -5}), {INT32_MIN, 5});
}

TEST(Interpret, QuotientIsTotal) {
  expect<int32_t>(apply_op(Op::kQuotient, std::vector<int32_t>{7, -7, 5, INT32_MIN},
                           std::vector<int32_t>{2, 2, 0, -1}),
                  {3, -3, 0, INT32_MIN});
}

TEST(Interpret, MultiplyHigh) {
  expect<uint64_t>(apply_op(Op::kMultiplyHigh, std::vector<uint64_t>{UINT64_MAX},
                            std::vector<uint64_t>{UINT64_MAX}),
                   {UINT64_MAX - 1});
  expect<int32_t>(apply_op(Op::kMultiplyHigh, std::vector<int32_t>{-1, INT32_MIN},
                           std::vector<int32_t>{1, INT32_MIN}),
                  {-1, 1 << 30});
}

TEST(Interpret, MinimumAndMaximumFollowIeee754) {
  const std::vector<float> a{0.0f, -0.0f, kNan, 1, -kInf};
  const std::vector<float> b{-0.0f, 0.0f, 1, kNan, kNan};
  expect<float>(apply_op(Op::kMinimum, a, b), {-0.0f, -0.0f, kNan, kNan, kNan});
  expect<float>(apply_op(Op::kMaximum, a, b), {0.0f, 0.0f, kNan, kNan, kNan});
}

TEST(Interpret, ShiftsOutsideTheWidth) {
  expect<int8_t>(apply_op(Op::kShiftRight, std::vector<int8_t>{-128, -1, 64, -2},
                          std::vector<int8_t>{8, -1, 100, 1}),
                 {-1, -1, 0, -1});
  expect<uint32_t>(
      apply_op(Op::kShiftLeft, std::vector<uint32_t>{1, 1, 3}, std::vector<uint32_t>{31, 32, 1}),
      {1u << 31, 0, 6});
}

TEST(Interpret, CastSaturates) {
  EXPECT_EQ(cast_one<int32_t>(kNan), 0);
  EXPECT_EQ(cast_one<int32_t>(3e9), INT32_MAX);
  EXPECT_EQ(cast_one<int32_t>(-kInf), INT32_MIN);
  EXPECT_EQ(cast_one<uint64_t>(-1.0f), 0u);
  EXPECT_EQ(cast_one<uint64_t>(1e30f), UINT64_MAX);
  EXPECT_EQ(cast_one<int64_t>(9.3e18), INT64_MAX);
  EXPECT_EQ(cast_one<int8_t>(int32_t{300}), 44);
  EXPECT_EQ(cast_one<bool>(kNan), true);
  EXPECT_EQ(cast_one<bool>(-0.0), false);
  EXPECT_EQ(cast_one<float>(uint64_t{(1ull << 40) + (1ull << 16) + 1}), 1099511758848.0f);
}

TEST(Interpret, Scale2RoundsOnce) {
  // 3 * 2^-1075 lies between two subnormals; via 2^-1074 it would round twice.
  expect<double>(apply_op(Op::kScale2, std::vector<double>{1.5, 1.0, kInf, 0.0, 3.0},
                          std::vector<double>{-1074, 5000, -5000, 5000, -1076}),
                 {0x1p-1073, kInf, kInf, 0.0, 0x1p-1074});
}

TEST(Interpret, LogicOnBool) {
  using Bools = std::vector<bool>;
  const auto tensor = [](Bools v) {
    Tensor t(DType::kBool, {static_cast<int64_t>(v.size())});
    for (size_t i = 0; i < v.size(); ++i) t.at<bool>(static_cast<int64_t>(i)) = v[i];
    return t;
  };
  const Tensor a = tensor({false, false, true, true}), b = tensor({false, true, false, true});
  const auto apply_bool = [&](Op op) {
    Graph graph;
    Builder builder(graph);
    const Value x = builder.input("x", DType::kBool, {4}),
                y = builder.input("y", DType::kBool, {4});
    graph.outputs = {builder.apply(op, {x, y})};
    return interpret(graph, std::vector<Tensor>{a, b})[0];
  };
  EXPECT_TRUE(same_bits(apply_bool(Op::kAdd), tensor({false, true, true, true})));
  EXPECT_TRUE(same_bits(apply_bool(Op::kMultiply), tensor({false, false, false, true})));
  EXPECT_TRUE(same_bits(apply_bool(Op::kLess), tensor({false, true, false, false})));
}

TEST(Interpret, WindowsUpdatesAndSymbols) {
  Graph graph;
  Builder builder(graph);
  const Dim n = Dim::symbol("n");
  const Value x = builder.input("x", DType::kI32, {n, 2});
  const Value reversed = builder.window(x, {n}, {2 * n - 1, {-2}});
  const Value zero = builder.constant(Scalar::of(int32_t{0}), {n});
  graph.outputs = {reversed, builder.update(x, zero, {0, {2}}),
                   builder.iota(DType::kI32, {n, 2}, 0)};
  const auto results =
      interpret(graph, std::vector<Tensor>{Tensor::of<int32_t>({3, 2}, {1, 2, 3, 4, 5, 6})});
  EXPECT_TRUE(same_bits(results[0], Tensor::of<int32_t>({3}, {6, 4, 2})));
  EXPECT_TRUE(same_bits(results[1], Tensor::of<int32_t>({3, 2}, {0, 2, 0, 4, 0, 6})));
  EXPECT_TRUE(same_bits(results[2], Tensor::of<int32_t>({3, 2}, {0, 0, 1, 1, 2, 2})));
}

TEST(Interpret, Reductions) {
  Graph graph;
  Builder builder(graph);
  const Value x = builder.input("x", DType::kF32, {2, 3});
  graph.outputs = {builder.reduce(Op::kSum, x, {0}), builder.reduce(Op::kMax, x, {1}),
                   builder.reduce(Op::kProd, x, {0, 1})};
  const auto results =
      interpret(graph, std::vector<Tensor>{Tensor::of<float>({2, 3}, {1, 2, 3, 4, kNan, 6})});
  EXPECT_TRUE(same_bits(results[0], Tensor::of<float>({3}, {5, kNan, 9})));
  EXPECT_TRUE(same_bits(results[1], Tensor::of<float>({2}, {3, kNan})));
  EXPECT_TRUE(same_bits(results[2], Tensor::of<float>({}, {kNan})));
}

TEST(Interpret, PositionsOfExtremes) {
  Graph graph;
  Builder builder(graph);
  const Value x = builder.input("x", DType::kF64, {3, 4});
  graph.outputs = {builder.reduce(Op::kArgMin, x, {1}), builder.reduce(Op::kArgMax, x, {1}),
                   builder.reduce(Op::kArgMax, x, {0}), builder.reduce(Op::kArgMin, x, {0, 1}),
                   builder.reduce(Op::kArgMin, x, {})};
  const auto results =
      interpret(graph, std::vector<Tensor>{Tensor::of<double>(
                           {3, 4}, {2, 1, 3, 1, 0.0, -0.0, 5, 5, 7, kNan, -9, kNan})});
  expect<int64_t>(results[0], {1, 0, 1});  // the first of equals, zeros are equal, NaN first
  expect<int64_t>(results[1], {2, 2, 1});
  expect<int64_t>(results[2], {2, 2, 1, 2});
  EXPECT_TRUE(same_bits(results[3], Tensor::of<int64_t>({}, {9})));
  EXPECT_TRUE(same_bits(results[4], Tensor::of<int64_t>({3, 4}, std::vector<int64_t>(12, 0))));
}

TEST(Interpret, Scans) {
  Graph graph;
  Builder builder(graph);
  const Value x = builder.input("x", DType::kI16, {2, 3});
  const Value y = builder.input("y", DType::kF32, {4});
  graph.outputs = {builder.scan(Op::kCumulativeSum, x, 1), builder.scan(Op::kCumulativeProd, x, 0),
                   builder.scan(Op::kCumulativeSum, y, 0), builder.scan(Op::kCumulativeProd, y, 0)};
  const auto results =
      interpret(graph, std::vector<Tensor>{Tensor::of<int16_t>({2, 3}, {1, 2, 3, 4, 5, 20000}),
                                           Tensor::of<float>({4}, {-0.0F, 2, kNan, 1})});
  EXPECT_TRUE(same_bits(results[0], Tensor::of<int16_t>({2, 3}, {1, 3, 6, 4, 9, 20009})));
  EXPECT_TRUE(same_bits(results[1], Tensor::of<int16_t>({2, 3}, {1, 2, 3, 4, 10, -5536})));
  EXPECT_TRUE(same_bits(results[2], Tensor::of<float>({4}, {-0.0F, 2, kNan, kNan})));
  EXPECT_TRUE(same_bits(results[3], Tensor::of<float>({4}, {-0.0F, -0.0F, kNan, kNan})));
}

// Each result must be the sum of what scan_order.h says, in that order, for rows of any length.
TEST(Interpret, OrderOfScans) {
  test::Random random(1);
  for (const int64_t length : {1, 2, 15, 16, 17, 100, 1024, 1025, 3000}) {
    std::vector<float> row;
    for (int64_t i = 0; i < length; ++i) {
      row.push_back(static_cast<float>(test::uniform(random, -1000, 1000)) / 7);
    }
    // The sum of elements first..last of a chunk: halves, as far as they go.
    const std::function<float(int64_t, int64_t)> in_chunk = [&](int64_t first, int64_t last) {
      if (first == last) return row[static_cast<size_t>(first)];
      const auto half = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(last - first)));
      return in_chunk(first, first + half - 1) + in_chunk(first + half, last);
    };
    const auto in_block = [&](int64_t block, int64_t last) {
      float sum = 0;
      for (int64_t start = block; start <= last; start += kScanChunk) {
        const float chunk = in_chunk(start, std::min(start + kScanChunk - 1, last));
        sum = start == block ? chunk : sum + chunk;
      }
      return sum;
    };
    Graph graph;
    Builder builder(graph);
    graph.outputs = {
        builder.scan(Op::kCumulativeSum, builder.input("x", DType::kF32, {length}), 0)};
    const auto result =
        interpret(graph, std::vector<Tensor>{Tensor::of<float>({length}, row)}).at(0);
    float before = 0;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t block = i / kScanBlock * kScanBlock;
      const float sum = in_block(block, i);
      const float expected = block == 0 ? sum : before + sum;
      ASSERT_EQ(result.at<float>(i), expected) << i << " of " << length;
      if (i % kScanBlock == kScanBlock - 1) before = expected;
    }
  }
}

TEST(Interpret, EmptyReductionsGiveTheIdentity) {
  Graph graph;
  Builder builder(graph);
  const Value x = builder.input("x", DType::kF64, {0});
  for (const Op op : {Op::kSum, Op::kProd, Op::kMin, Op::kMax}) {
    graph.outputs.push_back(builder.reduce(op, x, {0}));
  }
  const auto results = interpret(graph, std::vector<Tensor>{Tensor(DType::kF64, {0})});
  EXPECT_TRUE(same_bits(results[0], Tensor::of<double>({}, {0.0})));
  EXPECT_TRUE(same_bits(results[1], Tensor::of<double>({}, {1.0})));
  EXPECT_TRUE(same_bits(results[2], Tensor::of<double>({}, {double(kInf)})));
  EXPECT_TRUE(same_bits(results[3], Tensor::of<double>({}, {-double(kInf)})));
}

// The order written out for two full blocks and one element, float32: the sums are not exact, so
// another order would give other bits.
TEST(ReductionOrder, LanesHalvingTree) {
  std::vector<float> x(2049);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(3 * i + 1);
  const auto block = [&](size_t start) {
    std::vector<float> lanes(64);
    for (size_t lane = 0; lane < 64; ++lane) {
      for (size_t i = lane; i < 1024; i += 64) lanes[lane] += x[start + i];
    }
    for (size_t half = 32; half > 0; half /= 2) {
      for (size_t j = 0; j < half; ++j) lanes[j] += lanes[j + half];
    }
    return lanes[0];
  };
  const float expected = (block(0) + block(1024)) + x[2048];
  EXPECT_EQ(reduce_in_order(std::span<const float>(x), -0.0f, std::plus<float>()), expected);
}

TEST(ReductionOrder, KeepsTheSignOfZero) {
  const std::vector<double> zeros{-0.0, -0.0};
  EXPECT_TRUE(
      std::signbit(reduce_in_order(std::span<const double>(zeros), -0.0, std::plus<double>())));
}

TEST(Interpret, ChecksNameTheElement) {
  Graph graph;
  Builder builder(graph);
  const Value x = builder.input("x", DType::kI32, {2, 2});
  const Value negative =
      builder.apply(Op::kLess, {x, builder.constant(Scalar::of(int32_t{0}), {2, 2})});
  graph.checks = {{negative, "power: negative exponent of an integer"}};
  graph.outputs = {x};
  EXPECT_NO_THROW(interpret(graph, std::vector<Tensor>{Tensor::of<int32_t>({2, 2}, {1, 2, 3, 4})}));
  try {
    interpret(graph, std::vector<Tensor>{Tensor::of<int32_t>({2, 2}, {1, 2, -3, -4})});
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "power: negative exponent of an integer at element (1, 0)");
  }
}

TEST(Interpret, RefusesArgumentsThatDoNotFit) {
  Graph graph;
  Builder builder(graph);
  graph.outputs = {builder.input("x", DType::kF32, {Dim::symbol("n"), Dim::symbol("n")})};
  EXPECT_THROW(interpret(graph, std::vector<Tensor>{Tensor(DType::kF32, {2, 3})}), ShapeError);
  EXPECT_THROW(interpret(graph, std::vector<Tensor>{Tensor(DType::kF64, {2, 2})}), DTypeError);
  EXPECT_THROW(interpret(graph, {}), ValueError);
}

}  // namespace
}  // namespace lanewise::ir
