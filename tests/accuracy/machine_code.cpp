#include "tests/accuracy/machine_code.h"

#include "ir/builder.h"
#include "ir/passes/pipeline.h"
#include "runtime/nest.h"
#include "support/error.h"

namespace lanewise::accuracy {

namespace {

constexpr int64_t kSize = 1 << 20;  // of the traced arrays; code is for any size

// Arrays without gaps, far from each other.
runtime::Layout layout_of(const ir::Kernel& kernel, int64_t size) {
  runtime::Nest nest{.sizes = {kSize}, .reduced = 0, .operands = {}};
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    runtime::NestOperand& operand = nest.operands.emplace_back();
    operand.base = static_cast<intptr_t>(i + 1) << 32;
    operand.strides = {size};
    operand.element_size = static_cast<int>(size);
    operand.written = i + 1 == kernel.operands.size();
  }
  return classify(simplify(nest));
}

}  // namespace

ir::Program program_of(const Function& function, DType dtype) {
  ir::Graph graph;
  ir::Builder builder(graph);
  const ir::Value x = builder.input("x", dtype, {ir::Dim(kSize)});
  if (function.op == ir::Op::kPowConst) {
    graph.outputs = {builder.apply(function.op, {x}, ir::Exponent{function.exponent})};
  } else if (function.arity() == 1) {
    graph.outputs = {builder.apply(function.op, {x})};
  } else {
    graph.outputs = {builder.apply(function.op, {x, builder.input("y", dtype, {ir::Dim(kSize)})})};
  }
  return ir::lower(std::move(graph));
}

MachineCode::MachineCode(const Function& function, const ir::Program& program, jit::Target target)
    : arity_(function.arity()), size_(size_of(program.inputs.at(0).dtype)) {
  const ir::Kernel& kernel = program.steps.at(0).kernels.at(0);
  for (size_t i = 0; i < kernel.operands.size(); ++i) {  // x, perhaps y, the result
    if (kernel.operands[i].buffer != static_cast<int>(i)) {
      throw InternalError("accuracy: a kernel's operands are not in the order of its arguments");
    }
  }
  code_ = jit::compile(kernel, program, layout_of(kernel, size_), target);
}

void MachineCode::run(const void* x, const void* y, void* result, size_t count) const {
  const auto address = [](const void* p) { return reinterpret_cast<intptr_t>(p); };
  const intptr_t one[] = {address(x), address(result)};
  const intptr_t two[] = {address(x), address(y), address(result)};
  const int64_t strides[] = {size_, size_, size_};
  const auto size = static_cast<int64_t>(count);
  const runtime::KernelArguments arguments{arity_ == 1 ? one : two, strides, &size, nullptr};
  code_->entry()(&arguments);
}

}  // namespace lanewise::accuracy
