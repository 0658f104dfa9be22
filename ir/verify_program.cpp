#include <set>

#include "ir/detail/kernel_rules.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/error.h"

namespace lanewise::ir {

namespace {

using detail::Complaint;
using detail::complaint;

// ---- the program ---------------------------------------------------------------------------

Complaint check_buffer(const Program& program, size_t i) {
  const Buffer& buffer = program.buffers[i];
  if (Complaint bad = detail::check_sizes(buffer.shape)) return bad;
  const bool is_input = buffer.kind == Buffer::Kind::kInput;
  if (is_input != (i < program.inputs.size())) {
    return complaint("the first buffers are the inputs, in order");
  }
  if (is_input) {
    const Parameter& parameter = program.inputs[i];
    if (buffer.index != static_cast<int>(i) || buffer.dtype != parameter.dtype ||
        buffer.shape != parameter.shape || buffer.contiguous != parameter.contiguous) {
      return complaint("the buffer of input '{}' differs from it", parameter.name);
    }
  } else if (buffer.kind != Buffer::Kind::kOutput && buffer.index != 0) {
    return complaint("a temporary has a number");
  }
  if (buffer.starts_as < 0) return {};
  if (is_input || static_cast<size_t>(buffer.starts_as) >= i) {
    return complaint("a buffer starts as one that does not come before it");
  }
  const Buffer& start = program.buffers[static_cast<size_t>(buffer.starts_as)];
  if (start.dtype != buffer.dtype || start.shape != buffer.shape) {
    return complaint("a buffer of {}{} starts as one of {}{}", buffer.dtype, buffer.shape,
                     start.dtype, start.shape);
  }
  return {};
}

Complaint check_outputs(const Program& program) {
  std::vector<int> times(program.outputs.size(), 0);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.kind != Buffer::Kind::kOutput) continue;
    const auto number = static_cast<size_t>(buffer.index);
    if (number >= times.size()) {
      return complaint("output {} of {}", buffer.index, times.size());
    }
    if (++times[number] > 1) return complaint("two buffers are output {}", number);
    const auto self = static_cast<int>(&buffer - program.buffers.data());
    if (program.outputs[number] != self) return complaint("output {} is another buffer", number);
  }
  for (const int output : program.outputs) {
    if (static_cast<size_t>(output) >= program.buffers.size()) {
      return complaint("a result is no buffer");
    }
    const Buffer::Kind kind = program.buffers[static_cast<size_t>(output)].kind;
    if (kind != Buffer::Kind::kInput && kind != Buffer::Kind::kOutput) {
      return complaint("a result is a temporary");
    }
  }
  return {};
}

Complaint check_checks(const Program& program) {
  const int steps = program.check_steps;
  if (steps < 0 || steps > static_cast<int>(program.steps.size()) ||
      (program.checks.empty() && steps != 0)) {
    return complaint("{} steps decide the checks", steps);
  }
  for (const FirstFailure& check : program.checks) {
    if (static_cast<size_t>(check.buffer) >= program.buffers.size()) {
      return complaint("check: no buffer");
    }
    const Buffer& buffer = program.buffers[static_cast<size_t>(check.buffer)];
    if (buffer.kind != Buffer::Kind::kTemporary || buffer.dtype != DType::kI64 ||
        buffer.shape.rank() != 0) {
      return complaint("check: the buffer is no temporary i64");
    }
  }
  for (int i = 0; i < steps; ++i) {
    for (const Kernel& kernel : program.steps[static_cast<size_t>(i)].kernels) {
      for (const Store& store : kernel.stores) {
        const int buffer = kernel.operands[static_cast<size_t>(store.operand)].buffer;
        if (program.buffers[static_cast<size_t>(buffer)].kind == Buffer::Kind::kOutput) {
          return complaint("an output is stored before the checks");
        }
      }
    }
  }
  return {};
}

// Follows what the steps store and load. Each kernel has been found right by itself.
class FlowChecker {
 public:
  explicit FlowChecker(const Program& program)
      : program_(program),
        stored_(program.buffers.size()),
        block_step_(program.buffers.size(), -1) {
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      stored_[i] =
          program.buffers[i].kind == Buffer::Kind::kInput || program.buffers[i].starts_as >= 0;
    }
  }

  std::optional<Problem> find() {
    int number = 0;
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      for (const Kernel& kernel : step.kernels) {
        Complaint bad = check_kernel(kernel, static_cast<int>(i), step);
        if (!bad && step.blocked) bad = check_blocked(kernel, step);
        if (bad) return Problem{*bad, number};
        ++number;
      }
    }
    return std::nullopt;
  }

 private:
  Complaint check_kernel(const Kernel& kernel, int step_number, const Step& step) {
    std::vector<bool> stores(kernel.operands.size());
    for (const Store& store : kernel.stores) stores[static_cast<size_t>(store.operand)] = true;
    for (size_t i = 0; i < kernel.operands.size(); ++i) {
      const int index = kernel.operands[i].buffer;
      if (index == Operand::kIndex) continue;
      const auto buffer = static_cast<size_t>(index);
      if (program_.buffers[buffer].kind == Buffer::Kind::kBlock) {
        if (!step.blocked) return complaint("a block outside a blocked step");
        if (block_step_[buffer] < 0) block_step_[buffer] = step_number;
        if (block_step_[buffer] != step_number) return complaint("a block of another step");
      }
      if (!stores[i]) {
        if (!stored_[buffer]) return complaint("a buffer is loaded before it is stored");
      } else if (program_.buffers[buffer].kind == Buffer::Kind::kInput) {
        return complaint("an input is stored");
      }
    }
    for (size_t i = 0; i < kernel.operands.size(); ++i) {
      if (stores[i]) stored_[static_cast<size_t>(kernel.operands[i].buffer)] = true;
    }
    return {};
  }

  Complaint check_blocked(const Kernel& kernel, const Step& step) const {
    const Kernel& first = step.kernels[0];
    const bool has_loop = kernel.domain.rank() > kernel.reduced;
    if (has_loop && kernel.domain[0] == first.domain[0]) return {};
    return complaint("kernels of a blocked step differ in the first loop");
  }

  const Program& program_;
  std::vector<bool> stored_;
  std::vector<int> block_step_;  // the step that uses a block
};

}  // namespace

std::optional<Problem> find_problem(const Program& program) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : program.inputs) {
    if (!names.insert(parameter.name).second) {
      return Problem{format("two parameters are named '{}'", parameter.name)};
    }
  }
  if (program.buffers.size() < program.inputs.size()) return Problem{"an input has no buffer"};
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    if (const Complaint bad = check_buffer(program, i)) return Problem{*bad};
  }
  if (const Complaint bad = check_outputs(program)) return Problem{*bad};
  int number = 0;
  for (const Step& step : program.steps) {
    for (const Kernel& kernel : step.kernels) {
      if (auto problem = detail::find_problem(program, kernel, number++)) return problem;
    }
  }
  if (const Complaint bad = check_checks(program)) return Problem{*bad};
  return FlowChecker(program).find();
}

void verify(const Program& program, std::string_view after) {
  if (const auto problem = find_problem(program)) {
    const std::string place =
        problem->kernel >= 0 ? format(" (kernel {})", problem->kernel) : std::string();
    throw InternalError(format("invalid program after {}: {}{}", after, problem->message, place),
                        print(program));
  }
}

}  // namespace lanewise::ir
