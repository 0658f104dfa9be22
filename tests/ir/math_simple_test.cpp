#include "tests/support/accuracy.h"

namespace lanewise::ir {
namespace {

using namespace lanewise::test;

template <class T>
class Simple : public testing::Test {
 public:
  static constexpr T kInf = std::numeric_limits<T>::infinity();
  static constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  static constexpr T kTiny = std::numeric_limits<T>::denorm_min();
  static constexpr T kMax = std::numeric_limits<T>::max();
};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(Simple, Floats);

// As bool, so that results compare with initializer lists.
template <class T>
std::vector<int> flags(Op op, const std::vector<T>& x) {
  const auto y = apply_op<bool>(op, std::vector<T>(x));
  return {y.begin(), y.end()};
}

TYPED_TEST(Simple, Sign) {
  using T = TypeParam;
  expect_values<T>(Op::kSign,
                   {0, -T{0}, TestFixture::kTiny, -TestFixture::kTiny, TestFixture::kInf,
                    -TestFixture::kInf, TestFixture::kNan},
                   {0, 0, 1, -1, 1, -1, TestFixture::kNan});
}

TYPED_TEST(Simple, Copysign) {
  using T = TypeParam;
  const T inf = TestFixture::kInf;
  expect_values<T>(Op::kCopysign, {1, 1, -1, 0, -inf, 2}, {2, -T{0}, 0, -3, 1, -inf},
                   {1, -1, 1, -T{0}, inf, -2});
}

TYPED_TEST(Simple, Nextafter) {
  using T = TypeParam;
  std::vector<T> from, to;
  const std::vector<T> numbers{0,
                               -T{0},
                               1,
                               -1,
                               2,
                               -2,
                               T(.1),
                               TestFixture::kTiny,
                               -TestFixture::kTiny,
                               std::numeric_limits<T>::min(),
                               TestFixture::kMax,
                               -TestFixture::kMax,
                               TestFixture::kInf,
                               -TestFixture::kInf,
                               TestFixture::kNan};
  for (const T a : numbers) {
    for (const T b : numbers) from.push_back(a), to.push_back(b);
  }
  std::vector<T> expected;
  for (size_t i = 0; i < from.size(); ++i) expected.push_back(std::nextafter(from[i], to[i]));
  expect_values<T>(Op::kNextafter, from, to, expected);
}

TYPED_TEST(Simple, Classes) {
  using T = TypeParam;
  const std::vector<T> x{0,
                         -T{0},
                         TestFixture::kTiny,
                         -1,
                         TestFixture::kMax,
                         TestFixture::kInf,
                         -TestFixture::kInf,
                         TestFixture::kNan};
  EXPECT_EQ(flags(Op::kIsNan, x), (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(flags(Op::kIsInf, x), (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(flags(Op::kIsFinite, x), (std::vector<int>{1, 1, 1, 1, 1, 0, 0, 0}));
  const std::vector<T> signs{0, -T{0}, 1, -1, TestFixture::kInf, -TestFixture::kInf};
  EXPECT_EQ(flags(Op::kSignbit, signs), (std::vector<int>{0, 1, 0, 1, 0, 1}));
}

TEST(SimpleIntegers, SignAndClasses) {
  EXPECT_EQ(apply_op<int8_t>(Op::kSign, std::vector<int8_t>{-128, -1, 0, 1, 127}),
            (std::vector<int8_t>{-1, -1, 0, 1, 1}));
  EXPECT_EQ(apply_op<uint64_t>(Op::kSign, std::vector<uint64_t>{0, 1, UINT64_MAX}),
            (std::vector<uint64_t>{0, 1, 1}));
  const std::vector<int32_t> x{INT32_MIN, 0, 7};
  EXPECT_EQ(flags(Op::kIsNan, x), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(flags(Op::kIsInf, x), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(flags(Op::kIsFinite, x), (std::vector<int>{1, 1, 1}));
}

TEST(SimpleLogical, TruthTables) {
  const Tensor a = Tensor::of<bool>({4}, {false, false, true, true});
  const Tensor b = Tensor::of<bool>({4}, {false, true, false, true});
  const auto table = [&](Op op) {
    Graph graph;
    Builder builder(graph);
    const Value x = builder.input("a", DType::kBool, {4});
    const Value y = builder.input("b", DType::kBool, {4});
    graph.outputs = {spec(op).arity == 1 ? builder.apply(op, {y}) : builder.apply(op, {x, y})};
    const Tensor result = interpret(graph, std::vector{a, b}).at(0);
    return std::vector<int>(result.values<bool>().begin(), result.values<bool>().end());
  };
  EXPECT_EQ(table(Op::kLogicalAnd), (std::vector<int>{0, 0, 0, 1}));
  EXPECT_EQ(table(Op::kLogicalOr), (std::vector<int>{0, 1, 1, 1}));
  EXPECT_EQ(table(Op::kLogicalXor), (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(table(Op::kLogicalNot), (std::vector<int>{1, 0, 1, 0}));
}

}  // namespace
}  // namespace lanewise::ir
