#include "ir/verify.h"

#include <algorithm>
#include <set>

#include "ir/detail/node_rules.h"
#include "ir/text.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

namespace {

using detail::Complaint;
using detail::complaint;

// ---- leaves, views, reductions of a graph --------------------------------------------------

Complaint check_slot(const Node& node, size_t count) {
  const auto slot = static_cast<size_t>(node.get<Slot>().index);
  if (slot < count) return {};
  return complaint("{}: number {} of {}", node.op, node.get<Slot>().index, count);
}

Complaint check_input(const Graph& graph, const Node& node) {
  if (Complaint bad = check_slot(node, graph.inputs.size())) return bad;
  const Parameter& parameter = graph.inputs[static_cast<size_t>(node.get<Slot>().index)];
  if (node.dtype == parameter.dtype && node.shape == parameter.shape) return {};
  return complaint("input: {} of a parameter {}", type_text(node.dtype, node.shape),
                   type_text(parameter.dtype, parameter.shape));
}

Complaint check_scalar(const Graph& graph, const Node& node) {
  if (Complaint bad = check_slot(node, graph.scalars.size())) return bad;
  const DType dtype = graph.scalars[static_cast<size_t>(node.get<Slot>().index)];
  if (node.dtype == dtype) return {};
  return complaint("scalar: {} of a scalar {}", node.dtype, dtype);
}

Complaint check_iota(const Node& node) {
  if (!is_int(node.dtype)) return complaint("iota: {} is no integer", node.dtype);
  const int axis = node.get<Slot>().index;
  if (axis >= 0 && axis < node.shape.rank()) return {};
  return complaint("iota: axis {} of rank {}", axis, node.shape.rank());
}

// Whether a window of `shape` lies inside `base`, as far as sizes are known.
Complaint check_window(Op op, const Window& window, const Shape& shape, const Shape& base) {
  if (static_cast<int>(window.strides.size()) != shape.rank()) {
    return complaint("{}: {} strides for rank {}", op, window.strides.size(), shape.rank());
  }
  bool known = window.offset.is_constant() && shape.is_constant() && base.is_constant();
  for (const Dim& stride : window.strides) known = known && stride.is_constant();
  if (!known || shape.element_count().is(0)) return {};
  int64_t first = window.offset.value();
  int64_t last = first;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const int64_t span =
        (shape[axis].value() - 1) * window.strides[static_cast<size_t>(axis)].value();
    (span < 0 ? first : last) += span;
  }
  const int64_t count = base.element_count().value();
  if (first >= 0 && last < count) return {};
  return complaint("{}: elements {} to {} of an array of {}", op, first, last, count);
}

Complaint check_view(const Node& node, const Node& operand) {
  if (node.dtype != operand.dtype) {
    return complaint("window: {} on {}", node.dtype, operand.dtype);
  }
  return check_window(node.op, node.get<Window>(), node.shape, operand.shape);
}

Complaint check_update(const Node& node, const Node& base, const Node& value) {
  if (node.dtype != base.dtype || node.shape != base.shape) {
    return complaint("update: {} of {}", type_text(node.dtype, node.shape),
                     type_text(base.dtype, base.shape));
  }
  if (value.dtype != base.dtype) return complaint("update: {} into {}", value.dtype, base.dtype);
  const Window& window = node.get<Window>();
  if (Complaint bad = check_window(node.op, window, value.shape, base.shape)) return bad;
  if (value.shape.element_count().is(0)) return {};
  for (int axis = 0; axis < value.shape.rank(); ++axis) {
    const Dim& size = value.shape[axis];
    if (window.strides[static_cast<size_t>(axis)].is(0) && size.is_constant() && size.value() > 1) {
      return complaint("update: writes an element more than once");
    }
  }
  return {};
}

