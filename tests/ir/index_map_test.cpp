#include "ir/index_map.h"

#include <gtest/gtest.h>

#include "tests/support/random_values.h"

namespace lanewise::ir {
namespace {

const Dim kN = Dim::symbol("n");
const Dim kM = Dim::symbol("m");

Loops loops_of(std::initializer_list<Dim> sizes) {
  Loops loops;
  for (const Dim& size : sizes) loops.append(size);
  return loops;
}

AxisIndex index(Dim offset, std::vector<AxisIndex::Term> terms) {
  return {std::move(offset), std::move(terms)};
}

using Axes = std::vector<AxisIndex>;

TEST(Decompose, RowMajorWalk) {
  const auto axes = decompose(index(0, {{0, 4}, {1, 1}}), Shape{3, 4}, loops_of({3, 4}));
  EXPECT_EQ(axes, (Axes{index(0, {{0, 1}}), index(0, {{1, 1}})}));
}

TEST(Decompose, FlippedBothWays) {
  const auto axes = decompose(index(11, {{0, -4}, {1, -1}}), Shape{3, 4}, loops_of({3, 4}));
  EXPECT_EQ(axes, (Axes{index(2, {{0, -1}}), index(3, {{1, -1}})}));
}

TEST(Decompose, DiagonalAndItsMirror) {
  EXPECT_EQ(decompose(index(0, {{0, 5}}), Shape{4, 4}, loops_of({4})),
            (Axes{index(0, {{0, 1}}), index(0, {{0, 1}})}));
  EXPECT_EQ(decompose(index(3, {{0, 3}}), Shape{4, 4}, loops_of({4})),
            (Axes{index(0, {{0, 1}}), index(3, {{0, -1}})}));
}

TEST(Decompose, WalkOverTheEndOfARowHasNoAxes) {
  EXPECT_EQ(decompose(index(0, {{0, 1}}), Shape{3, 4}, loops_of({5})), std::nullopt);
  EXPECT_EQ(decompose(index(2, {{0, 1}}), Shape{3, 4}, loops_of({3})), std::nullopt);
  EXPECT_NE(decompose(index(1, {{0, 1}}), Shape{3, 4}, loops_of({3})), std::nullopt);
}

TEST(Decompose, SeveralLoopsInOneAxis) {
  EXPECT_EQ(decompose(index(0, {{0, 12}, {1, 4}, {2, 1}}), Shape{2, 12}, loops_of({2, 3, 4})),
            (Axes{index(0, {{0, 1}}), index(0, {{1, 4}, {2, 1}})}));
}

TEST(Decompose, Symbols) {
  EXPECT_EQ(decompose(index(0, {{0, 1}, {1, kM}}), Shape{kN, kM}, loops_of({kM, kN})),
            (Axes{index(0, {{1, 1}}), index(0, {{0, 1}})}));
  EXPECT_EQ(decompose(index(kN * kM - Dim(1), {{0, Dim(0) - kM}, {1, -1}}), Shape{kN, kM},
                      loops_of({kN, kM})),
            (Axes{index(kN - Dim(1), {{0, -1}}), index(kM - Dim(1), {{1, -1}})}));
  // All but the first and the last column.
  EXPECT_EQ(decompose(index(1, {{0, kM}, {1, 1}}), Shape{kN, kM}, loops_of({kN, kM - Dim(2)})),
            (Axes{index(0, {{0, 1}}), index(1, {{1, 1}})}));
  EXPECT_EQ(decompose(index(0, {{0, kN + Dim(1)}}), Shape{kN, kN}, loops_of({kN})),
            (Axes{index(0, {{0, 1}}), index(0, {{0, 1}})}));
  // Rows of 2 are not axes of rows of 4.
  EXPECT_EQ(decompose(index(0, {{0, 2}, {1, 1}}), Shape{kN, 4}, loops_of({kN * Dim(2), 2})),
            std::nullopt);
  EXPECT_EQ(decompose(index(0, {{0, 1}}), Shape{kN, kM}, loops_of({kN * kM})), std::nullopt);
}

// Against counting: whenever there are axes they give the index, and none are missed.
TEST(Decompose, RandomConstants) {
  test::Random random(1);
  int found = 0;
  for (int i = 0; i < 20000; ++i) {
    const Shape shape{test::uniform(random, 1, 4), test::uniform(random, 1, 4),
                      test::uniform(random, 1, 4)};
    const int64_t count = shape.element_count().value();
    const int64_t sizes[] = {test::uniform(random, 1, 4), test::uniform(random, 1, 3)};
    const int64_t steps[] = {test::uniform(random, -8, 8), test::uniform(random, -8, 8)};
    const int64_t offset = test::uniform(random, 0, count - 1);
    AxisIndex flat{offset, {}};
    bool inside = true;
    int64_t lowest = offset, highest = offset;
    for (int loop = 0; loop < 2; ++loop) {
      if (steps[loop] != 0 && sizes[loop] > 1) flat.terms.push_back({loop, steps[loop]});
      (steps[loop] < 0 ? lowest : highest) += steps[loop] * (sizes[loop] - 1);
    }
    inside = lowest >= 0 && highest < count;
    if (!inside) continue;
    const auto digit = [&](int64_t number, int axis) {
      for (int inner = axis + 1; inner < 3; ++inner) number /= shape[inner].value();
      return number % shape[axis].value();
    };
    // Affine in each axis if every point is what its neighbours along each loop say.
    bool affine = true;
    const auto at = [&](int64_t a, int64_t b) { return offset + a * steps[0] + b * steps[1]; };
    for (int64_t a = 0; a < sizes[0]; ++a) {
      for (int64_t b = 0; b < sizes[1]; ++b) {
        for (int axis = 0; axis < 3; ++axis) {
          const int64_t origin = digit(at(0, 0), axis);
          const int64_t da = sizes[0] > 1 ? digit(at(1, 0), axis) - origin : 0;
          const int64_t db = sizes[1] > 1 ? digit(at(0, 1), axis) - origin : 0;
          affine &= digit(at(a, b), axis) == origin + a * da + b * db;
        }
      }
    }
    const auto axes = decompose(flat, shape, loops_of({sizes[0], sizes[1]}));
    ASSERT_EQ(axes.has_value(), affine) << i;
    if (!axes) continue;
    ++found;
    EXPECT_EQ(flatten({shape, *axes}), flat);
  }
  EXPECT_GT(found, 1000);
}

TEST(SeeAs, SplitsALoopAtTheEndOfARow) {
  Loops loops = loops_of({24});
  const auto map = see_as({Shape{24}, {index(0, {{0, 1}})}}, Shape{2, 3, 4}, loops);
  ASSERT_TRUE(map);
  ASSERT_EQ(loops.order().size(), 3u);
  EXPECT_EQ(loops.size(loops.order()[0]), Dim(2));
  EXPECT_EQ(loops.size(loops.order()[1]), Dim(3));
  EXPECT_EQ(loops.size(loops.order()[2]), Dim(4));
  for (int axis = 0; axis < 3; ++axis) {
    EXPECT_EQ(map->axes[static_cast<size_t>(axis)],
              index(0, {{loops.order()[static_cast<size_t>(axis)], 1}}));
  }
}

TEST(SeeAs, SplitsSymbols) {
  Loops loops = loops_of({kN * kM});
  ASSERT_TRUE(see_as({Shape{kN * kM}, {index(0, {{0, 1}})}}, Shape{kN, kM}, loops));
  EXPECT_EQ(loops.size(loops.order()[0]), kN);
  EXPECT_EQ(loops.size(loops.order()[1]), kM);
}

TEST(SeeAs, LeavesLoopsAloneWhereItFails) {
  Loops loops = loops_of({6});
  EXPECT_FALSE(see_as({Shape{6}, {index(0, {{0, 1}})}}, Shape{2, 4}, loops));
  EXPECT_FALSE(see_as({Shape{12}, {index(1, {{0, 1}})}}, Shape{3, 4}, loops));
  EXPECT_FALSE(loops.any_split());
}

TEST(CoveringLoops, PermutationsAndReshapes) {
  const Loops loops = loops_of({2, 3, 4});
  const auto covering = [&](const Shape& shape, const AxisIndex& flat) {
    return covering_loops({Shape{shape.element_count()}, {flat}}, loops);
  };
  EXPECT_EQ(covering(Shape{24}, index(0, {{0, 12}, {1, 4}, {2, 1}})), (std::vector{0, 1, 2}));
  EXPECT_EQ(covering(Shape{24}, index(0, {{0, 1}, {1, 2}, {2, 6}})), (std::vector{2, 1, 0}));
  EXPECT_EQ(covering(Shape{4}, index(0, {{2, 1}})), (std::vector{2}));
  EXPECT_EQ(covering(Shape{1}, index(0, {})), std::vector<int>{});
  EXPECT_EQ(covering(Shape{5}, index(0, {{2, 1}})), std::nullopt);  // not all
  EXPECT_EQ(covering(Shape{24}, index(1, {{0, 12}, {1, 4}, {2, 1}})), std::nullopt);
  EXPECT_EQ(covering(Shape{24}, index(0, {{0, 12}, {1, 4}})), std::nullopt);
}

TEST(Divide, PolynomialsLeaveWhatDoesNotDivide) {
  EXPECT_EQ(divide(Dim(-1), Dim(4)), std::pair(Dim(-1), Dim(3)));
  EXPECT_EQ(divide(kN * kM - Dim(1), kM), std::pair(kN, Dim(-1)));
  EXPECT_EQ(divide(kN * Dim(4) + Dim(5), Dim(4)), std::pair(kN + Dim(1), Dim(1)));
  EXPECT_EQ(divide(kN * Dim(3), Dim(2)), std::pair(Dim(0), kN * Dim(3)));
  EXPECT_EQ(divide(kM, kN), std::pair(Dim(0), kM));
}

}  // namespace
}  // namespace lanewise::ir
