// Properties of the code itself: instructions used, compile counts, threads, fork, limits.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "kernel_case.h"

namespace lanewise::jit::test {
namespace {

using ir::Expr;

// X[:, 0]**2 + X[:, 1]**3 for rows of two.
KernelCase seed_kernel(int64_t n) {
  KernelCase k({n});
  const Expr a = k.load(DType::kF32, {2});
  const Expr b = k.load_beside(a, 1);
  k.store(a * a + b * b * b, {1});
  return k;
}

std::string assembly_of(const KernelCase& k, Target target) {
  return assembly(k.kernel(), k.program(), k.layout(), target);
}

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Code, SeedKernelOnAvx512) {
  const std::string text = assembly_of(seed_kernel(100), Target::kX86_64_v4);
  EXPECT_EQ(count(text, "call"), 0U) << text;
  EXPECT_GE(count(text, "vmulps\t%zmm") + count(text, "vmulps\t(%"), 2U) << text;
  EXPECT_GE(count(text, "vaddps\t%zmm"), 1U) << text;
  EXPECT_EQ(count(text, "vmovss"), 0U) << text;
  EXPECT_EQ(count(text, "gather"), 0U) << text;
  EXPECT_EQ(count(text, "vfmadd"), 0U) << text;
}

TEST(Code, SeedKernelOnAvx2) {
  const std::string text = assembly_of(seed_kernel(100), Target::kX86_64_v3);
  EXPECT_EQ(count(text, "call"), 0U) << text;
  EXPECT_EQ(count(text, "zmm"), 0U) << text;
  EXPECT_GE(count(text, "vmulps\t%ymm"), 2U) << text;
  EXPECT_EQ(count(text, "vmovss"), 0U) << text;
  EXPECT_EQ(count(text, "gather"), 0U) << text;
  EXPECT_EQ(count(text, "vfmadd"), 0U) << text;
}

TEST(Code, TextNamesTheKernel) {
  const KernelCase k = seed_kernel(100);
  const std::string text = llvm_ir(k.kernel(), k.program(), k.layout(), Target::kX86_64_v3);
  EXPECT_NE(text.find("@lanewise_test_"), std::string::npos) << text;
  EXPECT_NE(text.find("<16 x float>"), std::string::npos) << text;
}

uint64_t compilations() { return cache_statistics().compilations; }

TEST(Code, SizesAndScalarsDoNotRecompile) {
  clear_cache();
  const uint64_t before = compilations();
  for (const int64_t n : {1, 2, 50, 1000}) {
    for (const double c : {1.5, 2.5, -3.0}) {
      KernelCase k({n});
      k.store(k.load(DType::kF64, {1}) * k.scalar(Scalar::of(c)), {1});
      ASSERT_EQ(k.run(Target::kX86_64_v3), "");
    }
  }
  EXPECT_EQ(compilations() - before, 1U);
}

TEST(Code, WhatDiffersRecompiles) {
  clear_cache();
  const uint64_t before = compilations();
  const auto run = [](int64_t stride, double constant, DType dtype) {
    KernelCase k({20});
    const Expr x = k.load(dtype, {stride});
    k.store(x + x.like(constant), {1});
    ASSERT_EQ(k.run(Target::kX86_64_v3), "");
  };
  run(1, 2, DType::kF32);
  run(2, 2, DType::kF32);
  run(1, 3, DType::kF32);
  run(1, 2, DType::kI32);
  EXPECT_EQ(compilations() - before, 4U);
}

TEST(Code, ThreadsCompileOnce) {
  clear_cache();
  const uint64_t before = compilations();
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int op = 0; op < 4; ++op) {
        KernelCase k({40});
        const Expr x = k.load(DType::kF32, {1});
        k.store(x * x.like(op + 10), {1});
        if (!k.run(Target::kX86_64_v3).empty()) ++failures;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(compilations() - before, 4U);
}

TEST(Code, LimitsEvictTheOldest) {
  clear_cache();
  const CacheStatistics before = cache_statistics();
  EXPECT_EQ(before.kernels, 0U);
  EXPECT_EQ(before.code_bytes, 0U);
  set_cache_limits(3, before.code_byte_limit);
  const auto run = [](int constant) {
    KernelCase k({20});
    const Expr x = k.load(DType::kF32, {1});
    k.store(x + x.like(constant), {1});
    ASSERT_EQ(k.run(Target::kX86_64_v3), "");
  };
  for (const int constant : {1, 2, 3, 1, 4, 1, 2}) run(constant);
  const CacheStatistics after = cache_statistics();
  EXPECT_EQ(after.kernels, 3U);
  EXPECT_EQ(after.compilations - before.compilations, 5U);  // 2 went when 4 came
  EXPECT_EQ(after.evictions - before.evictions, 2U);
  EXPECT_GT(after.code_bytes, 0U);
  set_cache_limits(before.kernel_limit, before.code_byte_limit);
}

TEST(Code, RunsAfterItsEviction) {
  KernelCase k({4});
  k.store(k.load(DType::kF32, {1}) + 8, {1});
  const auto code = compile(k.kernel(), k.program(), k.layout(), Target::kX86_64_v3);
  clear_cache();
  const float in[4] = {1, 2, 3, 4};
  float out[4] = {};
  const intptr_t bases[] = {reinterpret_cast<intptr_t>(in), reinterpret_cast<intptr_t>(out)};
  const int64_t strides[] = {4, 4};
  const int64_t sizes[] = {4};
  const runtime::KernelArguments arguments{bases, strides, sizes, nullptr};
  code->entry()(&arguments);
  EXPECT_EQ(out[3], 12);
}

TEST(Code, ChildCompilesAfterFork) {
  ASSERT_EQ(seed_kernel(30).run(Target::kX86_64_v3), "");
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    clear_cache();
    _exit(seed_kernel(30).run(Target::kX86_64_v3).empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Code, LongBodies) {
  for (const int ops : {1000, 5000}) {
    KernelCase k({20});
    const Expr x = k.load(DType::kF32, {1});
    Expr y = x;
    for (int i = 0; i < ops; ++i) y = i % 2 == 0 ? y + x : y * 0.5;
    k.store(y, {1});
    for (const Target target : targets()) ASSERT_EQ(k.run(target), "");
  }
}

}  // namespace
}  // namespace lanewise::jit::test
