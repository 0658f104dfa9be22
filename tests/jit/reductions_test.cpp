// Reductions over rows of any length and layout, alone, several at once, and with point values
// before and after.
#include <gtest/gtest.h>

#include <cmath>

#include "kernel_case.h"
#include "support/format.h"

namespace lanewise::jit::test {
namespace {

using ir::Expr;
using ir::Op;

constexpr Op kReductions[] = {Op::kSum, Op::kProd,       Op::kMin,    Op::kMax,   Op::kAny,
                              Op::kAll, Op::kDeviations, Op::kArgMin, Op::kArgMax};
constexpr Op kScans[] = {Op::kCumulativeSum, Op::kCumulativeProd};

Expr reduce(KernelCase& k, Op op, const Expr& x) {
  const bool finds = op == Op::kArgMin || op == Op::kArgMax;
  const DType dtype = finds ? DType::kI64 : x.dtype();
  return k.expr(
      k.kernel_body().append({.op = op, .dtype = dtype, .shape = {}, .operands = {x.value()}}));
}

Expr scan(KernelCase& k, Op op, const Expr& x) { return reduce(k, op, x); }

void check(KernelCase& k, const std::string& what, int seeds = 2) {
  for (const Target target : targets()) {
    for (int seed = 1; seed <= seeds; ++seed) {
      ASSERT_EQ(k.run(target, static_cast<uint64_t>(seed)), "") << what;
    }
  }
}

TEST(Reductions, EveryOpAndDType) {
  for (const Op op : kReductions) {
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!ir::contains(ir::spec(op).accepts, dtype)) continue;
      for (const int64_t n : {1, 2, 7, 16, 31, 64, 65, 100, 1000, 1024, 1025, 3000}) {
        KernelCase k({2, n}, 1);
        k.store(reduce(k, op, k.load(dtype, {n, 1})), {1, 0});
        check(k, format("{} of {} {}", op, n, to_string(dtype)));
      }
    }
  }
}

TEST(Reductions, EveryLength) {
  for (int64_t n = 1; n <= 200; ++n) {
    KernelCase k({n}, 1);
    const Expr x = k.load(DType::kF32, {1});
    k.store(reduce(k, Op::kSum, x), {0});
    k.store(reduce(k, Op::kSum, x.cast(DType::kF64)), {0});
    k.store(reduce(k, Op::kMax, x), {0});
    check(k, format("{}", n), 1);
  }
}

TEST(Reductions, LongRows) {
  for (const int64_t n : {1023, 1024, 1040, 2048, 2049, 7 * 1024 + 3, 16 * 1024, 33 * 1024 - 1}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      KernelCase k({n}, 1);
      const Expr x = k.load(dtype, {1});
      k.store(reduce(k, Op::kSum, x * x), {0});
      check(k, format("{} {}", n, to_string(dtype)), 1);
    }
  }
}

TEST(Reductions, Layouts) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kI16, DType::kU8}) {
    for (const int64_t stride : {1, 2, 3, 4, -1, 0, 5, -3}) {
      for (const int64_t n : {1, 5, 16, 63, 64, 129, 1300}) {
        KernelCase k({3, n}, 1);
        const Expr x = k.load(dtype, {7, stride});
        k.store(reduce(k, Op::kSum, x + x), {1, 0});
        k.store(reduce(k, Op::kMin, x), {2, 0});
        k.store(reduce(k, Op::kArgMax, x), {1, 0});
        check(k, format("{} stride {} length {}", to_string(dtype), stride, n));
      }
    }
  }
}

