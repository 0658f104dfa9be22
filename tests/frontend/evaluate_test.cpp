// Lazy arrays: values, views, writing, deep graphs.
#include "frontend/evaluate.h"

#include <gtest/gtest.h>

#include "frontend/ops.h"
#include "jit/compiler.h"
#include "support/error.h"
#include "tests/support/small_stack.h"

namespace lanewise::frontend {
namespace {

template <class T>
Array array_of(const Shape& shape, const std::vector<T>& values) {
  return from_bytes(dtype_of<T>(), shape, values.data());
}

Number number(double value) { return {Weak::kFloat, value}; }
Number integer(int64_t value) { return {Weak::kInt, value}; }

// Elements in row-major order.
template <class T>
std::vector<T> values_of(const Array& array) {
  const Array copy(*array.reshape(array.shape(), true));
  const StridedData data = strided_data(copy);
  const auto* first = reinterpret_cast<const T*>(data.data);
  return std::vector<T>(first, first + copy.shape().element_count().value());
}

Array at(const Array& array, std::vector<IndexItem> items) { return index(array, items); }

using Doubles = std::vector<double>;
using Ints = std::vector<int64_t>;

TEST(Evaluate, SeedExpression) {
  const Array x = array_of<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Array y = apply(Op::kAdd, {apply(Op::kPow, {at(x, {Ellipsis{}, int64_t{0}}), integer(2)}),
                                   apply(Op::kPow, {at(x, {Ellipsis{}, int64_t{1}}), integer(3)})});
  EXPECT_EQ(values_of<float>(y), (std::vector<float>{9, 73, 241}));
}

TEST(Evaluate, ViewsShareTheirStorage) {
  Array x = array_of<int64_t>({2, 3}, {0, 1, 2, 3, 4, 5});
  const Array row = at(x, {int64_t{0}});
  const Array column = at(x.permute(std::array{1, 0}), {int64_t{2}});
  assign(row, integer(7), false);
  EXPECT_EQ(values_of<int64_t>(x), (Ints{7, 7, 7, 3, 4, 5}));
  EXPECT_EQ(values_of<int64_t>(column), (Ints{7, 5}));
  assign(column, apply(Op::kAdd, {column, integer(1)}), true);
  EXPECT_EQ(values_of<int64_t>(x), (Ints{7, 7, 8, 3, 4, 6}));
}

TEST(Evaluate, PendingExpressionsKeepOldValues) {
  const Array x = array_of<double>({3}, {1, 2, 3});
  const Array doubled = apply(Op::kMultiply, {x, number(2)});
  assign(at(x, {Slice{1, {}, {}}}), number(0), false);
  EXPECT_EQ(values_of<double>(doubled), (Doubles{2, 4, 6}));
  EXPECT_EQ(values_of<double>(x), (Doubles{1, 0, 0}));
}

TEST(Evaluate, UpdateInPlaceWhenNobodyElseLooks) {
  const Array x = array_of<double>({4}, {1, 2, 3, 4});
  const char* memory = strided_data(x).data;
  assign(at(x, {Slice{{}, {}, 2}}), number(9), false);
  EXPECT_EQ(strided_data(x).data, memory);
  const StridedData exported = strided_data(x);
  assign(at(x, {int64_t{1}}), number(5), false);
  EXPECT_NE(strided_data(x).data, exported.data);
  EXPECT_EQ(reinterpret_cast<const double*>(exported.data)[1], 2);
  EXPECT_EQ(values_of<double>(x), (Doubles{9, 5, 9, 4}));
}

TEST(Evaluate, LiveIntermediatesAreKept) {
  const Array x = array_of<double>({2}, {1, 2});
  const Array middle = apply(Op::kAdd, {x, number(1)});
  const Array last = apply(Op::kMultiply, {middle, middle});
  evaluate({&last, 1});
  EXPECT_TRUE(middle.storage()->node()->is_leaf());
}

TEST(Evaluate, NegativePowerNamesTheElementAndChangesNothing) {
  const Array base = array_of<int64_t>({3}, {2, 3, 4});
  const Array exponent = array_of<int64_t>({3}, {1, -1, 2});
  const Array power = apply(Op::kPow, {base, exponent});
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      evaluate({&power, 1});
      FAIL() << "no error";
    } catch (const ValueError& error) {
      EXPECT_NE(std::string(error.what()).find("index 1"), std::string::npos) << error.what();
    }
    EXPECT_FALSE(power.storage()->node()->is_leaf());
  }
  EXPECT_THROW(apply(Op::kPow, {base, integer(-1)}), ValueError);
}

