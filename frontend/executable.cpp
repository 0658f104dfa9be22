#include "frontend/executable.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "frontend/evaluate.h"
#include "frontend/strides.h"
#include "frontend/workspace.h"
#include "ir/passes/fuse.h"
#include "ir/reduction_order.h"
#include "ir/scan_order.h"
#include "runtime/copy.h"
#include "runtime/launch.h"
#include "runtime/transpose.h"
#include "support/error.h"
#include "support/format.h"
#include "support/inline_array.h"

namespace lanewise::frontend {

namespace {

using ir::Buffer;

// Work that takes less than this by estimate runs while holding the host's lock.
constexpr double kSmallNanoseconds = 20e3;

// Axes of one element may have any stride.
bool is_row_major(const ArrayLayout& layout, const Shape& shape, DType dtype) {
  const std::vector<int64_t> expected = row_major_byte_strides(shape, dtype);
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    if (layout.strides[i] != expected[i] && !shape[axis].is(1)) return false;
  }
  return true;
}

// Nests compare bases to see which operands are columns of the same rows; where addresses are not
// known yet, each buffer gets a number far from the others.
intptr_t placeholder(int origin) { return (intptr_t{origin} + 1) << 44; }

// Copies to make before a step: an update's buffer starts with the contents of another.
struct InitialCopy {
  int to, from;
};

struct PreparedStep {
  std::vector<std::shared_ptr<const jit::Code>> code;  // kept alive for the launches
  std::vector<runtime::PreparedLaunch> launches;
  std::optional<runtime::PreparedBlocks> blocks;
  std::vector<InitialCopy> copies;
};

// The strides of every buffer, and the nests of kernels in terms of them.
class Layouts {
 public:
  Layouts(const ir::Program& program, std::span<const ArrayLayout> inputs,
          std::span<const ArrayLayout> outputs)
      : program_(program), inputs_(inputs) {
    for (const Buffer& buffer : program.buffers) {
      const auto index = static_cast<size_t>(buffer.index);
      const ArrayLayout* given = nullptr;
      if (buffer.kind == Buffer::Kind::kInput) given = &inputs[index];
      if (buffer.kind == Buffer::Kind::kOutput && index < outputs.size()) given = &outputs[index];
      const bool is_given = given && static_cast<int>(given->strides.size()) == buffer.shape.rank();
      strides_.push_back(is_given ? given->strides
                                  : row_major_byte_strides(buffer.shape, buffer.dtype));
    }
  }

  const std::vector<int64_t>& strides(int buffer) const {
    return strides_[static_cast<size_t>(buffer)];
  }

  // Which address of a run the operands on `buffer` count from, and how far behind it the
  // buffer begins.
  std::pair<int, int64_t> origin(int buffer) const {
    const Buffer& b = program_.buffers[static_cast<size_t>(buffer)];
    if (b.kind != Buffer::Kind::kInput) return {buffer, 0};
    const ArrayLayout& layout = inputs_[static_cast<size_t>(b.index)];
    if (layout.part_of < 0) return {buffer, 0};
    return {input_buffer(layout.part_of), layout.offset};
  }

  // The nest of a kernel. Bases: placeholder(origin) + bytes behind it.
  runtime::Nest nest(const ir::Kernel& kernel) const {
    runtime::Nest nest;
    nest.sizes = constant_sizes(kernel.domain);
    nest.reduced = kernel.reduced;
    for (const ir::Operand& operand : kernel.operands)
      nest.operands.push_back(place(operand, kernel));
    for (const ir::Store& store : kernel.stores) {
      nest.operands[static_cast<size_t>(store.operand)].written = true;
    }
    return nest;
  }

