#include "ir/interpret.h"

#include <algorithm>

#include "ir/element.h"
#include "ir/passes/passes.h"
#include "ir/reduction_order.h"
#include "ir/scan_order.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

namespace {

// Positions, in a row-major array, of the elements of a window in its own row-major order.
std::vector<int64_t> positions(int64_t offset, std::span<const int64_t> shape,
                               std::span<const int64_t> strides) {
  std::vector<int64_t> result{offset};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<int64_t> next;
    next.reserve(result.size() * static_cast<size_t>(shape[axis]));
    for (const int64_t start : result) {
      for (int64_t i = 0; i < shape[axis]; ++i) next.push_back(start + i * strides[axis]);
    }
    result = std::move(next);
  }
  return result;
}

std::vector<int64_t> row_major(std::span<const int64_t> shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

// Elements of one slice of a reduction -> its result.
template <class T>
T reduce(Op op, std::span<const T> elements) {
  using Limits = std::numeric_limits<T>;
  constexpr bool kFloat = element::Float<T>;
  const auto in_order = [&](T identity, auto combine) {
    for (const T x : elements) identity = combine(identity, x);
    return identity;
  };
  switch (op) {
    case Op::kSum:
      if constexpr (kFloat) {
        return elements.empty() ? T{0} : reduce_in_order(elements, T{-0.0}, element::Add{});
      } else {
        return in_order(T{0}, element::Add{});
      }
    case Op::kProd:
      if constexpr (kFloat) {
        return elements.empty() ? T{1} : reduce_in_order(elements, T{1}, element::Multiply{});
      } else {
        return in_order(T{1}, element::Multiply{});
      }
    case Op::kDeviations:
      if constexpr (kFloat) return elements.empty() ? T{0} : deviations_in_order(elements);
      break;
    case Op::kMin:
      return in_order(kFloat ? Limits::infinity() : Limits::max(), element::Minimum{});
    case Op::kMax:
      return in_order(kFloat ? -Limits::infinity() : Limits::lowest(), element::Maximum{});
    case Op::kAny:
      return in_order(T{false}, element::Maximum{});
    case Op::kAll:
      return in_order(T{true}, element::Minimum{});
    default:
      break;
  }
  throw InternalError(format("{}: not a reduction", op));
}

// The position of the first NaN, else of the first smallest (or largest) element.
template <class T>
int64_t position_of_extreme(Op op, std::span<const T> elements) {
  size_t best = 0;
  for (size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] != elements[i]) return static_cast<int64_t>(i);
    const bool better =
        op == Op::kArgMin ? elements[i] < elements[best] : elements[best] < elements[i];
    if (better) best = i;
  }
  return static_cast<int64_t>(best);
}

template <class T>
void scan(Op op, std::span<T> row) {
  if (op == Op::kCumulativeSum) return scan_in_order(row, element::Add{});
  if (op == Op::kCumulativeProd) return scan_in_order(row, element::Multiply{});
  throw InternalError(format("{}: not a scan", op));
}

class Interpreter {
 public:
  Interpreter(const Graph& graph, std::span<const Tensor> inputs, std::span<const Scalar> scalars)
      : graph_(graph), inputs_(inputs), scalars_(scalars), values_(graph.size()) {
    std::vector<std::vector<int64_t>> shapes;
    for (const Tensor& input : inputs) shapes.push_back(input.shape);
    symbols_ = bind_symbols(graph.inputs, shapes);
  }

  std::vector<Tensor> run() {
    count_uses();
    for (size_t i = 0; i < graph_.size(); ++i) {
      const Node& node = graph_.nodes()[i];
      if (uses_[i] == 0) continue;
      values_[i] = evaluate_node(node);
      for (const Value operand : node.inputs()) {
        if (--uses_[operand.index] == 0) values_[operand.index] = Tensor();
      }
    }
    for (const Check& check : graph_.checks) require(check);
    std::vector<Tensor> results;
    for (const Value output : graph_.outputs) results.push_back(values_[output.index]);
    return results;
  }

 private:
  // Of each value, by nodes that are needed; 0 for what nothing needs.
  void count_uses() {
    uses_.assign(graph_.size(), 0);
    for (const Value output : graph_.outputs) ++uses_[output.index];
    for (const Check& check : graph_.checks) ++uses_[check.predicate.index];
    for (size_t i = graph_.size(); i-- > 0;) {
      if (uses_[i] == 0) continue;
      for (const Value operand : graph_.nodes()[i].inputs()) ++uses_[operand.index];
    }
  }

  const Tensor& operand(const Node& node, size_t index) const {
    return values_[node.operands[index].index];
  }

