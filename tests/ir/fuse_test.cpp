#include "ir/passes/fuse.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/text.h"
#include "tests/support/program_check.h"

namespace lanewise::ir {
namespace {

using test::count_codes;
using test::count_kernels;
using test::fuse_and_check;

// Fuses, compares with the graph on random values, and returns the program's text.
std::string fused(const std::string& graph, const SymbolValues& symbols = {}) {
  return print(fuse_and_check(parse_graph(graph), symbols));
}

TEST(Fuse, ColumnsOfOneArray) {
  EXPECT_EQ(fused(R"(func @f(%X: f32[n,2]) -> f32[n] {
  %0 = window %X {offset = 0, strides = [2]} : f32[n]
  %1 = multiply %0, %0 : f32[n]
  %2 = window %X {offset = 1, strides = [2]} : f32[n]
  %3 = multiply %2, %2 : f32[n]
  %4 = multiply %3, %2 : f32[n]
  %5 = add %1, %4 : f32[n]
  return %5
})",
                  {{"n", 7}}),
            R"(program @f(%X: f32[n,2]) -> f32[n] {
  %out0 = output 0 : f32[n]
  kernel @k0 (i0 < n) {
    %0 = load %X[i0, 0] : f32
    %1 = multiply %0, %0 : f32
    %2 = load %X[i0, 1] : f32
    %3 = multiply %2, %2 : f32
    %4 = multiply %3, %2 : f32
    %5 = add %1, %4 : f32
    store %out0[i0], %5
  }
  return %out0
}
)");
}

}  // namespace
}  // namespace lanewise::ir