 private:
  runtime::NestOperand place(const ir::Operand& operand, const ir::Kernel& kernel) const {
    runtime::NestOperand result;
    result.strides.assign(static_cast<size_t>(kernel.domain.rank()), 0);
    std::vector<int64_t> axis_strides{1};  // of an index: the number itself
    if (operand.buffer != ir::Operand::kIndex) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(operand.buffer)];
      result.element_size = size_of(buffer.dtype);
      const auto [first, offset] = origin(operand.buffer);
      result.base = placeholder(first) + offset;
      axis_strides = operand.shape == buffer.shape
                         ? strides(operand.buffer)
                         : row_major_byte_strides(operand.shape, buffer.dtype);
    }
    for (size_t axis = 0; axis < operand.axes.size(); ++axis) {
      result.base += operand.axes[axis].offset.value() * axis_strides[axis];
      for (const auto& term : operand.axes[axis].terms) {
        result.strides[static_cast<size_t>(term.loop)] += term.step.value() * axis_strides[axis];
      }
    }
    return result;
  }

  int input_buffer(int input) const {
    const auto found = std::ranges::find_if(program_.buffers, [&](const Buffer& buffer) {
      return buffer.kind == Buffer::Kind::kInput && buffer.index == input;
    });
    return static_cast<int>(found - program_.buffers.begin());
  }

  const ir::Program& program_;
  std::span<const ArrayLayout> inputs_;
  std::vector<std::vector<int64_t>> strides_;
};

// A guess of the time of one point, which runs correct.
double nanoseconds_per_point(const ir::Kernel& kernel) {
  return 0.05 * static_cast<double>(kernel.body.size() + kernel.operands.size());
}

// Whether a step can run on block after block of its one loop. Others run kernel after kernel,
// their block buffers as ordinary temporaries.
bool is_blockable(const ir::Step& step) {
  return step.blocked && std::ranges::all_of(step.kernels, [](const ir::Kernel& kernel) {
           return kernel.domain.rank() == 1 && kernel.reduced == 0;
         });
}

// Buffers that only ever hold one block, in memory that PreparedBlocks provides.
std::vector<bool> scratch_buffers(const ir::Program& program) {
  std::vector<bool> in_scratch(program.buffers.size(), false);
  for (const ir::Step& step : program.steps) {
    if (!is_blockable(step)) continue;
    for (const ir::Kernel& kernel : step.kernels) {
      for (const ir::Operand& operand : kernel.operands) {
        if (operand.buffer == ir::Operand::kIndex) continue;
        const auto b = static_cast<size_t>(operand.buffer);
        in_scratch[b] = program.buffers[b].kind == Buffer::Kind::kBlock;
      }
    }
  }
  return in_scratch;
}

class ProgramExecutable final : public Executable {
 public:
  ProgramExecutable(ir::Program program, std::span<const ArrayLayout> inputs,
                    std::span<const ArrayLayout> outputs, jit::Target target)
      : target_(target),
        program_(std::move(program)),
        inputs_(inputs.begin(), inputs.end()),
        layouts_(program_, inputs_, outputs),
        workspace_(program_, scratch_buffers(program_)) {
    describe_outputs();
    for (const ir::Step& step : program_.steps) steps_.push_back(prepare(step));
    place_copies();
  }

  void run(const intptr_t* inputs, const uint64_t* scalars, const intptr_t* outputs) const override;
  bool is_small() const override { return estimate_ < kSmallNanoseconds; }
  const ir::Program& program() const override { return program_; }
  std::string llvm_ir() const override { return show(jit::llvm_ir); }
  std::string assembly() const override { return show(jit::assembly); }

 private:
  void describe_outputs();
  void find_aliases(OutputSpec& spec, int buffer) const;
  void place_copies();
  runtime::Nest prepared_nest(const ir::Kernel& kernel) const;
  runtime::Layout classify(const ir::Kernel& kernel, const runtime::Nest& nest) const;
  void prepare_ranges(const ir::Kernel& kernel, runtime::Layout layout, runtime::LaunchSpec& spec,
                      PreparedStep& step) const;
  runtime::LaunchSpec launch_spec(const ir::Kernel& kernel, runtime::Nest nest, PreparedStep& step);
  PreparedStep prepare(const ir::Step& step);
  void prepare_blocks(const ir::Step& source, PreparedStep& step);
  intptr_t address(int buffer_id, const intptr_t* inputs, const intptr_t* outputs,
                   intptr_t workspace) const;
  void copy_buffer(int from, int to, intptr_t from_address, intptr_t to_address) const;
  void copy_results(const intptr_t* addresses, const intptr_t* outputs) const;
  void check(const intptr_t* addresses) const;
  std::string show(std::string (*text)(const ir::Kernel&, const ir::Program&,
                                       const runtime::Layout&, jit::Target)) const;

