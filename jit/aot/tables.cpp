#include "jit/aot/tables.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "ir/dim_terms.h"
#include "ir/passes/schedule.h"
#include "jit/aot/artefact.h"
#include "jit/aot/layouts.h"
#include "support/dlpack.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

namespace {

using ir::Buffer;
using ir::Dim;
using ir::Shape;

// Whether row i of the buffer is what the operand touches at trip i of the outermost loop.
bool is_row_by_row(const ir::Operand& operand, const Shape& buffer) {
  if (operand.axes.empty() || operand.shape != buffer) return false;
  const ir::AxisIndex& first = operand.axes[0];
  if (!first.offset.is(0) || first.terms.size() != 1) return false;
  if (first.terms[0].loop != 0 || !first.terms[0].step.is(1)) return false;
  return std::all_of(operand.axes.begin() + 1, operand.axes.end(), [](const ir::AxisIndex& axis) {
    return std::ranges::all_of(axis.terms, [](const auto& term) { return term.loop != 0; });
  });
}

class TableWriter {
 public:
  explicit TableWriter(const AotFunction& function)
      : function_(function), program_(function.program) {
    words_.resize(sizeof(lw_program) / sizeof(int64_t));
  }

  Tables write() {
    head_.format = lw_artefact_format;
    bind_symbols();
    write_arguments();
    write_buffers();
    write_kernels();
    write_copies();
    write_checks();
    write_aliases();
    write_scalars();
    std::vector<lw_constraint> constraints;
    for (const SizeConstraint& constraint : function_.constraints) {
      constraints.push_back(
          {constraint.is_equality, size(constraint.left), size(constraint.right)});
    }
    head_.constraints = append_records(constraints);
    const std::optional<Dim> loop = splittable_loop(program_);
    head_.range = loop ? size(*loop) : -1;
    write_sizes();
    std::memcpy(words_.data(), &head_, sizeof head_);
    return {std::move(words_), std::move(codes_)};
  }

 private:
  // ---- words ----
  int64_t append(const std::vector<int64_t>& words) {
    const auto place = static_cast<int64_t>(words_.size());
    words_.insert(words_.end(), words.begin(), words.end());
    return place;
  }
  lw_list append_list(const std::vector<int64_t>& words) {
    const int64_t place = append(words);
    return {static_cast<int64_t>(words.size()), place};
  }
  template <class Record>
  lw_list append_records(const std::vector<Record>& records) {
    static_assert(sizeof(Record) % sizeof(int64_t) == 0);
    std::vector<int64_t> words(records.size() * sizeof(Record) / sizeof(int64_t));
    if (!records.empty()) std::memcpy(words.data(), records.data(), 8 * words.size());
    const int64_t place = append(words);
    return {static_cast<int64_t>(records.size()), place};
  }

  // ---- sizes ----
  int64_t size(const Dim& dim) {
    const auto found = std::ranges::find(sizes_, dim);
    if (found != sizes_.end()) return found - sizes_.begin();
    sizes_.push_back(dim);
    return static_cast<int64_t>(sizes_.size()) - 1;
  }
  int64_t shape(const Shape& shape) {
    std::vector<int64_t> numbers;
    for (const Dim& dim : shape) numbers.push_back(size(dim));
    return append(numbers);
  }
  int64_t symbol(const std::string& name) const {
    const auto found = std::ranges::find(symbols_, name);
    return found == symbols_.end() ? -1 : found - symbols_.begin();
  }

  // Inputs give sizes their values; each size must stand alone somewhere.
  void bind_symbols() {
    for (size_t i = 0; i < function_.tensor_inputs(); ++i) {
      for (const Dim& dim : program_.inputs[i].shape) {
        if (dim.is_constant() || !(dim == Dim::symbol(dim.symbols()[0]))) continue;
        if (symbol(dim.symbols()[0]) < 0) symbols_.push_back(dim.symbols()[0]);
      }
    }
    head_.symbol_count = static_cast<int64_t>(symbols_.size());
  }

  void write_sizes() {
    std::vector<int64_t> places;
    for (const Dim& dim : sizes_) {
      const std::vector<ir::DimTerm> terms = ir::terms(dim);
      std::vector<int64_t> words{static_cast<int64_t>(terms.size())};
      for (const ir::DimTerm& term : terms) {
        words.push_back(term.coefficient);
        words.push_back(static_cast<int64_t>(term.symbols.size()));
        for (const std::string& name : term.symbols) {
          if (symbol(name) < 0) {
            throw UnsupportedError(format("{}: size '{}' is the size of no axis of an argument",
                                          function_.symbol, name));
          }
          words.push_back(symbol(name));
        }
      }
      places.push_back(append(words));
    }
    head_.sizes = append_list(places);
  }

