// Fusion of random graphs against the graphs themselves.
#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/passes/passes.h"
#include "tests/support/program_check.h"
#include "tests/support/random_graph.h"

namespace lanewise::ir {
namespace {

// Graphs like those people write: values of one shape, reduced, spread again, shifted, transposed,
// reshaped, partly overwritten, with few dead ends.
class Pipelines {
 public:
  explicit Pipelines(test::Random& random) : random_(random), builder_(graph_) {}

  Graph make() {
    const int rank = static_cast<int>(test::uniform(random_, 1, 3));
    std::vector<Dim> sizes{test::chance(random_, 50) ? 18 : 3};
    while (static_cast<int>(sizes.size()) < rank) sizes.push_back(test::uniform(random_, 1, 4));
    shape_ = Shape(sizes);
    strides_ = row_major_strides(shape_);
    for (int i = 0; i < 2; ++i) {
      values_.push_back(
          builder_.input("x" + std::to_string(i), DType::kF32, shape_, test::chance(random_, 70)));
    }
    const int64_t count = test::uniform(random_, 3, 25);
    for (int i = 0; i < count; ++i) values_.push_back(next());
    for (size_t i = values_.size() - 1; i > 1 && graph_.outputs.size() < 3; i -= 2) {
      graph_.outputs.push_back(values_[i]);
    }
    return std::move(graph_);
  }

 private:
  Value pick() { return values_[values_.size() - 1 - recent()]; }
  size_t recent() {
    const auto last = static_cast<int64_t>(values_.size()) - 1;
    return static_cast<size_t>(test::uniform(random_, 0, std::min<int64_t>(last, 4)));
  }

  Value next() {
    switch (test::uniform(random_, 0, 8)) {
      case 0:
      case 1:
        return statistic();
      case 2:
        return shifted();
      case 3:
        return reordered();
      case 4:
        return test::chance(random_, 50) ? updated() : statistic();
      case 5: {
        const Value scalar = builder_.scalar(DType::kF32, shape_);
        return builder_.apply(Op::kMultiply, {pick(), scalar});
      }
      case 6: {
        const int64_t axis = test::uniform(random_, 0, shape_.rank() - 1);
        const bool sum = test::chance(random_, 50);
        return builder_.scan(sum ? Op::kCumulativeSum : Op::kCumulativeProd, pick(),
                             static_cast<int>(axis));
      }
      case 7:
        return builder_.apply(Op::kDivide, {pick(), pick()});
      default:
        return builder_.apply(test::chance(random_, 50) ? Op::kSubtract : Op::kAdd,
                              {pick(), pick()});
    }
  }

  // Reduced, worked on, spread again: the mean of rows, say.
  Value statistic() {
    std::vector<int> axes;
    for (int axis = 0; axis < shape_.rank(); ++axis) {
      if (test::chance(random_, axis + 1 == shape_.rank() ? 80 : 30)) axes.push_back(axis);
    }
    std::vector<Op> ops = {Op::kSum, Op::kMax, Op::kMin, Op::kProd, Op::kArgMax};
    Value value = builder_.reduce(test::pick(random_, ops), pick(), axes);
    value = builder_.cast(value, DType::kF32);
    if (test::chance(random_, 50)) value = builder_.apply(Op::kAdd, {value, value});
    const std::vector<Dim> rows = row_major_strides(builder_[value].shape);
    std::vector<Dim> strides;
    for (int axis = 0, kept = 0; axis < shape_.rank(); ++axis) {
      const bool reduced = std::ranges::find(axes, axis) != axes.end();
      strides.push_back(reduced ? Dim(0) : rows[static_cast<size_t>(kept++)]);
    }
    const Value spread = builder_.window(value, shape_, Window{0, strides});
    return test::chance(random_, 70) ? builder_.apply(Op::kSubtract, {pick(), spread}) : spread;
  }

