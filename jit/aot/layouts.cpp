#include "jit/aot/layouts.h"

#include <algorithm>
#include <map>
#include <string>

namespace lanewise::jit {

namespace {

using ir::Buffer;
using ir::Dim;

// How arguments lie in memory. Temporaries are always row-major.
enum class Arrangement { kRowMajor, kPaddedRows, kColumnMajor, kColumnMajorInputs };

// Gives every named size a value: layouts are found for one example. Primes, so that nothing fits
// together by chance.
class Example {
 public:
  int64_t operator()(const Dim& dim) {
    for (const std::string& name : dim.symbols()) {
      const auto known = std::ranges::find(values_, name, &std::pair<std::string, int64_t>::first);
      if (known != values_.end()) continue;
      constexpr int64_t kPrimes[] = {1009, 1103, 1201, 1301, 1409, 1511, 1601, 1709};
      const size_t count = values_.size();
      values_.emplace_back(name, kPrimes[count % std::size(kPrimes)] +
                                     1000 * static_cast<int64_t>(count / std::size(kPrimes)));
    }
    return std::max<int64_t>(dim.evaluate(values_), dim.is_constant() ? INT64_MIN : 1);
  }

 private:
  std::vector<std::pair<std::string, int64_t>> values_;
};

class ExampleNest {
 public:
  ExampleNest(const ir::Kernel& kernel, const ir::Program& program, Arrangement arrangement)
      : kernel_(kernel), program_(program), arrangement_(arrangement) {}

  runtime::Nest nest() {
    runtime::Nest nest;
    for (const Dim& size : kernel_.domain) {
      nest.sizes.push_back(std::max<int64_t>(example_(size), 1));
    }
    nest.reduced = kernel_.reduced;
    for (const ir::Operand& operand : kernel_.operands) nest.operands.push_back(place(operand));
    for (const ir::Store& store : kernel_.stores) {
      nest.operands[static_cast<size_t>(store.operand)].written = true;
    }
    return nest;
  }

 private:
  std::vector<int64_t> strides(const ir::Shape& shape, int64_t item, Arrangement arrangement) {
    std::vector<int64_t> result(static_cast<size_t>(shape.rank()));
    int64_t stride = item;
    for (int i = 0; i < shape.rank(); ++i) {
      const int axis = arrangement == Arrangement::kColumnMajor ? i : shape.rank() - 1 - i;
      result[static_cast<size_t>(axis)] = stride;
      stride *= std::max<int64_t>(example_(shape[axis]), 1);
      if (arrangement == Arrangement::kPaddedRows) stride += 7 * item;
    }
    return result;
  }

  Arrangement arrangement_of(const Buffer& buffer) const {
    const bool is_input = buffer.kind == Buffer::Kind::kInput;
    if (!is_input && buffer.kind != Buffer::Kind::kOutput) return Arrangement::kRowMajor;
    if (arrangement_ != Arrangement::kColumnMajorInputs) return arrangement_;
    return is_input ? Arrangement::kColumnMajor : Arrangement::kRowMajor;
  }

  runtime::NestOperand place(const ir::Operand& operand) {
    runtime::NestOperand result;
    result.strides.assign(static_cast<size_t>(kernel_.domain.rank()), 0);
    std::vector<int64_t> axis_strides{1};
    if (operand.buffer != ir::Operand::kIndex) {
      const Buffer& buffer = program_.buffers[static_cast<size_t>(operand.buffer)];
      result.element_size = size_of(buffer.dtype);
      result.base = (intptr_t{operand.buffer} + 1) << 44;
      const bool as_it_is = operand.shape == buffer.shape;
      axis_strides = strides(operand.shape, result.element_size,
                             as_it_is ? arrangement_of(buffer) : Arrangement::kRowMajor);
    }
    for (size_t axis = 0; axis < operand.axes.size(); ++axis) {
      result.base += example_(operand.axes[axis].offset) * axis_strides[axis];
      for (const auto& term : operand.axes[axis].terms) {
        result.strides[static_cast<size_t>(term.loop)] += example_(term.step) * axis_strides[axis];
      }
    }
    return result;
  }

  const ir::Kernel& kernel_;
  const ir::Program& program_;
  Arrangement arrangement_;
  Example example_;
};

// Takes any strides: of the elements of each operand one is loaded after the other.
runtime::Layout any_layout(const ir::Kernel& kernel) {
  runtime::Layout layout;
  layout.rank = std::max(kernel.domain.rank(), 1);
  layout.reduced = kernel.reduced;
  for (const ir::Operand& operand : kernel.operands) {
    const bool moves = std::ranges::any_of(
        operand.axes, [](const ir::AxisIndex& axis) { return !axis.terms.empty(); });
    const bool stands = !moves && kernel.domain.rank() > 0;
    layout.operands.push_back(
        {.stride = stands ? runtime::Stride::kBroadcast : runtime::Stride::kOther});
  }
  return layout;
}

bool can_stream(const ir::Kernel& kernel, const runtime::Layout& layout) {
  return kernel.reduced == 0 && std::ranges::any_of(kernel.stores, [&](const ir::Store& store) {
           const auto operand = static_cast<size_t>(store.operand);
           return layout.operands[operand].stride == runtime::Stride::kUnit;
         });
}

}  // namespace

std::vector<runtime::Layout> artefact_layouts(const ir::Kernel& kernel,
                                              const ir::Program& program) {
  std::vector<runtime::Layout> layouts;
  const auto add = [&](runtime::Layout layout) {
    layout.long_rows = false;
    if (std::ranges::find(layouts, layout) == layouts.end()) layouts.push_back(std::move(layout));
  };
  for (const Arrangement arrangement :
       {Arrangement::kRowMajor, Arrangement::kPaddedRows, Arrangement::kColumnMajor,
        Arrangement::kColumnMajorInputs}) {
    const runtime::Nest nest = ExampleNest(kernel, program, arrangement).nest();
    runtime::Layout layout = runtime::classify(runtime::simplify(nest), /*columns=*/false);
    layout.streaming = arrangement == Arrangement::kRowMajor && can_stream(kernel, layout);
    if (layout.streaming) add(layout);
    layout.streaming = false;
    add(std::move(layout));
  }
  add(any_layout(kernel));
  // The first that fits is taken, and operands of kOther fit always.
  std::ranges::stable_sort(layouts, {}, [](const runtime::Layout& layout) {
    return std::ranges::count(layout.operands, runtime::Stride::kOther,
                              &runtime::OperandLayout::stride);
  });
  return layouts;
}

}  // namespace lanewise::jit