Complaint check_reduction(const Node& node, const Node& operand) {
  const std::vector<int>& axes = node.get<Axes>().axes;
  const bool ascending = std::ranges::adjacent_find(axes, std::greater_equal()) == axes.end();
  if (!ascending || (!axes.empty() && (axes.front() < 0 || axes.back() >= operand.shape.rank()))) {
    return complaint("{}: axes {} of rank {}", node.op, format_tuple(axes), operand.shape.rank());
  }
  std::vector<Dim> kept;
  for (int axis = 0; axis < operand.shape.rank(); ++axis) {
    if (!std::ranges::binary_search(axes, axis)) kept.push_back(operand.shape[axis]);
  }
  const Shape shape{std::move(kept)};
  if (node.shape == shape) return {};
  return complaint("{}: shape {}, not {}", node.op, node.shape, shape);
}

Complaint check_scan(const Node& node, const Node& operand) {
  const std::vector<int>& axes = node.get<Axes>().axes;
  if (axes.size() != 1 || axes[0] < 0 || axes[0] >= operand.shape.rank()) {
    return complaint("{}: axes {} of rank {}", node.op, format_tuple(axes), operand.shape.rank());
  }
  if (node.shape == operand.shape) return {};
  return complaint("{}: shape {}, not {}", node.op, node.shape, operand.shape);
}

Complaint check_structure(const Graph& graph, const Node& node) {
  const auto operand = [&](size_t i) -> const Node& { return graph[node.operands[i]]; };
  if (is_reduction(node.op)) {
    if (Complaint bad = detail::check_dtypes(graph, node)) return bad;
    return check_reduction(node, operand(0));
  }
  if (is_scan(node.op)) {
    if (Complaint bad = detail::check_dtypes(graph, node)) return bad;
    return check_scan(node, operand(0));
  }
  switch (node.op) {
    case Op::kInput:
      return check_input(graph, node);
    case Op::kScalar:
      return check_scalar(graph, node);
    case Op::kIota:
      return check_iota(node);
    case Op::kConstant:
      return detail::check_constant(node);
    case Op::kWindow:
      return check_view(node, operand(0));
    case Op::kUpdate:
      return check_update(node, operand(0), operand(1));
    default:
      return complaint("{}: not an op of graphs", node.op);
  }
}

Complaint check_node(const Graph& graph, size_t index) {
  const Node& node = graph.nodes()[index];
  if (Complaint bad = detail::check_form(graph, index, false)) return bad;
  if (!is_elementwise(node.op)) return check_structure(graph, node);
  return detail::check_elementwise(graph, node);
}

Complaint check_parameters(const Graph& graph) {
  std::set<std::string_view> names;
  for (const Parameter& parameter : graph.inputs) {
    if (!names.insert(parameter.name).second) {
      return complaint("two parameters are named '{}'", parameter.name);
    }
    if (Complaint bad = detail::check_sizes(parameter.shape)) return bad;
  }
  return {};
}

}  // namespace

std::optional<Problem> find_problem(const Graph& graph) {
  if (const Complaint bad = check_parameters(graph)) return Problem{*bad};
  for (size_t i = 0; i < graph.size(); ++i) {
    if (const Complaint bad = check_node(graph, i)) return Problem{*bad, -1, graph.value(i)};
  }
  for (const Value output : graph.outputs) {
    if (output.index >= graph.size()) return Problem{"an output is no value of the graph"};
  }
  for (const Check& check : graph.checks) {
    if (check.predicate.index >= graph.size()) {
      return Problem{"a check is on no value of the graph"};
    }
    if (!is_bool(graph[check.predicate].dtype)) {
      return Problem{format("check: predicate is {}", graph[check.predicate].dtype), -1,
                     check.predicate};
    }
  }
  return std::nullopt;
}

void verify(const Graph& graph, std::string_view after) {
  if (const auto problem = find_problem(graph)) {
    const std::string place =
        problem->node.valid() ? format(" (node {})", problem->node.index) : std::string();
    throw InternalError(format("invalid graph after {}: {}{}", after, problem->message, place),
                        print(graph));
  }
}

}  // namespace lanewise::ir
