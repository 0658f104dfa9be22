#include "ir/interpret_program.h"

#include <algorithm>
#include <array>
#include <memory>

#include "ir/builder.h"
#include "ir/index_map.h"
#include "ir/interpret.h"
#include "ir/passes/schedule.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

namespace {

// A buffer while the program runs: which elements have been stored, and whether it began with the
// contents of another.
struct Memory {
  std::shared_ptr<Tensor> tensor;
  std::vector<bool> stored;
  bool started = false;
};

class ProgramInterpreter {
 public:
  ProgramInterpreter(const Program& program, std::span<const Tensor> inputs,
                     std::span<const Scalar> scalars, const InterpretOptions& options)
      : program_(program), scalars_(scalars), options_(options), memory_(program.buffers.size()) {
    std::vector<std::vector<int64_t>> shapes;
    for (const Tensor& input : inputs) shapes.push_back(input.shape);
    symbols_ = bind_symbols(program.inputs, shapes);
    for (size_t i = 0; i < program.buffers.size(); ++i) {
      const Buffer& buffer = program.buffers[i];
      if (buffer.kind == Buffer::Kind::kInput) {
        memory_[i].tensor = std::make_shared<Tensor>(inputs[static_cast<size_t>(buffer.index)]);
        memory_[i].started = true;
      } else if (buffer.kind != Buffer::Kind::kBlock) {
        memory_[i] = fresh(buffer.dtype, evaluate(buffer.shape, symbols_));
      }
    }
  }

  std::vector<Tensor> run();

 private:
  static Memory fresh(DType dtype, std::vector<int64_t> shape) {
    Memory memory{std::make_shared<Tensor>(dtype, std::move(shape)), {}, false};
    memory.stored.assign(static_cast<size_t>(memory.tensor->element_count()), false);
    return memory;
  }

  void run_step(const Step& step);
  void run_blocks(std::span<const Kernel> kernels);
  void run_kernel(const Kernel& kernel);
  void start(int buffer);
  Memory& memory(int buffer) { return memory_[static_cast<size_t>(buffer)]; }

  // The domain, of which only the present block of the outermost loop.
  void set_domain(const Kernel& kernel);
  std::vector<int64_t> numbers(const AxisIndex& index) const;
  std::vector<int64_t> positions(const Operand& operand);

  Tensor evaluate_node(const Kernel& kernel, const Node& node, const std::vector<Tensor>& values);
  Tensor load(const Node& node, const Operand& operand);
  Tensor reduce(const Kernel& kernel, const Node& node, const Tensor& operand) const;
  Tensor scan(const Kernel& kernel, const Node& node, const Tensor& operand) const;
  void store(const Operand& operand, const Tensor& value);
  void require(const FirstFailure& check);

  const Program& program_;
  std::span<const Scalar> scalars_;
  const InterpretOptions options_;
  SymbolValues symbols_;
  std::vector<Memory> memory_;
  bool in_block_ = false;
  int64_t block_start_ = 0;
  int64_t block_size_ = 0;
  std::vector<int64_t> domain_;
  int64_t points_ = 0;
};

void ProgramInterpreter::set_domain(const Kernel& kernel) {
  domain_ = evaluate(kernel.domain, symbols_);
  if (in_block_) domain_[0] = block_size_;
  points_ = 1;
  for (const int64_t size : domain_) points_ *= size;
}

// The index at each point of the domain.
std::vector<int64_t> ProgramInterpreter::numbers(const AxisIndex& index) const {
  std::vector<int64_t> result(static_cast<size_t>(points_), index.offset.evaluate(symbols_));
  for (const auto& term : index.terms) {
    const int64_t step = term.step.evaluate(symbols_);
    const auto loop = static_cast<size_t>(term.loop);
    int64_t period = 1;
    for (size_t inner = loop + 1; inner < domain_.size(); ++inner) period *= domain_[inner];
    const int64_t first = in_block_ && loop == 0 ? block_start_ : 0;
    for (int64_t point = 0; point < points_; ++point) {
      const int64_t trip = first + point / period % domain_[loop];
      result[static_cast<size_t>(point)] += step * trip;
    }
  }
  return result;
}

// Where the operand lies in its buffer, in row-major order, at each point of the domain.
std::vector<int64_t> ProgramInterpreter::positions(const Operand& operand) {
  const Buffer& buffer = program_.buffers[static_cast<size_t>(operand.buffer)];
  if (!buffer.contiguous && operand.shape != buffer.shape) {
    throw InternalError("a buffer with gaps seen in another shape");
  }
  const std::vector<int64_t> shape = evaluate(operand.shape, symbols_);
  std::vector<int64_t> result(static_cast<size_t>(points_), 0);
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const std::vector<int64_t> index = numbers(operand.axes[axis]);
    const bool of_block = axis == 0 && buffer.kind == Buffer::Kind::kBlock;
    const int64_t first = of_block ? block_start_ : 0;
    const int64_t size = of_block ? block_size_ : shape[axis];
    for (size_t point = 0; point < index.size(); ++point) {
      if (index[point] < first || index[point] >= first + size) {
        throw InternalError(format("index {} of an axis of {}", index[point], size));
      }
      result[point] = result[point] * size + index[point] - first;
    }
  }
  return result;
}