  jit::Target target_;
  ir::Program program_;
  std::vector<ArrayLayout> inputs_;
  Layouts layouts_;
  Workspace workspace_;
  std::vector<PreparedStep> steps_;
  double estimate_ = 0;  // nanoseconds
};

// ---- preparing -----------------------------------------------------------------------------

void ProgramExecutable::describe_outputs() {
  for (const int id : program_.outputs) {
    const Buffer& buffer = program_.buffers[static_cast<size_t>(id)];
    OutputSpec spec{.dtype = buffer.dtype,
                    .shape = constant_sizes(buffer.shape),
                    .strides = layouts_.strides(id),
                    .bytes = buffer.shape.element_count().value() * size_of(buffer.dtype)};
    // An input that is returned as it is gets copied, to row-major memory unless told otherwise.
    if (buffer.kind == Buffer::Kind::kInput)
      spec.strides = row_major_byte_strides(buffer.shape, buffer.dtype);
    find_aliases(spec, id);
    if (buffer.kind == Buffer::Kind::kOutput) spec.starts_as = workspace_.updated_input(id);
    outputs_.push_back(std::move(spec));
  }
}

// Inputs that only the kernel reads that writes `id`, each element when it is written.
void ProgramExecutable::find_aliases(OutputSpec& spec, int id) const {
  const ir::Kernel* writer = nullptr;
  std::vector<int> readers(program_.buffers.size(), 0);
  for (const ir::Step& step : program_.steps) {
    for (const ir::Kernel& kernel : step.kernels) {
      std::vector<bool> seen(program_.buffers.size(), false);
      for (const ir::Operand& operand : kernel.operands) {
        if (operand.buffer == ir::Operand::kIndex) continue;
        const auto b = static_cast<size_t>(operand.buffer);
        if (!seen[b]) ++readers[b];
        seen[b] = true;
      }
      for (const ir::Store& store : kernel.stores) {
        const int stored = kernel.operands[static_cast<size_t>(store.operand)].buffer;
        if (workspace_.memory_of(stored) != workspace_.memory_of(id)) continue;
        if (writer) return;
        writer = &kernel;
      }
    }
  }
  if (!writer || writer->reduced > 0) return;
  const runtime::Nest nest = layouts_.nest(*writer);
  const auto stored = std::ranges::find_if(writer->stores, [&](const ir::Store& store) {
    return writer->operands[static_cast<size_t>(store.operand)].buffer == id;
  });
  if (stored == writer->stores.end()) return;
  const runtime::NestOperand& store = nest.operands[static_cast<size_t>(stored->operand)];
  for (size_t i = 0; i < writer->operands.size(); ++i) {
    const int b = writer->operands[i].buffer;
    if (b == ir::Operand::kIndex || readers[static_cast<size_t>(b)] > 1) continue;
    const Buffer& buffer = program_.buffers[static_cast<size_t>(b)];
    const runtime::NestOperand& load = nest.operands[i];
    const bool once = std::ranges::count(writer->operands, b, &ir::Operand::buffer) == 1;
    if (buffer.kind != Buffer::Kind::kInput || !once || load.strides != store.strides ||
        load.element_size != store.element_size) {
      continue;
    }
    const auto [load_origin, load_offset] = layouts_.origin(b);
    spec.may_alias.push_back(
        {buffer.index,
         (store.base - placeholder(id)) - (load.base - placeholder(load_origin) - load_offset)});
  }
}