constexpr size_t kSmallStack = size_t{256} << 10;

TEST(Evaluate, LongChainOnASmallStack) {
  test::run_with_stack(kSmallStack, [] {
    Array x = array_of<double>({3}, {0, 1, 2});
    for (int i = 0; i < 50'000; ++i) x = apply(Op::kAdd, {x, number(1)});
    EXPECT_EQ(values_of<double>(x), (Doubles{50'000, 50'001, 50'002}));
  });
}

TEST(Evaluate, BalancedTreeOnASmallStack) {
  test::run_with_stack(kSmallStack, [] {
    std::vector<Array> level;
    for (int i = 0; i < 1 << 16; ++i) level.push_back(array_of<double>({1}, {1.0}));
    while (level.size() > 1) {
      std::vector<Array> next;
      for (size_t i = 0; i < level.size(); i += 2) {
        next.push_back(apply(Op::kAdd, {level[i], level[i + 1]}));
      }
      level = std::move(next);
    }
    EXPECT_EQ(values_of<double>(level[0]), (Doubles{65'536}));
  });
}

TEST(Evaluate, LengthsAndNumbersDoNotRecompile) {
  const auto run = [](int64_t n, double c, double d) {
    const Array x = array_of<float>({n, 2}, std::vector<float>(static_cast<size_t>(2 * n), 3));
    const Array column = at(x, {Ellipsis{}, int64_t{0}});
    const Array y = apply(
        Op::kAdd, {apply(Op::kMultiply, {number(c), apply(Op::kSquare, {column})}), number(d)});
    evaluate({&y, 1});
  };
  run(1000, 1.5, 2.5);
  run(1, 1.5, 2.5);
  const auto before = jit::cache_statistics().compilations;
  for (int i = 0; i < 50; ++i) run(2 + i * 37, 1.25 + i, 3.75 - i);
  EXPECT_EQ(jit::cache_statistics().compilations, before);
}

TEST(Reshape, ViewsWhereNumPyWouldGiveViews) {
  const Array x = array_of<int64_t>({4, 6}, Ints(24, 0));
  EXPECT_TRUE(x.reshape({2, 12}, false));
  EXPECT_TRUE(at(x, {Slice{{}, {}, 2}}).reshape({2, 2, 3}, false));
  EXPECT_FALSE(x.permute(std::array{1, 0}).reshape({24}, false));
  EXPECT_FALSE(at(x, {Ellipsis{}, Slice{1, {}, {}}}).reshape({20}, false));
  EXPECT_THROW(x.reshape({5, 5}), ShapeError);
  EXPECT_EQ(x.reshape({-1, 8})->shape(), Shape({3, 8}));
}

TEST(Comparison, SignedAndUnsignedAreExact) {
  const Array a = array_of<int64_t>({3}, {-1, INT64_MAX, 5});
  const Array b = array_of<uint64_t>({3}, {UINT64_MAX, uint64_t{1} << 63, 5});
  EXPECT_EQ(values_of<bool>(apply(Op::kLess, {a, b})), (std::vector<bool>{true, true, false}));
  EXPECT_EQ(values_of<bool>(apply(Op::kEqual, {b, a})), (std::vector<bool>{false, false, true}));
  EXPECT_EQ(values_of<bool>(apply(Op::kGreater, {b, a})), (std::vector<bool>{true, true, false}));
}

}  // namespace
}  // namespace lanewise::frontend