Tensor ProgramInterpreter::load(const Node& node, const Operand& operand) {
  Tensor result(node.dtype, domain_);
  const std::vector<int64_t> from = positions(operand);
  const Memory& source = memory(operand.buffer);
  for (int64_t point = 0; point < points_; ++point) {
    const int64_t position = from[static_cast<size_t>(point)];
    if (!source.started && !source.stored[static_cast<size_t>(position)]) {
      throw InternalError(format("element {} is loaded before it is stored", position));
    }
    result.set_element(point, source.tensor->element(position));
  }
  return result;
}

// Repeated along the reduced loops.
Tensor ProgramInterpreter::reduce(const Kernel& kernel, const Node& node,
                                  const Tensor& operand) const {
  Graph graph;
  Builder builder(graph);
  const Shape shape(std::vector<Dim>(domain_.begin(), domain_.end()));
  std::vector<int> axes;
  for (int axis = shape.rank() - kernel.reduced; axis < shape.rank(); ++axis) axes.push_back(axis);
  const Value result = builder.reduce(node.op, builder.input("x", operand.dtype, shape), axes);
  std::vector<Dim> strides = row_major_strides(builder[result].shape);
  strides.resize(domain_.size(), 0);
  graph.outputs = {builder.window(result, shape, Window{0, strides})};
  return interpret(graph, {&operand, 1})[0];
}

// Along the reduced loops as one.
Tensor ProgramInterpreter::scan(const Kernel& kernel, const Node& node,
                                const Tensor& operand) const {
  Graph graph;
  Builder builder(graph);
  const Shape shape(std::vector<Dim>(domain_.begin(), domain_.end()));
  int64_t row = 1;
  for (int axis = shape.rank() - kernel.reduced; axis < shape.rank(); ++axis) {
    row *= domain_[static_cast<size_t>(axis)];
  }
  const Value all = builder.input("x", operand.dtype, shape);
  const Value rows = builder.window(all, Shape{points_ / row, row}, Window{0, {row, 1}});
  graph.outputs = {
      builder.window(builder.scan(node.op, rows, 1), shape, Window{0, row_major_strides(shape)})};
  return interpret(graph, {&operand, 1})[0];
}

Tensor ProgramInterpreter::evaluate_node(const Kernel& kernel, const Node& node,
                                         const std::vector<Tensor>& values) {
  Tensor result(node.dtype, domain_);
  const auto fill = [&](Scalar scalar) {
    for (int64_t point = 0; point < points_; ++point) result.set_element(point, scalar);
  };
  if (is_elementwise(node.op)) {
    std::array<const std::byte*, kMaxArity> operands{};
    const auto inputs = node.inputs();
    for (size_t i = 0; i < inputs.size(); ++i) operands[i] = values[inputs[i].index].data.data();
    interpret_elements(node, values[inputs.back().index].dtype, {operands.data(), inputs.size()},
                       result.data.data(), points_);
  } else if (node.op == Op::kConstant) {
    fill(node.get<Scalar>());
  } else if (node.op == Op::kScalar) {
    const int number = kernel.scalars[static_cast<size_t>(node.get<Slot>().index)];
    fill(scalars_[static_cast<size_t>(number)]);
  } else if (node.op == Op::kIota) {
    const Operand& operand = kernel.operands[static_cast<size_t>(node.get<Slot>().index)];
    const std::vector<int64_t> index = numbers(operand.axes[0]);
    for (int64_t point = 0; point < points_; ++point) {
      result.set_element(point, Scalar::from_int(node.dtype, index[static_cast<size_t>(point)]));
    }
  } else if (node.op == Op::kLoad) {
    return load(node, kernel.operands[static_cast<size_t>(node.get<Slot>().index)]);
  } else if (is_reduction(node.op)) {
    return reduce(kernel, node, values[node.operands[0].index]);
  } else if (is_scan(node.op)) {
    return scan(kernel, node, values[node.operands[0].index]);
  } else {
    throw InternalError(format("{}: has no meaning in a kernel", node.op));
  }
  return result;
}