  Tensor evaluate_node(const Node& node) const {
    if (is_elementwise(node.op)) return elementwise(node);
    switch (node.op) {
      case Op::kInput:
        return inputs_[static_cast<size_t>(node.get<Slot>().index)];
      case Op::kConstant:
        return splat(node, node.get<Scalar>());
      case Op::kScalar:
        return splat(node, scalars_[static_cast<size_t>(node.get<Slot>().index)]);
      case Op::kIota:
        return iota(node);
      case Op::kWindow:
        return window(node);
      case Op::kUpdate:
        return update(node);
      default:
        if (is_reduction(node.op)) return reduction(node);
        if (is_scan(node.op)) return scanned(node);
        throw InternalError(format("{}: has no meaning in a graph", node.op));
    }
  }

  Tensor empty(const Node& node) const {
    return Tensor(node.dtype, evaluate(node.shape, symbols_));
  }

  Tensor splat(const Node& node, Scalar value) const {
    Tensor result = empty(node);
    visit_dtype(node.dtype, [&](auto zero) {
      using T = decltype(zero);
      std::ranges::fill(result.values<T>(), value.as<T>());
    });
    return result;
  }

  Tensor elementwise(const Node& node) const {
    Tensor result = empty(node);
    std::array<const std::byte*, kMaxArity> operands{};
    const auto arity = static_cast<size_t>(node.arity());
    for (size_t i = 0; i < arity; ++i) operands[i] = operand(node, i).data.data();
    interpret_elements(node, operand(node, arity - 1).dtype, {operands.data(), arity},
                       result.data.data(), result.element_count());
    return result;
  }

  Tensor iota(const Node& node) const {
    Tensor result = empty(node);
    const auto axis = static_cast<size_t>(node.get<Slot>().index);
    const int64_t stride = row_major(result.shape)[axis];
    for (int64_t i = 0; i < result.element_count(); ++i) {
      result.set_element(i, Scalar::from_int(node.dtype, i / stride % result.shape[axis]));
    }
    return result;
  }

  // Positions of a window of `shape`, each inside an array of `count` elements.
  std::vector<int64_t> window_positions(const Node& node, std::span<const int64_t> shape,
                                        int64_t count) const {
    const auto& window = node.get<Window>();
    std::vector<int64_t> strides;
    for (const Dim& stride : window.strides) strides.push_back(stride.evaluate(symbols_));
    auto result = positions(window.offset.evaluate(symbols_), shape, strides);
    for (const int64_t position : result) {
      if (position < 0 || position >= count) {
        throw InternalError(format("{}: element {} of {}", node.op, position, count));
      }
    }
    return result;
  }

  Tensor window(const Node& node) const {
    const Tensor& base = operand(node, 0);
    Tensor result = empty(node);
    const auto from = window_positions(node, result.shape, base.element_count());
    for (size_t i = 0; i < from.size(); ++i) {
      result.set_element(static_cast<int64_t>(i), base.element(from[i]));
    }
    return result;
  }

  Tensor update(const Node& node) const {
    Tensor result = operand(node, 0);
    const Tensor& value = operand(node, 1);
    const auto to = window_positions(node, value.shape, result.element_count());
    for (size_t i = 0; i < to.size(); ++i) {
      result.set_element(to[i], value.element(static_cast<int64_t>(i)));
    }
    return result;
  }

  Tensor reduction(const Node& node) const {
    const Tensor& base = operand(node, 0);
    const std::vector<int64_t> strides = row_major(base.shape);
    // Sizes and strides of the axes that stay [0] and of those that are reduced [1].
    std::vector<int64_t> part_shape[2], part_strides[2];
    for (size_t axis = 0; axis < base.shape.size(); ++axis) {
      const bool reduced =
          std::ranges::binary_search(node.get<Axes>().axes, static_cast<int>(axis));
      part_shape[reduced].push_back(base.shape[axis]);
      part_strides[reduced].push_back(strides[axis]);
    }
    const auto starts = positions(0, part_shape[0], part_strides[0]);
    const auto steps = positions(0, part_shape[1], part_strides[1]);
    Tensor result = empty(node);
    visit_dtype(base.dtype, [&](auto zero) {
      using T = decltype(zero);
      const auto elements = base.values<T>();
      const auto slice = std::make_unique<T[]>(steps.size());
      for (size_t i = 0; i < starts.size(); ++i) {
        for (size_t j = 0; j < steps.size(); ++j) {
          slice[j] = elements[static_cast<size_t>(starts[i] + steps[j])];
        }
        const std::span<const T> row(slice.get(), steps.size());
        const auto place = static_cast<int64_t>(i);
        if (node.op == Op::kArgMin || node.op == Op::kArgMax) {
          result.at<int64_t>(place) = position_of_extreme(node.op, row);
        } else {
          result.at<T>(place) = reduce<T>(node.op, row);
        }
      }
    });
    return result;
  }