TEST(Reductions, SeveralReducedLoops) {
  for (const int64_t n : {1, 5, 16, 50, 300}) {
    KernelCase k({2, 5, 3, n}, 3);
    const Expr x = k.load(DType::kF32, {100000, 5 * n, 20 * n, 1});
    const Expr line = k.load(DType::kF32, {0, 7, 2, 0});
    const Expr row = k.load(DType::kF32, {1, 0, 0, 0});
    k.store(reduce(k, Op::kSum, x * line + row), {1, 0, 0, 0});
    k.store(reduce(k, Op::kSum, line), {1, 0, 0, 0});
    k.store(reduce(k, Op::kMax, x), {1, 0, 0, 0});
    k.store(reduce(k, Op::kDeviations, x), {1, 0, 0, 0});
    k.store(reduce(k, Op::kArgMin, x), {1, 0, 0, 0});
    k.store(scan(k, Op::kCumulativeSum, x), {15 * n, 3 * n, n, 1});
    check(k, format("{}", n));
  }
}

TEST(Reductions, MomentsOfFarValues) {
  for (const int64_t n : {2, 40, 65, 1500, 5000}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      KernelCase k({2, n}, 1);
      const Expr x = k.load(dtype, {n, 1});
      const Expr small = ir::select(abs(x) < 1, x, x.like(0.5));
      k.store(reduce(k, Op::kDeviations, small + 1e4), {1, 0});
      k.store(reduce(k, Op::kSum, small), {1, 0});
      check(k, format("{} {}", n, to_string(dtype)));
    }
  }
}

TEST(Reductions, PositionsAmongEqualElements) {
  for (const int64_t n : {1, 17, 64, 200}) {
    for (const DType dtype : {DType::kBool, DType::kI8, DType::kU16, DType::kF32, DType::kF64}) {
      KernelCase k({3, n}, 1);
      const Expr x = k.load(dtype, {n, 1});
      const Expr few = is_float(dtype) ? ir::select(x < 0, x.like(0), x.like(INFINITY)) : x;
      k.store(reduce(k, Op::kArgMin, few), {1, 0});
      k.store(reduce(k, Op::kArgMax, few), {1, 0});
      check(k, format("{} {}", n, to_string(dtype)));
    }
  }
}

// Results that bypass the cache, at any alignment.
TEST(Reductions, Streaming) {
  for (const int64_t n : {7, 64, 100, 1040, 3000}) {
    for (const int64_t pitch : {n, n + 3}) {
      KernelCase k({3, n}, 1);
      const Expr x = k.load(DType::kF32, {pitch, 1});
      const Expr shifted = x - reduce(k, Op::kSum, x);
      k.store(shifted, {pitch, 1});
      k.store(scan(k, Op::kCumulativeSum, x), {pitch, 1});
      k.store(shifted * reduce(k, Op::kDeviations, shifted), {pitch, 1});
      k.set_streaming(true);
      check(k, format("{} {}", n, pitch));
    }
  }
}

// ---- scans --------------------------------------------------------------------------------

TEST(Scans, EveryDTypeAndLength) {
  for (const Op op : kScans) {
    for (int d = 0; d < kDTypeCount; ++d) {
      const auto dtype = static_cast<DType>(d);
      if (!ir::contains(ir::spec(op).accepts, dtype)) continue;
      for (const int64_t n : {1, 2, 15, 16, 17, 100, 1023, 1024, 1025, 3000}) {
        KernelCase k({2, n}, 1);
        k.store(scan(k, op, k.load(dtype, {n, 1})), {n, 1});
        check(k, format("{} of {} {}", op, n, to_string(dtype)), 1);
      }
    }
  }
}

TEST(Scans, Layouts) {
  for (const int64_t stride : {2, 3, 4, -1, 0, 5, -3}) {
    for (const int64_t n : {5, 16, 33, 1300}) {
      KernelCase k({3, n}, 1);
      const Expr x = k.load(DType::kF32, {7, stride});
      k.store(scan(k, Op::kCumulativeSum, x * x), {n, 1});
      check(k, format("stride {} length {}", stride, n));
    }
  }
}

