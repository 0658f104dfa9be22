#include "ir/passes/schedule.h"

#include <gtest/gtest.h>

#include "ir/passes/fuse.h"
#include "ir/text.h"
#include "tests/support/program_check.h"

namespace lanewise::ir {
namespace {

// Two kernels over the same rows, with a column sum between that keeps them apart.
constexpr const char* kRows = R"(
program @f(%x: f32[40,8], %y: f32[8,40]) -> f32[40,8] {
  %out0 = output 0 : f32[40,8]
  %t = temporary : f32[40]
  kernel @k0 (i0 < 40) reduce (i1 < 8) {
    %0 = load %x[i0, i1] : f32
    %1 = sum %0 : f32
    store %t[i0], %1
  }
  kernel @k1 (i0 < 40, i1 < 8) {
    %0 = load %x[i0, i1] : f32
    %1 = load %t[i0] : f32
    %2 = divide %0, %1 : f32
    %3 = load %y[i1, i0] : f32
    %4 = add %2, %3 : f32
    store %out0[i0, i1], %4
  }
  return %out0
})";

TEST(Schedule, RowsThatCrossAreBlocks) {
  Program program = parse_program(kRows);
  schedule(program);
  ASSERT_EQ(program.steps.size(), 1u);
  EXPECT_TRUE(program.steps[0].blocked);
  EXPECT_EQ(program.buffers[3].kind, Buffer::Kind::kBlock);
}

TEST(Schedule, FewRowsStayApart) {
  std::string text = kRows;
  for (size_t at; (at = text.find("40")) != std::string::npos;) text.replace(at, 2, "4");
  Program program = parse_program(text);
  schedule(program);
  EXPECT_EQ(program.steps.size(), 2u);
}

TEST(Schedule, ShiftedRowsStayApart) {
  std::string text = kRows;
  text.replace(text.find("load %t[i0]"), 11, "load %t[-i0 + 39]");
  Program program = parse_program(text);
  schedule(program);
  EXPECT_EQ(program.steps.size(), 2u);
}

constexpr const char* kUpdate = R"(
program @f(%x: f32[8], %y: f32[2]) -> (f32[8], f32[8]) {
  %t = temporary : f32[8]
  %out0 = output 0 : f32[8] starts as %t
  %out1 = output 1 : f32[8]
  kernel @k0 (i0 < 8) {
    %0 = load %x[i0] : f32
    %1 = negative %0 : f32
    store %t[i0], %1
  }
  kernel @k1 (i0 < 2) {
    %0 = load %y[i0] : f32
    store %out0[i0 + 1], %0
  }
  kernel @k2 (i0 < 8) {
    %0 = load %t[-i0 + 7] : f32
    store %out1[i0], %0
  }
  return %out0, %out1
})";

TEST(Schedule, ReadsComeBeforeTheUpdate) {
  Program program = parse_program(kUpdate);
  EXPECT_FALSE(can_start_in_place(program, 3));
  schedule(program);
  EXPECT_EQ(program.steps[1].kernels[0].name, "k2");
  EXPECT_EQ(program.steps[2].kernels[0].name, "k1");
  EXPECT_TRUE(can_start_in_place(program, 3));
}

TEST(Schedule, UpdatesThatReadOtherElementsAreNotInPlace) {
  const auto in_place = [](const std::string& load) {
    return can_start_in_place(parse_program(R"(
program @f(%x: f32[8]) -> f32[8] {
  %out0 = output 0 : f32[8] starts as %x
  kernel @k0 (i0 < 4) {
    %0 = load )" + load + R"( : f32
    %1 = negative %0 : f32
    store %out0[i0 + 2], %1
  }
  return %out0
})"),
                              1);
  };
  EXPECT_TRUE(in_place("%x[i0 + 2]"));
  EXPECT_FALSE(in_place("%x[i0 + 1]"));
  EXPECT_FALSE(in_place("%x[-i0 + 5]"));
}

TEST(Schedule, ResultsKeepTheirMemory) {
  const Program program = parse_program(R"(
program @f(%x: f32[8]) -> (f32[8], f32[8]) {
  %out1 = output 1 : f32[8] starts as %x
  kernel @k0 (i0 < 4) {
    %0 = constant 1.0 : f32
    store %out1[i0], %0
  }
  return %x, %out1
})");
  EXPECT_FALSE(can_start_in_place(program, 1));
}

TEST(Lifetimes, FromTheFirstStoreToTheLastNeed) {
  const std::vector<Lifetime> lives = lifetimes(parse_program(kUpdate));
  const auto expect = [&](size_t buffer, int first, int last) {
    EXPECT_EQ(lives[buffer].first.step, first) << buffer;
    EXPECT_EQ(lives[buffer].last.step, last) << buffer;
  };
  expect(0, 0, 0);
  expect(1, 1, 1);
  expect(2, 0, 2);
  expect(3, 1, 1);
  expect(4, 2, 2);
}

TEST(Lifetimes, BlockedStepsCountAsAWhole) {
  Program program = parse_program(kRows);
  schedule(program);
  const std::vector<Lifetime> lives = lifetimes(program);
  EXPECT_EQ(lives[0].last, (Moment{0, 1}));   // an argument that the last kernel reads
  EXPECT_EQ(lives[2].first, (Moment{0, 0}));  // the result of the last kernel
  EXPECT_EQ(lives[3].first, (Moment{0, 0}));
  EXPECT_EQ(lives[3].last, (Moment{0, 1}));
}

}  // namespace
}  // namespace lanewise::ir
