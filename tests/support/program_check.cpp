#include "tests/support/program_check.h"

#include <gtest/gtest.h>

#include <limits>

#include "ir/interpret_program.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace lanewise::test {

using namespace ir;

namespace {

template <class T>
T random_element(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 != 0;
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<int64_t>(random() % 21) - 10);
  } else {
    switch (random() % 64) {
      case 0:
        return std::numeric_limits<T>::quiet_NaN();
      case 1:
        return std::numeric_limits<T>::infinity();
      case 2:
        return T{0};
      case 3:
        return -T{0};
      default:
        return static_cast<T>(static_cast<double>(random() % 20001) / 1e4 - 1);
    }
  }
}

}  // namespace

Tensor random_tensor(DType dtype, std::vector<int64_t> shape, std::mt19937_64& random) {
  Tensor tensor(dtype, std::move(shape));
  visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    for (T& element : tensor.values<T>()) element = random_element<T>(random);
  });
  return tensor;
}

std::vector<Tensor> random_inputs(const Graph& graph, const SymbolValues& symbols,
                                  std::mt19937_64& random) {
  std::vector<Tensor> inputs;
  for (const Parameter& input : graph.inputs) {
    inputs.push_back(random_tensor(input.dtype, evaluate(input.shape, symbols), random));
  }
  return inputs;
}

std::vector<Scalar> random_scalars(const Graph& graph, std::mt19937_64& random) {
  std::vector<Scalar> scalars;
  for (const DType dtype : graph.scalars) {
    visit_dtype(dtype, [&](auto zero) {
      scalars.push_back(Scalar::of(random_element<decltype(zero)>(random)));
    });
  }
  return scalars;
}

Program fuse_and_check(const Graph& graph, const SymbolValues& symbols,
                       const FuseOptions& options) {
  const Program program = fuse(graph, options);
  const auto problem = find_problem(program);
  EXPECT_FALSE(problem.has_value()) << problem->message << "\n" << print(program);
  EXPECT_EQ(parse_program(print(program)), program) << print(program);
  std::mt19937_64 random(graph.size());
  const std::vector<Tensor> inputs = random_inputs(graph, symbols, random);
  const std::vector<Scalar> scalars = random_scalars(graph, random);
  const std::vector<Tensor> expected = interpret(graph, inputs, scalars);
  const std::vector<Tensor> actual = interpret(program, inputs, scalars);
  EXPECT_EQ(expected.size(), actual.size());
  for (size_t i = 0; i < std::min(expected.size(), actual.size()); ++i) {
    EXPECT_TRUE(same_bits(expected[i], actual[i]))
        << "result " << i << " of\n" << print(graph) << print(program);
  }
  return program;
}

bool same_code(const Kernel& a, const Kernel& b) {
  const auto same_operand = [](const Operand& x, const Operand& y) {
    const bool numbers = (x.buffer == Operand::kIndex) == (y.buffer == Operand::kIndex);
    return numbers && x.shape == y.shape && x.axes == y.axes;
  };
  return a.domain == b.domain && a.reduced == b.reduced &&
         std::ranges::equal(a.operands, b.operands, same_operand) &&
         a.scalars.size() == b.scalars.size() && a.stores == b.stores &&
         std::ranges::equal(a.body.nodes(), b.body.nodes(), same);
}

size_t count_codes(const Program& program) {
  std::vector<const Kernel*> codes;
  for (const Step& step : program.steps) {
    for (const Kernel& kernel : step.kernels) {
      const auto equal = [&](const Kernel* other) { return same_code(kernel, *other); };
      if (std::ranges::none_of(codes, equal)) codes.push_back(&kernel);
    }
  }
  return codes.size();
}

size_t count_kernels(const Program& program) {
  size_t count = 0;
  for (const Step& step : program.steps) count += step.kernels.size();
  return count;
}

}  // namespace lanewise::test