// The nest of a kernel that runs by itself.
runtime::Nest ProgramExecutable::prepared_nest(const ir::Kernel& kernel) const {
  runtime::Nest nest = runtime::simplify(layouts_.nest(kernel));
  runtime::pack_transposed(nest);
  return nest;
}

runtime::Layout ProgramExecutable::classify(const ir::Kernel& kernel,
                                            const runtime::Nest& nest) const {
  runtime::Layout layout = runtime::classify(nest);
  // Blocks are read again from the cache.
  for (const ir::Store& store : kernel.stores) {
    const int buffer = kernel.operands[static_cast<size_t>(store.operand)].buffer;
    const bool is_block =
        program_.buffers[static_cast<size_t>(buffer)].kind == Buffer::Kind::kBlock;
    if (is_block) layout.streaming = false;
  }
  return layout;
}

// Rows that are few and long keep several threads busy only if each is reduced range by range.
void ProgramExecutable::prepare_ranges(const ir::Kernel& kernel, runtime::Layout layout,
                                       runtime::LaunchSpec& spec, PreparedStep& step) const {
  constexpr int64_t kFewRows = 64;
  constexpr int64_t kLongRow = 1 << 17;
  const std::vector<int64_t>& sizes = spec.nest.sizes;
  int64_t rows = 1;
  for (size_t loop = 0; loop + 1 < sizes.size(); ++loop) rows *= sizes[loop];
  if (layout.reduced != 1 || rows >= kFewRows || sizes.back() < kLongRow) return;
  const jit::RangeSupport support = jit::range_support(kernel, program_, layout, target_);
  if (support.state_bytes == 0) return;
  const auto code = [&](runtime::Portion portion) {
    layout.portion = portion;
    step.code.push_back(jit::compile(kernel, program_, layout, target_));
    return step.code.back()->entry();
  };
  static_assert(ir::kScanBlock == ir::kReductionBlock);
  spec.ranges = {.range = code(runtime::Portion::kRange),
                 .join = code(runtime::Portion::kJoin),
                 .state_bytes = support.state_bytes,
                 .granule = ir::kReductionBlock};
  if (support.resumes) spec.ranges->resume = code(runtime::Portion::kResume);
  if (rows > 1) return;
  std::vector<ir::Op> reductions;
  for (const ir::Node& node : kernel.body.nodes()) {
    if (ir::is_reduction(node.op)) reductions.push_back(node.op);
  }
  if (reductions == std::vector{ir::Op::kAny}) spec.ranges->decisive = true;
  if (reductions == std::vector{ir::Op::kAll}) spec.ranges->decisive = false;
}

runtime::LaunchSpec ProgramExecutable::launch_spec(const ir::Kernel& kernel, runtime::Nest nest,
                                                   PreparedStep& step) {
  const runtime::Layout layout = classify(kernel, nest);
  step.code.push_back(jit::compile(kernel, program_, layout, target_));
  runtime::LaunchSpec spec{.kernel = step.code.back()->entry(),
                           .nest = std::move(nest),
                           .origins = {},
                           .scalars = kernel.scalars,
                           .nanoseconds_per_point = nanoseconds_per_point(kernel)};
  prepare_ranges(kernel, layout, spec, step);
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    const int buffer = kernel.operands[i].buffer;
    if (buffer == ir::Operand::kIndex) {
      spec.origins.push_back(runtime::LaunchSpec::kAbsolute);
      continue;
    }
    const int origin = layouts_.origin(buffer).first;
    spec.origins.push_back(origin);
    spec.nest.operands[i].base -= placeholder(origin);
  }
  return spec;
}

PreparedStep ProgramExecutable::prepare(const ir::Step& source) {
  PreparedStep step;
  if (is_blockable(source)) {
    prepare_blocks(source, step);
    return step;
  }
  for (const ir::Kernel& kernel : source.kernels) {
    const runtime::LaunchSpec spec = launch_spec(kernel, prepared_nest(kernel), step);
    double points = 1;
    for (const int64_t size : spec.nest.sizes) points *= static_cast<double>(size);
    estimate_ += points * spec.nanoseconds_per_point;
    step.launches.emplace_back(spec);
  }
  return step;
}