  // ---- arguments and buffers ----
  lw_argument argument(DType dtype, const Shape& sizes, int64_t position) {
    std::vector<int64_t> binds;
    for (const Dim& dim : sizes) {
      const bool alone = !dim.is_constant() && dim == Dim::symbol(dim.symbols()[0]);
      binds.push_back(alone ? symbol(dim.symbols()[0]) : -1);
    }
    return {dlpack_code(dtype), size_of(dtype), sizes.rank(),
            shape(sizes),       append(binds),  position};
  }

  void write_arguments() {
    std::vector<int64_t> positions(function_.tensor_inputs(), 0);
    for (size_t i = 0; i < function_.parameters.size(); ++i) {
      const AotParameter& parameter = function_.parameters[i];
      if (!parameter.is_number) {
        positions[static_cast<size_t>(parameter.index)] = static_cast<int64_t>(i) + 1;
      }
    }
    std::vector<lw_argument> arguments;
    for (size_t i = 0; i < function_.tensor_inputs(); ++i) {
      const ir::Parameter& input = program_.inputs[i];
      arguments.push_back(argument(input.dtype, input.shape, positions[i]));
    }
    head_.input_count = static_cast<int64_t>(arguments.size());
    for (size_t k = 0; k < program_.outputs.size(); ++k) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(program_.outputs[k])];
      const auto position = static_cast<int64_t>(function_.parameters.size() + k + 1);
      arguments.push_back(argument(buffer.dtype, buffer.shape, position));
    }
    head_.tensors = append_records(arguments);
  }

  int64_t tensor_of_output(int k) const { return head_.input_count + k; }

  // The runtime's buffers are the tensors, then the program's others.
  void write_buffers() {
    std::vector<lw_buffer> buffers;
    const auto add = [&](int64_t kind, int64_t index, DType dtype, const Shape& sizes) {
      buffers.push_back({kind, index, size_of(dtype), sizes.rank(), shape(sizes), strides_});
      strides_ += sizes.rank();
    };
    for (size_t i = 0; i < function_.tensor_inputs(); ++i) {
      add(lw_buffer_tensor, static_cast<int64_t>(i), program_.inputs[i].dtype,
          program_.inputs[i].shape);
    }
    for (size_t k = 0; k < program_.outputs.size(); ++k) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(program_.outputs[k])];
      add(lw_buffer_tensor, tensor_of_output(static_cast<int>(k)), buffer.dtype, buffer.shape);
    }
    find_blocks();
    const std::vector<int64_t> slot = place_temporaries();
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      const Buffer& buffer = program_.buffers[b];
      const auto inputs = static_cast<int>(function_.tensor_inputs());
      if (buffer.kind == Buffer::Kind::kInput && buffer.index < inputs) {
        number_.push_back(buffer.index);
      } else if (buffer.kind == Buffer::Kind::kOutput) {
        number_.push_back(tensor_of_output(buffer.index));
      } else {
        number_.push_back(static_cast<int64_t>(buffers.size()));
        const bool constant = buffer.kind == Buffer::Kind::kInput;
        const auto kind = constant        ? lw_buffer_constant
                          : block_[b] > 0 ? lw_buffer_block
                                          : lw_buffer_temporary;
        add(kind, constant ? buffer.index - inputs : slot[b], buffer.dtype, buffer.shape);
      }
    }
    head_.buffers = append_records(buffers);
    head_.strides_count = strides_;
  }

  // Buffers that only ever hold a block of their rows, with the rows of one.
  void find_blocks() {
    block_.assign(program_.buffers.size(), 0);
    for (const ir::Step& step : program_.steps) {
      if (!runs_in_blocks(step)) continue;
      const std::vector<size_t> buffers = block_buffers(step);
      const int64_t rows = block_rows(buffers);
      for (const size_t b : buffers) block_[b] = rows;
    }
  }

  std::vector<size_t> block_buffers(const ir::Step& step) const {
    std::vector<size_t> result;
    for (const ir::Kernel& kernel : step.kernels) {
      for (const ir::Operand& operand : kernel.operands) {
        if (operand.buffer == ir::Operand::kIndex) continue;
        const auto b = static_cast<size_t>(operand.buffer);
        if (program_.buffers[b].kind != Buffer::Kind::kBlock) continue;
        if (std::ranges::find(result, b) == result.end()) result.push_back(b);
      }
    }
    return result;
  }

  bool runs_in_blocks(const ir::Step& step) const {
    return step.blocked && step.kernels.size() > 1 &&
           std::ranges::all_of(step.kernels, [&](const ir::Kernel& kernel) {
             return kernel.domain.rank() == 1 && kernel.reduced == 0 &&
                    std::ranges::all_of(kernel.operands, [&](const ir::Operand& operand) {
                      if (operand.buffer == ir::Operand::kIndex) return true;
                      const Buffer& b = program_.buffers[static_cast<size_t>(operand.buffer)];
                      return b.kind != Buffer::Kind::kBlock || is_row_by_row(operand, b.shape);
                    });
           });
  }

  // What kernels hand to each other should stay in a second-level cache of usual size.
  int64_t block_rows(const std::vector<size_t>& buffers) const {
    constexpr int64_t kRoom = 256 << 10;
    constexpr int64_t kShortest = 512;
    constexpr int64_t kLongest = 8192;
    int64_t bytes = 1;
    for (const size_t b : buffers) bytes += size_of(program_.buffers[b].dtype);
    return std::clamp(kRoom / bytes / 64 * 64, kShortest, kLongest);
  }

  // Temporaries of equal size whose lives do not meet share a slot.
  std::vector<int64_t> place_temporaries() {
    struct Slot {
      Dim bytes;
      ir::Moment last;
    };
    std::vector<Slot> slots;
    std::vector<ir::Lifetime> lifetimes = ir::lifetimes(program_);
    for (const ir::FirstFailure& check : program_.checks) {
      ir::Lifetime& lifetime = lifetimes[static_cast<size_t>(check.buffer)];
      lifetime.last = std::max(lifetime.last, ir::Moment{program_.check_steps, 0});
    }
    std::vector<size_t> order;
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      const Buffer::Kind kind = program_.buffers[b].kind;
      if (kind == Buffer::Kind::kTemporary || kind == Buffer::Kind::kBlock) order.push_back(b);
    }
    std::ranges::stable_sort(order, {}, [&](size_t b) { return lifetimes[b].first; });
    std::vector<int64_t> slot(program_.buffers.size(), -1);
    for (const size_t b : order) {
      const Buffer& buffer = program_.buffers[b];
      const Dim elements = block_[b] > 0 ? Dim(block_[b]) : buffer.shape.element_count();
      const Dim bytes = elements * Dim(size_of(buffer.dtype));
      const auto free = std::ranges::find_if(slots, [&](const Slot& other) {
        return other.bytes == bytes && other.last < lifetimes[b].first;
      });
      slot[b] = free - slots.begin();
      if (free == slots.end()) {
        slots.push_back({bytes, lifetimes[b].last});
      } else {
        free->last = lifetimes[b].last;
      }
    }
    std::vector<int64_t> sizes;
    for (const Slot& s : slots) sizes.push_back(size(s.bytes));
    head_.slots = append_list(sizes);
    return slot;
  }

  // ---- kernels ----
  lw_operand operand(const ir::Kernel& kernel, size_t i) {
    const ir::Operand& source = kernel.operands[i];
    std::vector<lw_axis> axes;
    for (const ir::AxisIndex& axis : source.axes) {
      std::vector<lw_term> terms;
      for (const auto& term : axis.terms) terms.push_back({term.loop, size(term.step)});
      axes.push_back({size(axis.offset), append_records(terms)});
    }
    lw_operand result{
        .buffer = -1, .item_size = 0, .written = 0, .shape = -1, .axes = append_records(axes)};
    if (source.buffer == ir::Operand::kIndex) return result;
    const Buffer& buffer = program_.buffers[static_cast<size_t>(source.buffer)];
    result.buffer = number_[static_cast<size_t>(source.buffer)];
    result.item_size = size_of(buffer.dtype);
    result.written = std::ranges::any_of(kernel.stores, [&](const ir::Store& store) {
      return store.operand == static_cast<int>(i);
    });
    if (source.shape != buffer.shape) result.shape = shape(source.shape);
    return result;
  }

  lw_variant variant(const runtime::Layout& layout) {
    std::vector<lw_operand_layout> operands;
    for (const runtime::OperandLayout& o : layout.operands) {
      operands.push_back({static_cast<int64_t>(o.stride), o.step, o.group, o.column});
    }
    return {layout.rank, layout.reduced, layout.streaming, append_records(operands).place};
  }

  lw_kernel kernel(const ir::Kernel& source) {
    std::vector<lw_operand> operands;
    for (size_t i = 0; i < source.operands.size(); ++i) operands.push_back(operand(source, i));
    lw_kernel result{.together = 1,
                     .block = 0,
                     .rank = source.domain.rank(),
                     .reduced = source.reduced,
                     .domain = shape(source.domain),
                     .operands = append_records(operands),
                     .scalars = append_list({source.scalars.begin(), source.scalars.end()}),
                     .variants = {},
                     .functions = 2 * static_cast<int64_t>(codes_.size())};
    std::vector<lw_variant> variants;
    for (runtime::Layout& layout : artefact_layouts(source, program_)) {
      variants.push_back(variant(layout));
      codes_.push_back({&source, std::move(layout)});
    }
    result.variants = append_records(variants);
    return result;
  }

  void write_kernels() {
    std::vector<lw_kernel> kernels;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      first_kernel_.push_back(static_cast<int64_t>(kernels.size()));
      const ir::Step& step = program_.steps[s];
      for (const ir::Kernel& source : step.kernels) kernels.push_back(kernel(source));
      if (runs_in_blocks(step)) {
        lw_kernel& first = kernels[static_cast<size_t>(first_kernel_.back())];
        first.together = static_cast<int64_t>(step.kernels.size());
        first.block = block_rows(block_buffers(step));
      }
    }
    first_kernel_.push_back(static_cast<int64_t>(kernels.size()));
    head_.kernels = append_records(kernels);
  }

  // An update's buffer gets the contents it starts with before the first step that writes it.
  void write_copies() {
    std::vector<lw_copy> copies;
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      const int from = program_.buffers[b].starts_as;
      if (from < 0) continue;
      for (size_t s = 0; s < program_.steps.size(); ++s) {
        if (!stores(program_.steps[s], static_cast<int>(b))) continue;
        copies.push_back({first_kernel_[s], number_[static_cast<size_t>(from)], number_[b]});
        break;
      }
    }
    head_.copies = append_records(copies);
    std::vector<lw_copy> results;
    for (size_t k = 0; k < program_.outputs.size(); ++k) {
      const auto id = static_cast<size_t>(program_.outputs[k]);
      const Buffer& buffer = program_.buffers[id];
      if (buffer.kind == Buffer::Kind::kOutput && buffer.index == static_cast<int>(k)) continue;
      results.push_back({0, number_[id], tensor_of_output(static_cast<int>(k))});
    }
    head_.results = append_records(results);
  }

  static bool stores(const ir::Step& step, int buffer) {
    return std::ranges::any_of(step.kernels, [&](const ir::Kernel& kernel) {
      return std::ranges::any_of(kernel.stores, [&](const ir::Store& store) {
        return kernel.operands[static_cast<size_t>(store.operand)].buffer == buffer;
      });
    });
  }

  void write_checks() {
    std::vector<int64_t> buffers;
    for (const ir::FirstFailure& check : program_.checks) {
      buffers.push_back(number_[static_cast<size_t>(check.buffer)]);
    }
    head_.checks = append_list(buffers);
    head_.checked_kernels = first_kernel_[static_cast<size_t>(program_.check_steps)];
  }

  void write_aliases() {
    std::vector<lw_alias> aliases;
    for (const auto& [output, input] : possible_aliases(function_)) {
      aliases.push_back({tensor_of_output(output), input});
    }
    head_.aliases = append_records(aliases);
  }

  void write_scalars() {
    head_.number_count = static_cast<int64_t>(function_.numbers());
    std::vector<int64_t> sizes;
    for (const Dim& dim : function_.size_scalars) sizes.push_back(size(dim));
    head_.size_scalars = append_list(sizes);
    head_.literals = append_list({function_.literals.begin(), function_.literals.end()});
  }

  const AotFunction& function_;
  const ir::Program& program_;
  lw_program head_ = {};
  std::vector<int64_t> words_;
  std::vector<std::string> symbols_;
  std::vector<Dim> sizes_;
  std::vector<int64_t> block_;         // of each buffer of the program: rows of a block, or 0
  std::vector<int64_t> number_;        // of each buffer of the program: its number for the runtime
  std::vector<int64_t> first_kernel_;  // of each step
  int64_t strides_ = 0;
  std::vector<ArtefactCode> codes_;
};

}  // namespace

