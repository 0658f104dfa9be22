// The first law: random expressions over random layouts, with any passes, for each instruction set
// and any number of threads, give the interpreter's bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "frontend/executable.h"
#include "ir/builder.h"
#include "ir/interpret.h"
#include "ir/text.h"
#include "runtime/copy.h"
#include "runtime/cpu.h"
#include "runtime/threads.h"
#include "support/error.h"
#include "support/format.h"
#include "tests/support/random_graph.h"

namespace lanewise::frontend {
namespace {

using ir::Tensor;
using test::Random;

std::vector<int64_t> row_major(const Tensor& tensor) {
  std::vector<int64_t> strides(tensor.shape.size());
  int64_t stride = size_of(tensor.dtype);
  for (size_t axis = strides.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= tensor.shape[axis];
  }
  return strides;
}

// An array somewhere in a larger block of memory: axes in any order, forward or backward, with
// gaps, at any offset that is a multiple of the element size.
struct Placed {
  std::vector<std::byte> memory;
  std::vector<int64_t> strides;
  int64_t offset = 0;
  intptr_t address() { return reinterpret_cast<intptr_t>(memory.data()) + offset; }
};

Placed place(Random& random, const Tensor& tensor) {
  Placed placed;
  const size_t rank = tensor.shape.size();
  placed.strides.resize(rank);
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  const bool plain = test::chance(random, 30);
  if (!plain && test::chance(random, 50)) std::ranges::shuffle(order, random);
  constexpr int64_t kSteps[] = {1, 1, 1, 2, 3, 4, 7};
  const int64_t item = size_of(tensor.dtype);
  int64_t extent = 1;
  int64_t first = 0;
  for (size_t i = rank; i-- > 0;) {
    const size_t axis = order[i];
    const int64_t size = std::max<int64_t>(tensor.shape[axis], 1);
    int64_t stride = plain ? extent : extent * test::pick(random, kSteps);
    if (!plain && i > 0) extent += test::uniform(random, 0, 3);
    extent = stride * size;
    if (!plain && test::chance(random, 25)) {
      first += stride * (size - 1);
      stride = -stride;
    }
    placed.strides[axis] = stride * item;
  }
  const int64_t shift = test::uniform(random, 0, 9);
  placed.offset = (first + shift) * item;
  placed.memory.resize(static_cast<size_t>((extent + shift + 4) * item));
  for (std::byte& byte : placed.memory) byte = static_cast<std::byte>(random());
  return placed;
}

Placed place_values(Random& random, const Tensor& tensor) {
  Placed placed = place(random, tensor);
  runtime::copy_strided(reinterpret_cast<char*>(placed.address()), placed.strides,
                        reinterpret_cast<const char*>(tensor.data.data()), row_major(tensor),
                        tensor.shape, size_of(tensor.dtype));
  return placed;
}

BuildOptions random_build(Random& random, jit::Target target) {
  BuildOptions options{.passes = {}, .target = target};
  for (const ir::GraphPass& pass : ir::kGraphPasses) {
    if (pass.optional && test::chance(random, 20)) {
      options.passes.disabled.emplace_back(pass.name);
    }
  }
  return options;
}

// The results, or the message of the check that fails, with the place where it was written to.
struct Outcome {
  std::vector<Tensor> results;
  bool failed = false;
};

Outcome run_interpreter(const ir::Graph& graph, std::span<const Tensor> inputs,
                        std::span<const Scalar> scalars) {
  try {
    return {ir::interpret(graph, inputs, scalars)};
  } catch (const ValueError&) {
    return {{}, true};
  }
}

Outcome run(Random& random, const ir::Graph& graph, std::span<const Tensor> inputs,
            std::span<const Scalar> scalars, const BuildOptions& options) {
  std::vector<Placed> placed_inputs, placed_outputs;
  std::vector<ArrayLayout> input_layouts, output_layouts;
  std::vector<intptr_t> input_addresses, output_addresses;
  std::vector<uint64_t> bits;
  std::vector<Tensor> results;
  for (const Tensor& input : inputs) {
    placed_inputs.push_back(place_values(random, input));
    input_layouts.push_back({.strides = placed_inputs.back().strides});
  }
  for (const ir::Value output : graph.outputs) {
    std::vector<int64_t> shape;
    for (const ir::Dim& dim : graph[output].shape) shape.push_back(dim.value());
    results.emplace_back(graph[output].dtype, shape);
    placed_outputs.push_back(place(random, results.back()));
    output_layouts.push_back({.strides = placed_outputs.back().strides});
  }
  for (Placed& placed : placed_inputs) input_addresses.push_back(placed.address());
  for (Placed& placed : placed_outputs) output_addresses.push_back(placed.address());
  for (const Scalar& scalar : scalars) bits.push_back(scalar.bits);
  const auto executable = Executable::build(graph, input_layouts, output_layouts, options);
  std::vector<std::vector<std::byte>> before;
  for (const Placed& placed : placed_outputs) before.push_back(placed.memory);
  try {
    executable->run(input_addresses.data(), bits.data(), output_addresses.data());
  } catch (const ValueError&) {
    for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(placed_outputs[i].memory, before[i]);
    return {{}, true};
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Placed& placed = placed_outputs[i];
    const int64_t item = size_of(results[i].dtype);
    runtime::copy_strided(reinterpret_cast<char*>(results[i].data.data()), row_major(results[i]),
                          reinterpret_cast<const char*>(placed.address()), placed.strides,
                          results[i].shape, item);
    // What lies between the elements is not touched.
    runtime::copy_strided(reinterpret_cast<char*>(before[i].data() + placed.offset), placed.strides,
                          reinterpret_cast<const char*>(results[i].data.data()),
                          row_major(results[i]), results[i].shape, item);
    EXPECT_EQ(placed.memory, before[i]) << "wrote outside of result " << i;
  }
  return {std::move(results)};
}

void check_graphs(uint64_t seed, int count, const test::RandomGraphOptions& options) {
  Random random(seed);
  const int threads = runtime::num_threads();
  for (int i = 0; i < count; ++i) {
    const ir::Graph graph = test::random_graph(random, options);
    const auto inputs = test::random_inputs(random, graph);
    const auto scalars = test::random_scalars(random, graph);
    const Outcome expected = run_interpreter(graph, inputs, scalars);
    for (const auto target : {jit::Target::kX86_64_v3, jit::Target::kX86_64_v4}) {
      if (target == jit::Target::kX86_64_v4 &&
          runtime::isa_level() != runtime::IsaLevel::kX86_64_v4) {
        continue;
      }
      constexpr int kThreads[] = {1, 2, 3, 7};
      runtime::set_num_threads(test::pick(random, kThreads));
      const BuildOptions build = random_build(random, target);
      std::string context =
          format("graph {} of seed {}, {}, without", i, seed, jit::to_string(target));
      for (const std::string& pass : build.passes.disabled) context += " " + pass;
      context += "\n" + ir::print(graph);
      const Outcome actual = run(random, graph, inputs, scalars, build);
      ASSERT_EQ(actual.failed, expected.failed) << context;
      ASSERT_EQ(actual.results.size(), expected.results.size()) << context;
      for (size_t k = 0; k < expected.results.size(); ++k) {
        ASSERT_TRUE(same_bits(actual.results[k], expected.results[k])) << "result " << k << "\n"
                                                                       << context;
      }
    }
  }
  runtime::set_num_threads(threads);
}

TEST(SameBits, SmallGraphsOfEverything) {
  check_graphs(1, 120, {.positions = true, .scans = true, .checks = true});
}

TEST(SameBits, VectorsAndTheirRemainders) {
  check_graphs(2, 120,
               {.nodes = 10,
                .max_rank = 1,
                .max_size = 130,
                .max_elements = 130,
                .positions = true,
                .scans = true});
}

TEST(SameBits, Matrices) {
  check_graphs(3, 80,
               {.nodes = 12,
                .max_rank = 2,
                .max_size = 70,
                .max_elements = 3000,
                .positions = true,
                .scans = true});
}

TEST(SameBits, ElementwiseOnly) {
  check_graphs(4, 120,
               {.nodes = 15,
                .max_rank = 2,
                .max_size = 40,
                .max_elements = 800,
                .windows = false,
                .updates = false,
                .reductions = false});
}

TEST(SameBits, BlocksOfReductions) {
  check_graphs(5, 60,
               {.nodes = 4,
                .max_rank = 2,
                .max_size = 2500,
                .max_elements = 6000,
                .updates = false,
                .positions = true,
                .scans = true,
                .dtypes = {DType::kBool, DType::kI32, DType::kF32, DType::kF64}});
}

// Rows so long that they are reduced range by range.
TEST(SameBits, LongRows) {
  using ir::Op;
  const int threads = runtime::num_threads();
  for (const DType dtype : {DType::kF32, DType::kF64, DType::kI16}) {
    for (const int64_t n : {131072, 200001}) {
      ir::Graph graph;
      ir::Builder builder(graph);
      const ir::Value x = builder.input("x", dtype, ir::Shape{2, n});
      const ir::Value positive =
          builder.apply(Op::kGreater, {x, builder.constant(Scalar::from_int(dtype, 3), {2, n})});
      for (const Op op :
           {Op::kSum, Op::kProd, Op::kMin, Op::kMax, Op::kDeviations, Op::kArgMin, Op::kArgMax}) {
        if (!ir::contains(ir::spec(op).accepts, dtype)) continue;
        graph.outputs.push_back(builder.reduce(op, x, {1}));
        graph.outputs.push_back(builder.reduce(op, x, {0, 1}));
      }
      graph.outputs.push_back(builder.reduce(Op::kAny, positive, {0, 1}));
      graph.outputs.push_back(builder.reduce(Op::kAll, positive, {0, 1}));
      graph.outputs.push_back(builder.scan(Op::kCumulativeSum, x, 1));
      Random random(static_cast<uint64_t>(n));
      const auto inputs = test::random_inputs(random, graph);
      const Outcome expected = run_interpreter(graph, inputs, {});
      for (const int count : {1, 2, 3, 7}) {
        runtime::set_num_threads(count);
        for (const auto target : {jit::Target::kX86_64_v3, jit::Target::kX86_64_v4}) {
          if (target == jit::Target::kX86_64_v4 &&
              runtime::isa_level() != runtime::IsaLevel::kX86_64_v4) {
            continue;
          }
          const Outcome actual = run(random, graph, inputs, {}, {.passes = {}, .target = target});
          for (size_t k = 0; k < expected.results.size(); ++k) {
            EXPECT_TRUE(same_bits(actual.results[k], expected.results[k]))
                << "result " << k << " of " << n << " " << to_string(dtype) << ", " << count
                << " threads";
          }
        }
      }
    }
  }
  runtime::set_num_threads(threads);
}

}  // namespace
}  // namespace lanewise::frontend