void ProgramExecutable::prepare_blocks(const ir::Step& source, PreparedStep& step) {
  std::vector<runtime::LaunchSpec> specs;
  std::vector<int> scratch, scratch_sizes;
  const auto scratch_number = [&](int buffer) {
    const auto found = std::ranges::find(scratch, buffer);
    if (found == scratch.end()) {
      scratch.push_back(buffer);
      scratch_sizes.push_back(size_of(program_.buffers[static_cast<size_t>(buffer)].dtype));
      return static_cast<int>(scratch.size()) - 1;
    }
    return static_cast<int>(found - scratch.begin());
  };
  for (const ir::Kernel& kernel : source.kernels) {
    runtime::LaunchSpec spec = launch_spec(kernel, layouts_.nest(kernel), step);
    for (size_t i = 0; i < kernel.operands.size(); ++i) {
      const int buffer = kernel.operands[i].buffer;
      if (buffer == ir::Operand::kIndex) continue;
      if (program_.buffers[static_cast<size_t>(buffer)].kind == Buffer::Kind::kBlock) {
        spec.origins[i] = runtime::PreparedBlocks::scratch(scratch_number(buffer));
      }
    }
    estimate_ += static_cast<double>(spec.nest.sizes[0]) * spec.nanoseconds_per_point;
    specs.push_back(std::move(spec));
  }
  step.blocks.emplace(specs, std::move(scratch_sizes));
}

// An update's buffer gets the contents it starts with before the first step that writes it.
void ProgramExecutable::place_copies() {
  for (size_t b = 0; b < program_.buffers.size(); ++b) {
    const int from = program_.buffers[b].starts_as;
    const int to = static_cast<int>(b);
    if (from < 0 || workspace_.memory_of(from) == workspace_.memory_of(to)) continue;
    for (size_t s = 0; s < steps_.size(); ++s) {
      const bool stores = std::ranges::any_of(program_.steps[s].kernels, [&](const auto& kernel) {
        return std::ranges::any_of(kernel.stores, [&](const ir::Store& store) {
          return kernel.operands[static_cast<size_t>(store.operand)].buffer == to;
        });
      });
      if (stores) {
        steps_[s].copies.push_back({to, from});
        break;
      }
    }
  }
}

// ---- running -------------------------------------------------------------------------------

void ProgramExecutable::copy_buffer(int from, int to, intptr_t from_address,
                                    intptr_t to_address) const {
  if (from_address == to_address) return;
  const Buffer& buffer = program_.buffers[static_cast<size_t>(from)];
  runtime::copy_strided(reinterpret_cast<char*>(to_address), layouts_.strides(to),
                        reinterpret_cast<const char*>(from_address), layouts_.strides(from),
                        constant_sizes(buffer.shape), size_of(buffer.dtype));
}

intptr_t ProgramExecutable::address(int buffer_id, const intptr_t* inputs, const intptr_t* outputs,
                                    intptr_t workspace) const {
  const int owner = workspace_.memory_of(buffer_id);
  const Buffer& buffer = program_.buffers[static_cast<size_t>(owner)];
  switch (buffer.kind) {
    case Buffer::Kind::kInput:
      return inputs[buffer.index];
    case Buffer::Kind::kOutput:
      return outputs[buffer.index];
    default:
      return workspace + workspace_.offset(owner);
  }
}