TEST(Scans, SideBySide) {
  for (const int64_t columns : {20, 64, 70}) {
    for (const int64_t n : {2, 16, 40, 1030}) {
      KernelCase k({columns, n}, 1);
      const Expr x = k.load(DType::kF64, {1, columns});
      k.store(scan(k, Op::kCumulativeSum, x), {1, columns});
      k.store(scan(k, Op::kCumulativeProd, x.cast(DType::kF32)), {1, columns});
      ASSERT_TRUE(k.layout().columns);
      check(k, format("{} {}", columns, n), 1);
    }
  }
}

TEST(Scans, BetweenReductions) {
  for (const int64_t n : {7, 50, 1100}) {
    KernelCase k({3, n}, 1);
    const Expr x = k.load(DType::kF32, {n, 1});
    const Expr shifted = x - reduce(k, Op::kMax, x);
    const Expr running = scan(k, Op::kCumulativeSum, shifted * shifted);
    k.store(running / reduce(k, Op::kSum, running), {n, 1});
    k.store(scan(k, Op::kCumulativeSum, x.like(0.1)), {n, 1});
    k.store(scan(k, Op::kCumulativeProd, running), {n, 1});
    check(k, format("{}", n));
  }
}

TEST(Reductions, Softmax) {
  for (const int64_t n : {1, 7, 16, 100, 1500}) {
    KernelCase k({3, n}, 1);
    const Expr x = k.load(DType::kF32, {n, 1});
    const Expr shifted = x - reduce(k, Op::kMax, x);
    const Expr weight = 1 / (shifted * shifted + 1);
    k.store(weight / reduce(k, Op::kSum, weight), {n, 1});
    check(k, format("{}", n));
  }
}

TEST(Reductions, LayerNorm) {
  for (const int64_t n : {1, 7, 16, 100, 1500}) {
    KernelCase k({3, n}, 1);
    const Expr x = k.load(DType::kF32, {n, 1});
    const Expr scale = k.load(DType::kF32, {0, 1});
    const Expr count = k.scalar(Scalar::of(static_cast<float>(n)));
    const Expr mean = reduce(k, Op::kSum, x) / count;
    const Expr deviation = x - mean;
    const Expr variance = reduce(k, Op::kSum, deviation * deviation) / count;
    k.store(deviation / ir::sqrt(variance + 1e-5) * scale, {n, 1});
    k.store(mean, {1, 0});
    check(k, format("{}", n));
  }
}

// Rows whose neighbours are next to each other in memory are reduced side by side.
TEST(Reductions, Columns) {
  for (const Op op : kReductions) {
    for (const DType dtype : {DType::kBool, DType::kI8, DType::kI32, DType::kF32, DType::kF64}) {
      if (!ir::contains(ir::spec(op).accepts, dtype)) continue;
      for (const int64_t columns : {9, 16, 40, 64, 100, 131}) {
        for (const int64_t n : {2, 7, 63, 64, 65, 100}) {
          KernelCase k({columns, n}, 1);
          k.store(reduce(k, op, k.load(dtype, {1, columns})), {1, 0});
          ASSERT_TRUE(k.layout().columns);
          check(k, format("{} of {} {}, {} columns", op, n, to_string(dtype), columns), 1);
        }
      }
    }
  }
}

TEST(Reductions, LongColumns) {
  for (const int64_t n : {1000, 1024, 1025, 2048, 5 * 1024 + 70}) {
    for (const DType dtype : {DType::kF32, DType::kF64}) {
      KernelCase k({2, 70, n}, 1);
      const Expr x = k.load(dtype, {70 * n, 1, 70});
      k.store(reduce(k, Op::kSum, x), {70, 1, 0});
      k.store(reduce(k, Op::kMax, x), {70, 1, 0});
      ASSERT_TRUE(k.layout().columns);
      check(k, format("{} {}", n, to_string(dtype)), 1);
    }
  }
}