int dlpack_code(DType dtype) {
  if (is_bool(dtype)) return dlpack::kBool;
  if (is_float(dtype)) return dlpack::kFloat;
  return is_unsigned_int(dtype) ? dlpack::kUInt : dlpack::kInt;
}

Tables make_tables(const AotFunction& function) { return TableWriter(function).write(); }

// ---- aliases -------------------------------------------------------------------------------

namespace {

// Whether the kernel reads the input once, at the element of the output that is being written.
bool is_read_where_written(const ir::Kernel& kernel, const ir::Program& program,
                           const ir::Operand& written, const ir::Operand& read) {
  if (read.buffer == ir::Operand::kIndex || read.buffer == written.buffer) return false;
  const Buffer& from = program.buffers[static_cast<size_t>(read.buffer)];
  const Buffer& to = program.buffers[static_cast<size_t>(written.buffer)];
  if (from.kind != Buffer::Kind::kInput || to.kind != Buffer::Kind::kOutput) return false;
  if (std::ranges::count(kernel.operands, read.buffer, &ir::Operand::buffer) != 1) return false;
  return size_of(from.dtype) == size_of(to.dtype) && from.shape == to.shape &&
         read.shape == from.shape && written.shape == to.shape && read.axes == written.axes;
}

}  // namespace