void ProgramExecutable::run(const intptr_t* inputs, const uint64_t* scalars,
                            const intptr_t* outputs) const {
  runtime::BufferRef memory;
  if (workspace_.bytes() > 0) {
    memory = runtime::Buffer::allocate(static_cast<size_t>(workspace_.bytes()));
  }
  const auto workspace = memory ? reinterpret_cast<intptr_t>(memory->data()) : 0;
  InlineArray<intptr_t, 32> addresses(program_.buffers.size());
  for (size_t b = 0; b < program_.buffers.size(); ++b) {
    addresses[b] = address(static_cast<int>(b), inputs, outputs, workspace);
  }
  int step_number = 0;
  for (const PreparedStep& step : steps_) {
    if (step_number++ == program_.check_steps) check(addresses.data());
    for (const InitialCopy& copy : step.copies) {
      copy_buffer(copy.from, copy.to, addresses[copy.from], addresses[copy.to]);
    }
    if (step.blocks) step.blocks->run(addresses.data(), scalars);
    for (const auto& launch : step.launches) launch.run(addresses.data(), scalars);
  }
  if (step_number == program_.check_steps) check(addresses.data());
  copy_results(addresses.data(), outputs);
}

// To results that are no buffer of their own: an input, or another result again.
void ProgramExecutable::copy_results(const intptr_t* addresses, const intptr_t* outputs) const {
  for (size_t k = 0; k < program_.outputs.size(); ++k) {
    const int id = program_.outputs[k];
    const Buffer& buffer = program_.buffers[static_cast<size_t>(id)];
    if (buffer.kind == Buffer::Kind::kOutput && buffer.index == static_cast<int>(k)) continue;
    runtime::copy_strided(reinterpret_cast<char*>(outputs[k]), outputs_[k].strides,
                          reinterpret_cast<const char*>(addresses[id]), layouts_.strides(id),
                          outputs_[k].shape, size_of(buffer.dtype));
  }
}

void ProgramExecutable::check(const intptr_t* addresses) const {
  for (const ir::FirstFailure& failure : program_.checks) {
    int64_t element;
    std::memcpy(&element, reinterpret_cast<const void*>(addresses[failure.buffer]), sizeof element);
    if (element == ir::FirstFailure::kNone) continue;
    std::vector<int64_t> index(static_cast<size_t>(failure.shape.rank()));
    for (int axis = failure.shape.rank() - 1; axis >= 0; --axis) {
      const int64_t size = failure.shape[axis].value();
      index[static_cast<size_t>(axis)] = element % size;
      element /= size;
    }
    const std::string where = index.size() == 1 ? format("{}", index[0]) : format_tuple(index);
    const std::string line = host().describe(failure.source);
    throw ValueError(
        format("{}: at index {}{}", failure.message, where, line.empty() ? "" : " (" + line + ")"));
  }
}

std::string ProgramExecutable::show(std::string (*text)(const ir::Kernel&, const ir::Program&,
                                                        const runtime::Layout&,
                                                        jit::Target)) const {
  std::string all;
  for (const ir::Step& step : program_.steps) {
    for (const ir::Kernel& kernel : step.kernels) {
      const runtime::Nest nest = is_blockable(step) ? layouts_.nest(kernel) : prepared_nest(kernel);
      all += text(kernel, program_, classify(kernel, nest), target_);
    }
  }
  return all;
}

}  // namespace

std::shared_ptr<const Executable> Executable::build(const ir::Graph& source,
                                                    std::span<const ArrayLayout> inputs,
                                                    std::span<const ArrayLayout> outputs,
                                                    const BuildOptions& options) {
  ir::Graph graph = source;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    ir::Parameter& input = graph.inputs[i];
    input.contiguous = is_row_major(inputs[i], input.shape, input.dtype);
  }
  ir::FuseOptions fuse_options;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const ir::Node& node = graph[graph.outputs[i]];
    fuse_options.strided_outputs.push_back(static_cast<int>(outputs[i].strides.size()) ==
                                               node.shape.rank() &&
                                           !is_row_major(outputs[i], node.shape, node.dtype));
  }
  return std::make_shared<ProgramExecutable>(
      ir::lower(std::move(graph), fuse_options, options.passes), inputs, outputs, options.target);
}

}  // namespace lanewise::frontend
