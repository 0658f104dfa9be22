// Every layout class of operands, in one loop and in several, at every length around the vector
// width, with inaccessible pages on either side.
#include <gtest/gtest.h>

#include "kernel_case.h"
#include "support/format.h"

namespace lanewise::jit::test {
namespace {

using ir::Expr;

constexpr DType kDTypes[] = {DType::kBool, DType::kU8,  DType::kI16, DType::kI32,
                             DType::kU64,  DType::kF32, DType::kF64};

std::string description(DType dtype, int64_t in, int64_t out, int64_t n) {
  return format("{}, strides {} -> {}, length {}", to_string(dtype), in, out, n);
}

TEST(Layouts, OneLoop) {
  for (const DType dtype : kDTypes) {
    for (const int64_t in : {1, 0, 2, 3, 4, -1, 5, 7, -2, -9}) {
      for (const int64_t out : {1, 2, 3, -1, 7}) {
        for (int64_t n = 1; n <= 70; n += n < 36 ? 1 : 9) {
          KernelCase k({n});
          const Expr x = k.load(dtype, {in});
          k.store(is_bool(dtype) ? ~x : x + x, {out});
          for (const Target target : targets()) {
            ASSERT_EQ(k.run(target, static_cast<uint64_t>(n)), "")
                << description(dtype, in, out, n);
          }
        }
      }
    }
  }
}

TEST(Layouts, ColumnsShareLoads) {
  for (const DType dtype : kDTypes) {
    for (const int64_t step : {2, 3, 4}) {
      for (int64_t first = 0; first < step; ++first) {
        for (int64_t second = 0; second < step; ++second) {
          if (first == second) continue;
          for (int64_t n = 1; n <= 70; n += n < 34 ? 1 : 12) {
            KernelCase k({n});
            const Expr x = k.load(dtype, {step});
            const Expr y = k.load_beside(x, second - first);
            k.store(is_bool(dtype) ? x & y : x + y * y, {1});
            for (const Target target : targets()) {
              ASSERT_EQ(k.run(target), "") << description(dtype, step, second - first, n);
            }
          }
        }
      }
    }
  }
}

TEST(Layouts, ManyColumns) {
  for (int64_t n = 1; n <= 50; ++n) {
    KernelCase k({n});
    const Expr a = k.load(DType::kF32, {4});
    const Expr b = k.load_beside(a, 1);
    const Expr c = k.load_beside(a, 2);
    const Expr d = k.load_beside(a, 3);
    k.store(a * d - b * c, {1});
    for (const Target target : targets()) ASSERT_EQ(k.run(target), "") << n;
  }
}

// Rows, planes: (n0, n1, n2) with gaps, transposed, broadcast along either loop.
TEST(Layouts, SeveralLoops) {
  const std::vector<std::vector<int64_t>> layouts = {
      {100, 20, 1}, {1, 30, 90}, {0, 1, 20}, {17, 0, 1}, {7, 90, 0}, {0, 0, 0}, {-300, 60, -2}};
  for (const auto& in : layouts) {
    for (const auto& other : layouts) {
      for (const int64_t n : {1, 2, 7, 15, 16, 17}) {
        KernelCase k({3, 4, n});
        const Expr x = k.load(DType::kF32, in);
        const Expr y = k.load(DType::kI64, other).cast(DType::kF32);
        k.store(x * y + 1, {100, 20, 1});
        for (const Target target : targets()) {
          ASSERT_EQ(k.run(target), "") << in[0] << " " << in[2] << " " << other[2] << " " << n;
        }
      }
    }
  }
}

TEST(Layouts, SeveralOutputsOfMixedWidth) {
  for (int64_t n = 1; n <= 70; ++n) {
    KernelCase k({n});
    const Expr x = k.load(DType::kF64, {1});
    const Expr y = k.load(DType::kF32, {-1});
    k.store(x * 3, {1});
    k.store(x > 1, {1});
    k.store((y + 1).cast(DType::kI16), {2});
    k.store(y.cast(DType::kU8), {-1});
    for (const Target target : targets()) ASSERT_EQ(k.run(target), "") << n;
  }
}

TEST(Layouts, InPlace) {
  for (const DType dtype : kDTypes) {
    for (const int64_t stride : {1, 2, -1, 3}) {
      for (int64_t n = 1; n <= 50; ++n) {
        KernelCase k({n});
        const Expr x = k.load(dtype, {stride});
        const Expr y = k.load(dtype, {1});
        k.store_in_place(is_bool(dtype) ? x ^ y : x + y, x);
        for (const Target target : targets()) {
          ASSERT_EQ(k.run(target), "") << description(dtype, stride, stride, n);
        }
      }
    }
  }
}

TEST(Layouts, Indices) {
  for (const DType dtype : {DType::kI8, DType::kU16, DType::kI32, DType::kI64, DType::kU64}) {
    for (const int64_t step : {1, 0, -1, 3, 1000000007}) {
      for (const int64_t n : {1, 5, 16, 33, 70}) {
        KernelCase k({3, n});
        k.store(k.index(dtype, -5, {7, step}) * k.index(dtype, 1, {0, 1}), {n, 1});
        for (const Target target : targets()) {
          ASSERT_EQ(k.run(target), "") << description(dtype, step, 1, n);
        }
      }
    }
  }
}

TEST(Layouts, ConstantsAndScalarsOnly) {
  for (const int64_t n : {1, 16, 40}) {
    KernelCase k({n});
    const Expr s = k.scalar(Scalar::of(2.5));
    k.store(s.like(7.0), {1});
    k.store(ir::sqrt(s) + 1, {2});
    k.store(s > 2, {1});
    for (const Target target : targets()) ASSERT_EQ(k.run(target), "") << n;
  }
}

// An operand that moves along outer loops only: its part of the work is done once a row.
TEST(Layouts, WorkOfARow) {
  for (const int64_t n : {1, 15, 40}) {
    KernelCase k({5, n});
    const Expr row = k.load(DType::kF32, {1, 0});
    const Expr x = k.load(DType::kF32, {n, 1});
    const Expr mask = row > 0;
    k.store(ir::select(mask, x, ir::sqrt(row)) + ir::rare(~mask, row, row / 3), {n, 1});
    k.store(row * 2, {n, 1});
    for (const Target target : targets()) ASSERT_EQ(k.run(target), "") << n;
  }
}

TEST(Layouts, Streaming) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kU8}) {
    for (const int64_t in : {1, 2, 0}) {
      for (int64_t n = 1; n <= 200; n += n < 100 ? 1 : 7) {
        KernelCase k({n});
        k.set_streaming(true);
        const Expr x = k.load(dtype, {in});
        k.store(x + x, {1});
        for (const Target target : targets()) {
          ASSERT_EQ(k.run(target), "") << description(dtype, in, 1, n);
        }
      }
    }
  }
}

TEST(Layouts, StreamingOfSeveralOutputs) {
  for (int64_t n = 1; n <= 130; n += 3) {
    KernelCase k({3, n});
    k.set_streaming(true);
    const Expr x = k.load(DType::kF64, {n, 1});
    k.store(x * 2, {n, 1});
    k.store(x.cast(DType::kF32), {n + 1, 1});
    k.store(x, {2 * n, 2});
    for (const Target target : targets()) ASSERT_EQ(k.run(target), "") << n;
  }
}

}  // namespace
}  // namespace lanewise::jit::test
