// Fusion of random graphs against the graphs themselves.
#include <gtest/gtest.h>

#include "ir/passes/passes.h"
#include "tests/support/program_check.h"
#include "tests/support/random_graph.h"

namespace lanewise::ir {
namespace {

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