  Tensor scanned(const Node& node) const {
    Tensor result = operand(node, 0);
    const auto axis = static_cast<size_t>(node.get<Axes>().axes[0]);
    const int64_t stride = row_major(result.shape)[axis];
    const int64_t length = result.shape[axis];
    visit_dtype(node.dtype, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (!std::is_same_v<T, bool>) {
        const auto elements = result.values<T>();
        std::vector<T> row(static_cast<size_t>(length));
        for (int64_t i = 0; i < result.element_count(); ++i) {
          if (i / stride % length != 0) continue;
          const auto at = [&](size_t k) -> T& {
            return elements[static_cast<size_t>(i) + k * static_cast<size_t>(stride)];
          };
          for (size_t k = 0; k < row.size(); ++k) row[k] = at(k);
          scan(node.op, std::span<T>(row));
          for (size_t k = 0; k < row.size(); ++k) at(k) = row[k];
        }
      }
    });
    return result;
  }

  void require(const Check& check) const {
    const Tensor& predicate = values_[check.predicate.index];
    const auto faults = predicate.values<bool>();
    const auto first = std::ranges::find(faults, true);
    if (first == faults.end()) return;
    const auto position = unravel(first - faults.begin(), predicate.shape);
    throw ValueError(position.empty()
                         ? check.message
                         : format("{} at element {}", check.message, format_tuple(position)));
  }

  const Graph& graph_;
  std::span<const Tensor> inputs_;
  std::span<const Scalar> scalars_;
  SymbolValues symbols_;
  std::vector<Tensor> values_;
  std::vector<int> uses_;
};

void require_arguments(const Graph& graph, std::span<const Tensor> inputs,
                       std::span<const Scalar> scalars) {
  if (inputs.size() != graph.inputs.size() || scalars.size() != graph.scalars.size()) {
    throw ValueError(format("{}: {} arrays and {} scalars for {} and {} parameters", graph.name,
                            inputs.size(), scalars.size(), graph.inputs.size(),
                            graph.scalars.size()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].dtype != graph.inputs[i].dtype) {
      throw DTypeError(format("{}: {} is {}, not {}", graph.name, graph.inputs[i].name,
                              graph.inputs[i].dtype, inputs[i].dtype));
    }
  }
  for (size_t i = 0; i < scalars.size(); ++i) {
    if (scalars[i].dtype != graph.scalars[i]) {
      throw DTypeError(
          format("{}: scalar {} is {}, not {}", graph.name, i, graph.scalars[i], scalars[i].dtype));
    }
  }
}

// Gives the one unknown symbol of `dim`, where it has just one and is linear in it, the value that
// makes `dim` become `size`.
void solve(const Dim& dim, int64_t size, SymbolValues& known) {
  std::vector<std::string> unknown;
  for (const std::string& name : dim.symbols()) {
    if (std::ranges::find(known, name, &SymbolValues::value_type::first) == known.end()) {
      unknown.push_back(name);
    }
  }
  if (unknown.size() != 1) return;
  known.emplace_back(unknown[0], 0);
  int64_t& value = known.back().second;
  const int64_t constant = dim.evaluate(known);
  value = 1;
  const int64_t slope = dim.evaluate(known) - constant;
  value = slope == 0 ? 0 : (size - constant) / slope;
  if (value < 0 || dim.evaluate(known) != size) known.pop_back();
}

}  // namespace

SymbolValues bind_symbols(std::span<const Parameter> parameters,
                          std::span<const std::vector<int64_t>> shapes) {
  SymbolValues symbols;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const auto mismatch = [&] {
      return ShapeError(format("{}: shape {} does not fit {}", parameter.name,
                               format_tuple(shapes[i]), parameter.shape));
    };
    if (static_cast<int>(shapes[i].size()) != parameter.shape.rank()) throw mismatch();
    for (int axis = 0; axis < parameter.shape.rank(); ++axis) {
      solve(parameter.shape[axis], shapes[i][static_cast<size_t>(axis)], symbols);
    }
    for (const Dim& dim : parameter.shape) {
      for (const std::string& name : dim.symbols()) {
        if (std::ranges::find(symbols, name, &SymbolValues::value_type::first) == symbols.end()) {
          throw mismatch();
        }
      }
    }
    if (evaluate(parameter.shape, symbols) != shapes[i]) throw mismatch();
  }
  return symbols;
}

std::vector<int64_t> evaluate(const Shape& shape, const SymbolValues& symbols) {
  std::vector<int64_t> sizes;
  for (const Dim& dim : shape) sizes.push_back(dim.evaluate(symbols));
  return sizes;
}

std::vector<Tensor> interpret(const Graph& graph, std::span<const Tensor> inputs,
                              std::span<const Scalar> scalars) {
  require_arguments(graph, inputs, scalars);
  Graph expanded = graph;
  expand(expanded);
  return Interpreter(expanded, inputs, scalars).run();
}

}  // namespace lanewise::ir