TEST(Reductions, ShortRowsSideBySide) {
  for (const int64_t n : {1, 3, 4, 7}) {
    for (const int64_t rows : {17, 64, 100}) {
      KernelCase k({rows, n}, 1);
      const Expr x = k.load(DType::kF32, {n, 1});
      const Expr shifted = x - reduce(k, Op::kMax, x);
      const Expr weight = shifted * shifted + 1;
      k.store(weight / reduce(k, Op::kSum, weight), {n, 1});
      check(k, format("{} {}", n, rows));
    }
  }
}

TEST(Reductions, ColumnsOfSeveralLevels) {
  for (const int64_t columns : {33, 64, 90}) {
    for (const int64_t n : {5, 40}) {
      KernelCase k({2, columns, 3, n}, 2);
      const int64_t plane = 3 * n * columns;
      const Expr x = k.load(DType::kF64, {plane, 1, n * columns, columns});
      const Expr reversed = k.load(DType::kF32, {plane, -1, n * columns, columns});
      const Expr pairs = k.load(DType::kF32, {2 * plane, 2, 2 * n * columns, 2 * columns});
      const Expr other = k.load_beside(pairs, 1);
      const Expr line = k.load(DType::kF64, {1, 0, 4, 7});
      const Expr column = k.load(DType::kF64, {columns, 1, 0, 0});
      const Expr row = k.load(DType::kF64, {1, 0, 0, 0});
      const Expr index = k.index(DType::kI64, 3, {1, 5, 0, 2}).cast(DType::kF64);
      const Expr small = (reversed + pairs * other).cast(DType::kF64);
      const Expr first =
          reduce(k, Op::kSum, ir::rare(x > 1, x * line + column, ir::sqrt(abs(line)) * x));
      const Expr second = reduce(k, Op::kSum, (x - first) * row + small + index);
      k.store(first, {columns, 1, 0, 0});
      k.store(second * column + row, {2 * columns, 2, 0, 0});
      k.store(reduce(k, Op::kAny, x > second), {columns, -1, 0, 0});
      k.store(x - second, {plane, 1, n * columns, columns});
      k.store(reduce(k, Op::kSum, line), {columns, 1, 0, 0});
      ASSERT_TRUE(k.layout().columns);
      check(k, format("{} {}", columns, n));
    }
  }
}

// Row values, lines and rare lanes meet.
TEST(Reductions, MixedLevels) {
  for (const int64_t n : {3, 20, 70}) {
    KernelCase k({2, 3, n}, 2);
    const Expr x = k.load(DType::kF64, {3 * n + 1, n, 1});
    const Expr line = k.load(DType::kF64, {1, 2, 0});
    const Expr row = k.load(DType::kF64, {1, 0, 0});
    const Expr root = ir::sqrt(abs(line));
    const Expr total = reduce(k, Op::kSum, ir::rare(x > 1, x * root, x / row));
    const Expr any = reduce(k, Op::kAny, x > total);
    k.store(ir::select(any, total, row), {1, 0, 0});
    k.store(x - total * line, {3 * n, n, 1});
    k.store(any, {1, 0, 0});
    check(k, format("{}", n));
  }
}

TEST(Reductions, OfValuesThatDoNotVary) {
  KernelCase k({2, 130}, 1);
  const Expr row = k.load(DType::kF32, {1, 0});
  k.store(reduce(k, Op::kSum, row), {1, 0});
  k.store(reduce(k, Op::kSum, row.like(0.1)), {1, 0});
  k.store(reduce(k, Op::kProd, k.scalar(Scalar::of(1.01F))), {1, 0});
  check(k, "");
}

TEST(Reductions, OfIndices) {
  KernelCase k({130}, 1);
  const Expr i = k.index(DType::kI64, 3, {2});
  k.store(reduce(k, Op::kSum, i), {0});
  k.store(reduce(k, Op::kMin, ir::select(k.load(DType::kBool, {1}), i, i.like(1000))), {0});
  check(k, "");
}

}  // namespace
}  // namespace lanewise::jit::test