// Gives a buffer the contents it starts with, before the first store.
void ProgramInterpreter::start(int buffer) {
  Memory& target = memory(buffer);
  const int base = program_.buffers[static_cast<size_t>(buffer)].starts_as;
  if (target.started || base < 0) return;
  target.started = true;
  if (options_.in_place && can_start_in_place(program_, buffer)) {
    target.tensor = memory(base).tensor;
  } else {
    *target.tensor = *memory(base).tensor;
  }
}

void ProgramInterpreter::store(const Operand& operand, const Tensor& value) {
  start(operand.buffer);
  Memory& target = memory(operand.buffer);
  const std::vector<int64_t> to = positions(operand);
  const bool each_block = !names({operand.shape, operand.axes}, 0);
  std::vector<bool> here(target.stored.size(), each_block);
  for (int64_t point = 0; point < points_; ++point) {
    const int64_t at = to[static_cast<size_t>(point)];
    const auto position = static_cast<size_t>(at);
    const Scalar element = value.element(point);
    // The same at each point of loops that the operand does not name.
    const bool again = here[position] && same_bits(target.tensor->element(at), element);
    if (target.stored[position] && !again) {
      throw InternalError(format("element {} is stored twice", at));
    }
    here[position] = target.stored[position] = true;
    target.tensor->set_element(at, element);
  }
}

void ProgramInterpreter::run_kernel(const Kernel& kernel) {
  set_domain(kernel);
  std::vector<Tensor> values;
  for (const Node& node : kernel.body.nodes()) {
    values.push_back(evaluate_node(kernel, node, values));
  }
  for (const Store& one : kernel.stores) {
    store(kernel.operands[static_cast<size_t>(one.operand)], values[one.value.index]);
  }
}

// All of them on a block of the outermost loop, then on the next.
void ProgramInterpreter::run_blocks(std::span<const Kernel> kernels) {
  in_block_ = true;
  const int64_t trips = kernels[0].domain[0].evaluate(symbols_);
  for (block_start_ = 0; block_start_ < trips; block_start_ += options_.block) {
    block_size_ = std::min(options_.block, trips - block_start_);
    for (size_t i = 0; i < memory_.size(); ++i) {
      const Buffer& buffer = program_.buffers[i];
      if (buffer.kind != Buffer::Kind::kBlock) continue;
      std::vector<int64_t> shape = evaluate(buffer.shape, symbols_);
      shape[0] = block_size_;
      memory_[i] = fresh(buffer.dtype, std::move(shape));
    }
    for (const Kernel& kernel : kernels) run_kernel(kernel);
  }
  in_block_ = false;
}

void ProgramInterpreter::run_step(const Step& step) {
  if (step.blocked) return run_blocks(step.kernels);
  for (const Kernel& kernel : step.kernels) {
    if (kernel.domain.rank() > kernel.reduced) {
      run_blocks({&kernel, 1});
    } else {
      run_kernel(kernel);
    }
  }
}

void ProgramInterpreter::require(const FirstFailure& check) {
  const int64_t first = memory(check.buffer).tensor->at<int64_t>(0);
  if (first == FirstFailure::kNone) return;
  const std::vector<int64_t> position = unravel(first, evaluate(check.shape, symbols_));
  throw ValueError(position.empty()
                       ? check.message
                       : format("{} at element {}", check.message, format_tuple(position)));
}

std::vector<Tensor> ProgramInterpreter::run() {
  for (size_t i = 0; i < program_.steps.size(); ++i) {
    run_step(program_.steps[i]);
    if (static_cast<int>(i) + 1 != program_.check_steps) continue;
    for (const FirstFailure& check : program_.checks) require(check);
  }
  std::vector<Tensor> results;
  for (const int output : program_.outputs) {
    start(output);
    const Memory& result = memory(output);
    if (!result.started && std::ranges::find(result.stored, false) != result.stored.end()) {
      throw InternalError("an element of a result is not stored");
    }
    results.push_back(*result.tensor);
  }
  return results;
}

}  // namespace

std::vector<Tensor> interpret(const Program& program, std::span<const Tensor> inputs,
                              std::span<const Scalar> scalars, const InterpretOptions& options) {
  return ProgramInterpreter(program, inputs, scalars, options).run();
}

}  // namespace lanewise::ir