std::vector<std::pair<int, int>> possible_aliases(const AotFunction& function) {
  std::vector<std::pair<int, int>> result;
  const ir::Program& program = function.program;
  if (program.steps.size() != 1 || program.steps[0].kernels.size() != 1) return result;
  const ir::Kernel& kernel = program.steps[0].kernels[0];
  if (kernel.reduced > 0) return result;
  for (const ir::Store& store : kernel.stores) {
    const ir::Operand& written = kernel.operands[static_cast<size_t>(store.operand)];
    for (const ir::Operand& read : kernel.operands) {
      if (!is_read_where_written(kernel, program, written, read)) continue;
      const int input = program.buffers[static_cast<size_t>(read.buffer)].index;
      if (input >= static_cast<int>(function.tensor_inputs())) continue;
      result.emplace_back(program.buffers[static_cast<size_t>(written.buffer)].index, input);
    }
  }
  return result;
}

// ---- splitting -----------------------------------------------------------------------------

namespace {

bool moves_along_first(const ir::Operand& operand) {
  return std::ranges::any_of(operand.axes, [](const ir::AxisIndex& axis) {
    return std::ranges::any_of(axis.terms, [](const auto& term) { return term.loop == 0; });
  });
}

}  // namespace

std::optional<Dim> splittable_loop(const ir::Program& program) {
  std::optional<Dim> loop;
  size_t kernels = 0;
  for (const ir::Step& step : program.steps) kernels += step.kernels.size();
  if (!program.checks.empty()) return std::nullopt;
  for (const Buffer& buffer : program.buffers) {
    if (buffer.starts_as >= 0) return std::nullopt;
  }
  for (size_t k = 0; k < program.outputs.size(); ++k) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(program.outputs[k])];
    const bool stored = buffer.kind == Buffer::Kind::kOutput && buffer.index == static_cast<int>(k);
    if (!stored) return std::nullopt;
  }
  for (const ir::Step& step : program.steps) {
    for (const ir::Kernel& kernel : step.kernels) {
      if (kernel.domain.rank() - kernel.reduced < 1) return std::nullopt;
      if (loop && !(*loop == kernel.domain[0])) return std::nullopt;
      loop = kernel.domain[0];
      for (const ir::Operand& operand : kernel.operands) {
        if (operand.buffer == ir::Operand::kIndex) continue;
        const Buffer& buffer = program.buffers[static_cast<size_t>(operand.buffer)];
        const bool is_stored = buffer.kind != Buffer::Kind::kInput;
        if (is_stored && kernels > 1 && !is_row_by_row(operand, buffer.shape)) return std::nullopt;
        if (is_stored && kernels == 1 && !moves_along_first(operand)) return std::nullopt;
      }
    }
  }
  return loop;
}

}  // namespace lanewise::jit
