// Code for rare lanes: nested, shared, and skipped where no lane needs it.
#include <gtest/gtest.h>

#include "kernel_case.h"

namespace lanewise::jit::test {
namespace {

using ir::Expr;
using ir::rare;

void check(KernelCase& k, int64_t n) {
  for (const Target target : targets()) {
    for (uint64_t seed = 1; seed <= 10; ++seed) ASSERT_EQ(k.run(target, seed), "") << n;
  }
}

TEST(Rare, Plain) {
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kI8, DType::kU16, DType::kI64}) {
    for (const int64_t n : {1, 16, 37}) {
      KernelCase k({n});
      const Expr x = k.load(dtype, {1});
      const Expr y = k.load(dtype, {1});
      k.store(rare(x > 100, x + y, (x - y) * y), {1});
      check(k, n);
    }
  }
}

TEST(Rare, Nested) {
  for (const int64_t n : {1, 16, 37}) {
    KernelCase k({n});
    const Expr x = k.load(DType::kF32, {1});
    const Expr y = k.load(DType::kF32, {2});
    const Expr inner = rare(y < 0, x * y, ir::sqrt(x - y) * x);
    const Expr middle = rare(x != x, inner + 1, inner * y + 2);
    k.store(rare(x > 1, x + y, middle / 3) + x, {1});
    check(k, n);
  }
}

// As sine and cosine of one argument do.
TEST(Rare, TwoShareWork) {
  for (const int64_t n : {1, 16, 37}) {
    KernelCase k({n});
    const Expr x = k.load(DType::kF64, {1});
    const Expr large = abs(x) > 2;
    const Expr reduced = ir::sqrt(abs(x)) / 7 + x * 3;
    const Expr inner = rare(x < -3, reduced * 2, ir::sqrt(reduced * reduced + 1));
    const Expr a = rare(large, x + 1, inner + 5);
    const Expr between = a * a - x;
    const Expr b = rare(large, x - 1, inner * reduced - between);
    k.store(a, {1});
    k.store(b, {1});
    check(k, n);
  }
}

// Nested code of one mask in cold code of two Rare nodes.
TEST(Rare, SharedInNestedCode) {
  for (const int64_t n : {1, 16, 37}) {
    KernelCase k({n});
    const Expr x = k.load(DType::kF32, {1});
    const Expr outer = x > 0;
    const Expr nested = abs(x) > 2;
    const Expr shared = ir::sqrt(x * x + 3);
    const Expr first = rare(outer, x, rare(nested, x + 2, shared + 1));
    const Expr second = rare(outer, x * 2, rare(nested, first + 4, shared * 5));
    k.store(first - second, {1});
    check(k, n);
  }
}

// What both the common and the rare value use is computed for all lanes.
TEST(Rare, OperandsInUseElsewhere) {
  for (const int64_t n : {1, 16, 37}) {
    KernelCase k({n});
    const Expr x = k.load(DType::kF32, {1});
    const Expr z = ir::sqrt(abs(x));
    k.store(rare(x > 0, z + 1, z), {1});
    k.store(rare(z > 1, x, k.scalar(Scalar::of(2.F))), {1});
    k.store(rare(x < 0, z, z.like(4)), {1});
    check(k, n);
  }
}

// So many nodes that the code becomes a function.
Expr long_chain(Expr x) {
  for (int i = 0; i < 20; ++i) x = fma(x, x.like(.5 - i / 16.), ir::sqrt(abs(x)));
  return x;
}

TEST(Rare, LongCode) {
  for (const int64_t n : {1, 16, 37}) {
    KernelCase k({n});
    const Expr x = k.load(DType::kF32, {1});
    const Expr y = k.load(DType::kF64, {1});
    const Expr i = k.load(DType::kI16, {1});
    const Expr scalar = k.scalar(Scalar::of(.75F));
    const Expr chain = long_chain(select(i > 3, x - 1, x * scalar)).cast(DType::kF64);
    k.store(rare((x > 1) & (i < 100), y, long_chain(chain + y)), {1});
    k.store(rare(y > 3, x, long_chain(x).cast(DType::kI32).cast(DType::kF32)), {1});
    check(k, n);
  }
}

TEST(Rare, LongCodeShared) {
  for (const int64_t n : {1, 16, 37}) {
    KernelCase k({n});
    const Expr x = k.load(DType::kF64, {1});
    const Expr large = abs(x) > 2;
    const Expr reduced = long_chain(x);
    const Expr flag = (reduced.as_signed() & 1) != 0;
    const Expr inner = rare(reduced > 4, reduced + 1, long_chain(reduced * 3));
    const Expr a = rare(large, x, select(flag, inner, long_chain(reduced)));
    const Expr b = rare(large, x - 1, select(flag, long_chain(inner + 2), inner));
    k.store(a, {1});
    k.store(b * a, {1});
    check(k, n);
  }
}

TEST(Rare, OfBools) {
  for (const int64_t n : {1, 16, 37}) {
    KernelCase k({n});
    const Expr a = k.load(DType::kBool, {1});
    const Expr x = k.load(DType::kF64, {1});
    k.store(rare(x > 3, a, a ^ (x * x > 20)), {1});
    check(k, n);
  }
}

}  // namespace
}  // namespace lanewise::jit::test