  // v[1:] - v[:-1] written over v[1:].
  Value shifted() {
    const Value value = pick();
    std::vector<Dim> sizes(shape_.begin(), shape_.end());
    sizes[0] = sizes[0] - Dim(1);
    const Shape part(sizes);
    const Value low = builder_.window(value, part, Window{0, strides_});
    const Value high = builder_.window(value, part, Window{strides_[0], strides_});
    const Value difference = builder_.apply(Op::kSubtract, {high, low});
    return builder_.update(test::chance(random_, 50) ? value : pick(), difference,
                           Window{strides_[0], strides_});
  }

  // Flipped, or through another shape.
  Value reordered() {
    const Value value = pick();
    if (test::chance(random_, 50)) {
      std::vector<Dim> strides = strides_;
      strides[0] = Dim(0) - strides[0];
      return builder_.window(value, shape_,
                             Window{strides_[0] * (shape_[0] - Dim(1)), std::move(strides)});
    }
    std::vector<Dim> sizes(shape_.begin(), shape_.end());
    std::ranges::reverse(sizes);
    std::vector<Dim> strides = strides_;
    std::ranges::reverse(strides);
    const Value transposed = builder_.window(value, Shape(sizes), Window{0, strides});
    const Value work = builder_.apply(Op::kMultiply, {transposed, transposed});
    if (test::chance(random_, 50)) {
      return builder_.window(work, shape_, Window{0, strides_});  // a reshape
    }
    std::vector<Dim> back = row_major_strides(Shape(sizes));
    std::ranges::reverse(back);
    return builder_.window(work, shape_, Window{0, back});
  }

  Value updated() {
    const Value number = builder_.constant(Scalar::of(1.5F), Shape{shape_[0]});
    return builder_.update(pick(), number, Window{0, {strides_[0]}});
  }

  test::Random& random_;
  Graph graph_;
  Builder builder_;
  Shape shape_;
  std::vector<Dim> strides_;
  std::vector<Value> values_;
};

TEST(FuseRandom, SameBitsOfPipelines) {
  const FuseLimits limits[] = {
      {},
      {.launch_work = 0},
      {.store_work = 0, .launch_work = 0},
      {.primitives = 5, .operands = 5, .launch_work = 0},
      {.long_row = 2},
  };
  for (int seed = 0; seed < 2000 && !::testing::Test::HasFailure(); ++seed) {
    test::Random random(seed);
    const Graph graph = Pipelines(random).make();
    FuseOptions options{.limits = limits[seed % 5]};
    if (seed % 7 == 0) options.strided_outputs = {true};
    test::fuse_and_check(graph, {}, options);
    if (::testing::Test::HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
}

void check_many(int count, const test::RandomGraphOptions& graphs, const FuseOptions& options) {
  for (int seed = 0; seed < count && !::testing::Test::HasFailure(); ++seed) {
    test::Random random(seed);
    Graph graph = test::random_graph(random, graphs);
    expand(graph);
    test::fuse_and_check(graph, {}, options);
    if (::testing::Test::HasFailure()) ADD_FAILURE() << "seed " << seed;
  }
}

TEST(FuseRandom, SameBits) { check_many(1000, {}, {}); }

TEST(FuseRandom, SameBitsOfScansAndPositions) {
  const test::RandomGraphOptions graphs{.composites = false, .positions = true, .scans = true};
  check_many(500, graphs, {});
  check_many(500, graphs, {.limits = {.primitives = 3, .operands = 5, .launch_work = 0}});
}

TEST(FuseRandom, SameBitsWhereStoringIsCheap) {
  check_many(1000, {}, {.limits = {.store_work = 0, .launch_work = 0}});
}

TEST(FuseRandom, SameBitsInSmallPieces) {
  check_many(500, {}, {.limits = {.primitives = 7, .operands = 5, .launch_work = 0}});
  check_many(500, {}, {.limits = {.primitives = 1, .operands = 3}});
}

TEST(FuseRandom, SameBitsWithLongRows) {
  check_many(500, {}, {.limits = {.long_row = 2, .launch_work = 0}});
}

TEST(FuseRandom, SameBitsOfStridedOutputs) {
  check_many(500, {}, {.strided_outputs = {true, false, true}});
}

TEST(FuseRandom, SameFailures) {
  check_many(1000, {.checks = true}, {.limits = {.launch_work = 0}});
}

}  // namespace
}  // namespace lanewise::ir
