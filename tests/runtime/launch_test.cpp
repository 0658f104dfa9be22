#include "runtime/launch.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "runtime/memory.h"
#include "runtime/threads.h"

namespace lanewise::runtime {
namespace {

// Calls body(index, addresses) at each point a kernel is asked for.
template <class Body>
void for_each_point(const KernelArguments& arguments, int rank, int operands, const Body& body) {
  std::vector<int64_t> index(rank, 0);
  std::vector<intptr_t> at(operands);
  for (;;) {
    for (int k = 0; k < operands; ++k) {
      at[k] = arguments.bases[k];
      for (int i = 0; i < rank; ++i) at[k] += arguments.strides[k * rank + i] * index[i];
    }
    body(at);
    int loop = rank - 1;
    while (loop >= 0 && ++index[loop] == arguments.sizes[loop]) index[loop--] = 0;
    if (loop < 0) return;
  }
}

// Adds 1 + the index (operand 1) to the int32 (operand 0), which threads may share.
template <int rank>
void count_kernel(const KernelArguments* arguments) {
  for_each_point(*arguments, rank, 2, [](const std::vector<intptr_t>& at) {
    reinterpret_cast<std::atomic<int32_t>*>(at[0])->fetch_add(1 + static_cast<int32_t>(at[1]));
  });
}

KernelFunction count_kernel_of(int rank) {
  switch (rank) {
    case 1:
      return count_kernel<1>;
    case 2:
      return count_kernel<2>;
    case 3:
      return count_kernel<3>;
    default:
      return count_kernel<4>;
  }
}

class Launch : public testing::Test {
 protected:
  void TearDown() override { set_num_threads(before_); }
  int before_ = num_threads();
};

// Elements of operand 0 lie in some order of axes, some reversed; it holds each point's row-major
// number afterwards, as the index operand has it, plus one, if each was visited once.
TEST_F(Launch, visits_each_element_once) {
  std::mt19937 random(1);
  const double costs[] = {0.01, 100, 10000};
  for (int trial = 0; trial < 400; ++trial) {
    const int rank = 1 + static_cast<int>(random() % 4);
    Nest nest;
    for (int i = 0; i < rank; ++i) {
      const int64_t most = rank == 1 ? 3000 : rank == 2 ? 300 : 20;
      nest.sizes.push_back(1 + random() % most);
    }
    nest.operands = {{.strides = std::vector<int64_t>(rank), .element_size = 4, .written = true},
                     {.strides = std::vector<int64_t>(rank)}};
    NestOperand& array = nest.operands[0];
    NestOperand& number = nest.operands[1];
    std::vector<int> axes(rank);
    for (int i = 0; i < rank; ++i) axes[i] = i;
    std::shuffle(axes.begin(), axes.end(), random);
    int64_t stride = 4;
    for (const int axis : axes) {
      array.strides[axis] = stride;
      if (random() % 3 == 0) {
        array.base += stride * (nest.sizes[axis] - 1);
        array.strides[axis] = -stride;
      }
      stride *= nest.sizes[axis];
    }
    int64_t step = 1;
    for (int i = rank - 1; i >= 0; --i) {
      number.strides[i] = step;
      step *= nest.sizes[i];
    }
    const int64_t elements = step;

    // The same points, walked plainly.
    std::vector<int32_t> expected(elements, 0);
    const auto walk = [&](const Nest& n) {
      std::vector<int64_t> index(n.sizes.size(), 0);
      for (;;) {
        int64_t address = n.operands[0].base;
        int64_t value = n.operands[1].base;
        for (size_t i = 0; i < index.size(); ++i) {
          address += n.operands[0].strides[i] * index[i];
          value += n.operands[1].strides[i] * index[i];
        }
        expected[address / 4] += 1 + static_cast<int32_t>(value);
        int loop = static_cast<int>(index.size()) - 1;
        while (loop >= 0 && ++index[loop] == n.sizes[loop]) index[loop--] = 0;
        if (loop < 0) return;
      }
    };
    walk(nest);

    const bool simplified = random() % 2 == 0;
    LaunchSpec spec;
    spec.nest = simplified ? simplify(nest) : nest;
    spec.nest.reduced = simplified ? 0 : static_cast<int>(random() % (rank + 1));
    spec.kernel = count_kernel_of(static_cast<int>(spec.nest.sizes.size()));
    spec.origins = {1, LaunchSpec::kAbsolute};
    spec.nanoseconds_per_point = costs[random() % 3];
    const PreparedLaunch launch(spec);
    std::vector<int32_t> values(elements);
    for (const int threads : {1, 2, 3, 7}) {
      set_num_threads(threads);
      std::fill(values.begin(), values.end(), 0);
      const intptr_t origins[] = {0, reinterpret_cast<intptr_t>(values.data())};
      launch.run(origins, nullptr);
      ASSERT_EQ(values, expected) << "trial " << trial << ", " << threads << " threads";
    }
  }
}

// Sums rows of float64 (operand 1) into operand 0, reports the threads that ran it.
std::atomic<int> calls = 0;
void sum_rows_kernel(const KernelArguments* arguments) {
  ++calls;
  const int64_t* const strides = arguments->strides;
  for (int64_t i = 0; i < arguments->sizes[0]; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < arguments->sizes[1]; ++j) {
      sum += *reinterpret_cast<double*>(arguments->bases[1] + strides[2] * i + strides[3] * j);
    }
    *reinterpret_cast<double*>(arguments->bases[0] + strides[0] * i) = sum;
  }
}

TEST_F(Launch, cuts_kept_loops_only) {
  set_num_threads(3);
  constexpr int64_t kRows = 37;
  constexpr int64_t kColumns = 5000;
  std::vector<double> table(kRows * kColumns);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<double>(i % 1013);
  LaunchSpec spec;
  spec.kernel = sum_rows_kernel;
  spec.nest = {.sizes = {kRows, kColumns},
               .reduced = 1,
               .operands = {{.strides = {8, 0}, .element_size = 8, .written = true},
                            {.strides = {8 * kColumns, 8}, .element_size = 8}}};
  spec.origins = {0, 1};
  spec.nanoseconds_per_point = 10;
  const PreparedLaunch launch(spec);
  std::vector<double> sums(kRows);
  const intptr_t origins[] = {reinterpret_cast<intptr_t>(sums.data()),
                              reinterpret_cast<intptr_t>(table.data())};
  calls = 0;
  launch.run(origins, nullptr);
  EXPECT_GT(calls, 3) << "few long rows are shared out too";
  for (int64_t i = 0; i < kRows; ++i) {
    double expected = 0;
    for (int64_t j = 0; j < kColumns; ++j) expected += table[i * kColumns + j];
    ASSERT_EQ(sums[i], expected) << i;
  }
}

// out = scalar0 * x + scalar1; checks the environment it runs in.
std::atomic<int> wrong_environments = 0;
std::atomic<int> unaligned_boxes = 0;
void affine_kernel(const KernelArguments* arguments) {
  if ((_mm_getcsr() & ~0x3fu) != 0x1f80u) ++wrong_environments;
  ++calls;
  float scalars[2];
  for (int i = 0; i < 2; ++i) std::memcpy(&scalars[i], &arguments->scalars[i], sizeof(float));
  auto* const out = reinterpret_cast<float*>(arguments->bases[0]);
  const auto* const x = reinterpret_cast<const float*>(arguments->bases[1]);
  if (reinterpret_cast<uintptr_t>(out) % 64 != 0) ++unaligned_boxes;
  for (int64_t i = 0; i < arguments->sizes[0]; ++i) out[i] = scalars[0] * x[i] + scalars[1];
}

LaunchSpec affine(int64_t size, double cost) {
  LaunchSpec spec;
  spec.kernel = affine_kernel;
  spec.nest = {.sizes = {size},
               .operands = {{.strides = {4}, .element_size = 4, .written = true},
                            {.strides = {4}, .element_size = 4}}};
  spec.origins = {0, 1};
  spec.scalars = {3, 0};
  spec.nanoseconds_per_point = cost;
  return spec;
}

uint64_t bits(float value) {
  uint64_t result = 0;
  std::memcpy(&result, &value, sizeof value);
  return result;
}

TEST_F(Launch, passes_scalars_and_patches_bases) {
  const PreparedLaunch launch(affine(3, 1));
  const uint64_t scalars[] = {bits(10), 0, 0, bits(2)};
  for (int round = 0; round < 3; ++round) {
    float x[] = {1, 2, static_cast<float>(round)};
    float out[3] = {};
    const intptr_t origins[] = {reinterpret_cast<intptr_t>(out), reinterpret_cast<intptr_t>(x)};
    launch.run(origins, scalars);
    EXPECT_EQ(out[0], 12);
    EXPECT_EQ(out[1], 14);
    EXPECT_EQ(out[2], 10 + 2 * round);
  }
}

TEST_F(Launch, small_work_stays_whole_and_large_work_is_cut_at_cache_lines) {
  set_num_threads(2);
  const uint64_t scalars[] = {bits(10), 0, 0, bits(2)};
  const BufferRef x = Buffer::allocate(4 * 1000003);
  const BufferRef out = Buffer::allocate(4 * 1000003);
  std::memset(x->data(), 0, x->size());
  const intptr_t origins[] = {reinterpret_cast<intptr_t>(out->data()),
                              reinterpret_cast<intptr_t>(x->data())};
  calls = 0;
  PreparedLaunch(affine(1000, 0.1)).run(origins, scalars);
  EXPECT_EQ(calls, 1);
  calls = unaligned_boxes = 0;
  PreparedLaunch(affine(1000003, 1)).run(origins, scalars);
  EXPECT_GT(calls, 4);
  EXPECT_EQ(unaligned_boxes, 0);
}

void idle_kernel(const KernelArguments*) { ++calls; }

TEST_F(Launch, learns_what_work_costs) {
  set_num_threads(2);
  LaunchSpec spec = affine(10000, 1000);  // in truth next to nothing
  spec.kernel = idle_kernel;
  const PreparedLaunch launch(spec);
  const uint64_t scalars[4] = {};
  const intptr_t origins[2] = {};
  const auto calls_of_run = [&] {
    calls = 0;
    launch.run(origins, scalars);
    return calls.load();
  };
  EXPECT_GT(calls_of_run(), 1);
  int runs = 1;
  while (runs < 100 && calls_of_run() > 1) ++runs;  // more than one on a busy machine only
  EXPECT_LT(runs, 100);
}

TEST_F(Launch, runs_in_the_default_float_environment) {
  const uint32_t before = _mm_getcsr();
  constexpr uint32_t kFlush = 0x1f80 | 0x8040;
  const uint64_t scalars[] = {bits(10), 0, 0, bits(2)};
  std::vector<float> x(100000, 1e-40f);
  std::vector<float> out(100000);
  const intptr_t origins[] = {reinterpret_cast<intptr_t>(out.data()),
                              reinterpret_cast<intptr_t>(x.data())};
  wrong_environments = 0;
  for (const double cost : {0.001, 10.}) {
    const PreparedLaunch launch(affine(100000, cost));
    _mm_setcsr(kFlush);
    launch.run(origins, scalars);
    const uint32_t after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(after, kFlush);
  }
  EXPECT_EQ(wrong_environments, 0);
}

TEST_F(Launch, allocates_nothing_for_small_work) {
  const uint64_t scalars[] = {bits(10), 0, 0, bits(2)};
  float x[16] = {};
  float out[16] = {};
  const intptr_t origins[] = {reinterpret_cast<intptr_t>(out), reinterpret_cast<intptr_t>(x)};
  const PreparedLaunch launch(affine(16, 1));
  const uint64_t allocations = memory_statistics().allocations;
  for (int i = 0; i < 1000; ++i) launch.run(origins, scalars);
  EXPECT_EQ(memory_statistics().allocations, allocations);
}

// Adds up all operands but the first into it: for more operands than fit on the stack.
template <int operands>
void sum_kernel(const KernelArguments* arguments) {
  for (int64_t i = 0; i < arguments->sizes[0]; ++i) {
    int64_t sum = 0;
    for (int k = 1; k < operands; ++k) {
      sum += *reinterpret_cast<int64_t*>(arguments->bases[k] + arguments->strides[k] * i);
    }
    *reinterpret_cast<int64_t*>(arguments->bases[0] + arguments->strides[0] * i) = sum;
  }
}

TEST_F(Launch, takes_any_number_of_operands) {
  constexpr int kOperands = 100;
  constexpr int64_t kSize = 1000;
  std::vector<std::vector<int64_t>> arrays(kOperands, std::vector<int64_t>(kSize));
  LaunchSpec spec;
  spec.kernel = sum_kernel<kOperands>;
  spec.nest.sizes = {kSize};
  spec.nanoseconds_per_point = 1000;
  std::vector<intptr_t> origins;
  for (int k = 0; k < kOperands; ++k) {
    for (int64_t i = 0; i < kSize; ++i) arrays[k][i] = k * i;
    spec.nest.operands.push_back({.strides = {8}, .element_size = 8, .written = k == 0});
    spec.origins.push_back(k);
    origins.push_back(reinterpret_cast<intptr_t>(arrays[k].data()));
  }
  PreparedLaunch(spec).run(origins.data(), nullptr);
  for (int64_t i = 0; i < kSize; ++i) ASSERT_EQ(arrays[0][i], i * kOperands * (kOperands - 1) / 2);
}

TEST_F(Launch, is_shared_by_threads) {
  set_num_threads(2);
  const PreparedLaunch launch(affine(50000, 1));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> callers;
  callers.reserve(3);
  for (int t = 0; t < 3; ++t) {
    callers.emplace_back([&, t] {
      const uint64_t scalars[] = {bits(1), 0, 0, bits(static_cast<float>(t))};
      std::vector<float> x(50000, 2);
      std::vector<float> out(50000);
      const intptr_t origins[] = {reinterpret_cast<intptr_t>(out.data()),
                                  reinterpret_cast<intptr_t>(x.data())};
      for (int round = 0; round < 100; ++round) {
        std::fill(out.begin(), out.end(), -1.f);
        launch.run(origins, scalars);
        const float expected = static_cast<float>(2 * t + 1);
        if (!std::all_of(out.begin(), out.end(), [&](float v) { return v == expected; })) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// ---- blocks -------------------------------------------------------------------------------

// scratch = x + 1 (floats), then out = scratch * scratch + the index.
void increment_kernel(const KernelArguments* arguments) {
  auto* const out = reinterpret_cast<float*>(arguments->bases[0]);
  const auto* const x = reinterpret_cast<const float*>(arguments->bases[1]);
  for (int64_t i = 0; i < arguments->sizes[0]; ++i) out[i] = x[i] + 1;
}

void square_kernel(const KernelArguments* arguments) {
  auto* const out = reinterpret_cast<double*>(arguments->bases[0]);
  const auto* const x = reinterpret_cast<const float*>(arguments->bases[1]);
  for (int64_t i = 0; i < arguments->sizes[0]; ++i) {
    const auto index = arguments->bases[2] + i * arguments->strides[2];
    out[i] = double{x[i]} * x[i] + static_cast<double>(index);
  }
}

PreparedBlocks blocks(int64_t size, double cost) {
  LaunchSpec first;
  first.kernel = increment_kernel;
  first.nest = {.sizes = {size},
                .operands = {{.strides = {4}, .element_size = 4, .written = true},
                             {.base = 4, .strides = {4}, .element_size = 4}}};
  first.origins = {PreparedBlocks::scratch(1), 0};
  first.nanoseconds_per_point = cost;
  LaunchSpec second;
  second.kernel = square_kernel;
  second.nest = {.sizes = {size},
                 .operands = {{.strides = {8}, .element_size = 8, .written = true},
                              {.strides = {4}, .element_size = 4},
                              {.base = 7, .strides = {1}}}};
  second.origins = {1, PreparedBlocks::scratch(1), LaunchSpec::kAbsolute};
  second.nanoseconds_per_point = cost;
  return PreparedBlocks({first, second}, {8, 4});
}

TEST_F(Launch, blocks_cover_each_element_once_and_hand_on_scratch) {
  for (const int64_t size : {1, 63, 64, 1000, 8192, 8193, 100000, 1000001}) {
    std::vector<float> x(size + 1);
    for (int64_t i = 0; i <= size; ++i) x[i] = static_cast<float>(i % 977);
    for (const int threads : {1, 2, 3, 7}) {
      set_num_threads(threads);
      for (const double cost : {0.001, 5.}) {
        std::vector<double> out(size, -1);
        const intptr_t origins[] = {reinterpret_cast<intptr_t>(x.data()),
                                    reinterpret_cast<intptr_t>(out.data())};
        blocks(size, cost).run(origins, nullptr);
        for (int64_t i = 0; i < size; ++i) {
          const double value = x[i + 1] + 1;
          ASSERT_EQ(out[i], value * value + static_cast<double>(7 + i)) << size << " " << i;
        }
      }
    }
  }
}

// ---- interrupts ---------------------------------------------------------------------------

TEST_F(Launch, long_work_can_be_interrupted) {
  struct Interrupted : std::exception {};
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    set_interrupt_check([] { throw Interrupted(); });
    // Some hours of work on a few elements, over and over.
    LaunchSpec spec;
    spec.kernel = [](const KernelArguments* arguments) {
      for (int64_t i = 0; i < arguments->sizes[0]; ++i) _mm_pause();
    };
    spec.nest = {.sizes = {int64_t{1} << 40}, .operands = {}};
    spec.nanoseconds_per_point = 10;
    const PreparedLaunch launch(spec);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROW(launch.run(nullptr, nullptr), Interrupted);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
    set_interrupt_check(nullptr);
  }
}

}  // namespace
}  // namespace lanewise::runtime
