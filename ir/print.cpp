#include <algorithm>
#include <functional>

#include "ir/detail/literal.h"
#include "ir/text.h"
#include "support/format.h"

namespace lanewise::ir {

std::string type_text(DType dtype, const Shape& shape) {
  return to_string(dtype) + to_string(shape);
}

namespace {

using detail::name_text;
using detail::quote;

// "[a, b]"
template <class Range>
std::string list(const Range& range) {
  std::string out = "[";
  for (const auto& element : range) out += format(out.size() > 1 ? ", {}" : "{}", element);
  return out + "]";
}

// ---- nodes ---------------------------------------------------------------------------------

// How many of the first nodes are the Input nodes of the parameters, in order: those have no line.
size_t implicit_inputs(const Graph& graph) {
  size_t count = 0;
  while (count < std::min(graph.inputs.size(), graph.size())) {
    const Node& node = graph.nodes()[count];
    const Slot* slot = std::get_if<Slot>(&node.attribute);
    const Parameter& parameter = graph.inputs[count];
    if (node.op != Op::kInput || !slot || slot->index != static_cast<int>(count) ||
        node.dtype != parameter.dtype || node.shape != parameter.shape) {
      break;
    }
    ++count;
  }
  return count;
}

// Prints the nodes of a graph, or of a kernel's body, where `slot_text` says how its leaves read.
class NodePrinter {
 public:
  using SlotText = std::function<std::string(const Node& node, int slot)>;

  NodePrinter(const Graph& graph, size_t implicit, std::string indent, SlotText slot_text)
      : graph_(graph),
        implicit_(implicit),
        indent_(std::move(indent)),
        slot_text_(std::move(slot_text)) {}

  std::string label(Value value) const {
    if (value.index < implicit_) return "%" + name_text(graph_.inputs[value.index].name);
    // A broken graph is printed as well as it can be: it may be on its way into an error report.
    if (value.index >= graph_.size()) return "%?";
    return format("%{}", value.index - implicit_);
  }

  void print(std::string& out) const {
    for (size_t i = implicit_; i < graph_.size(); ++i) {
      const Node& node = graph_.nodes()[i];
      out += format("{}{} = {}", indent_, label(graph_.value(i)), name(node.op));
      const char* separator = " ";
      for (const Value operand : node.inputs()) {
        out += separator + label(operand);
        separator = ", ";
      }
      out += attribute(node);
      out += " : " + type_text(node.dtype, node.shape) + "\n";
    }
  }

 private:
  std::string attribute(const Node& node) const {
    struct Visitor {
      const NodePrinter& printer;
      const Node& node;
      std::string operator()(std::monostate) const { return ""; }
      std::string operator()(Scalar value) const { return " " + detail::literal(value); }
      std::string operator()(Slot slot) const { return printer.slot_text_(node, slot.index); }
      std::string operator()(const Window& window) const {
        return format(" {offset = {}, strides = {}}", window.offset, list(window.strides));
      }
      std::string operator()(const Axes& axes) const {
        return format(" {axes = {}}", list(axes.axes));
      }
      std::string operator()(Exponent e) const {
        return " {exponent = " + detail::literal(Scalar::of(e.value)) + "}";
      }
      std::string operator()(const Table* table) const {
        return format(" {table = {}}", table ? name_text(table->name) : "?");
      }
    };
    return std::visit(Visitor{*this, node}, node.attribute);
  }

  const Graph& graph_;
  size_t implicit_;
  std::string indent_;
  SlotText slot_text_;
};

std::string graph_slot(const Node& node, int slot) {
  if (node.op == Op::kScalar) return format(" ${}", slot);
  if (node.op == Op::kIota) return format(" {axis = {}}", slot);
  return format(" {}", slot);
}

// ---- signatures ----------------------------------------------------------------------------

// The first `valued` parameters have a value of their own.
std::string signature(const char* keyword, const std::string& function,
                      const std::vector<Parameter>& inputs, size_t valued,
                      const std::vector<DType>& scalars, const std::vector<std::string>& results) {
  std::string out = format("{} @{}(", keyword, name_text(function));
  const char* separator = "";
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Parameter& parameter = inputs[i];
    out +=
        format("{}{}{}: {}{}", separator, i < valued ? "%" : "", name_text(parameter.name),
               type_text(parameter.dtype, parameter.shape), parameter.contiguous ? "" : " strided");
    separator = ", ";
  }
  for (size_t i = 0; i < scalars.size(); ++i) {
    out += format("{}${}: {}", separator, i, scalars[i]);
    separator = ", ";
  }
  out += ") -> ";
  if (results.size() == 1) return out + results[0];
  out += "(";
  separator = "";
  for (const std::string& result : results) {
    out += separator + result;
    separator = ", ";
  }
  return out + ")";
}

std::string return_line(const std::vector<std::string>& values) {
  std::string out = "  return";
  const char* separator = " ";
  for (const std::string& value : values) {
    out += separator + value;
    separator = ", ";
  }
  return out + "\n";
}

// ---- programs ------------------------------------------------------------------------------

// Names of all buffers: parameters keep theirs, the others get one that no parameter has.
std::vector<std::string> buffer_names(const Program& program) {
  std::string suffix;
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::find(program.inputs, name, &Parameter::name) != program.inputs.end();
  };
  std::vector<std::string> names;
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& buffer = program.buffers[i];
    const auto index = static_cast<size_t>(buffer.index);
    std::string name;
    switch (buffer.kind) {
      case Buffer::Kind::kInput:
        name = index < program.inputs.size() ? program.inputs[index].name : "?";
        break;
      case Buffer::Kind::kOutput:
        name = format("out{}", index);
        break;
      case Buffer::Kind::kTemporary:
        name = format("temporary{}", i);
        break;
      case Buffer::Kind::kBlock:
        name = format("block{}", i);
        break;
    }
    while (buffer.kind != Buffer::Kind::kInput && is_taken(name)) name += "_";
    names.push_back("%" + name_text(name));
  }
  return names;
}

class ProgramPrinter {
 public:
  explicit ProgramPrinter(const Program& program)
      : program_(program), names_(buffer_names(program)) {}

  std::string program() const {
    std::vector<std::string> results, returned;
    for (const int output : program_.outputs) {
      const Buffer* buffer = find(output);
      results.push_back(buffer ? type_text(buffer->dtype, buffer->shape) : "?");
      returned.push_back(buffer_name(output));
    }
    std::string out = signature("program", program_.name, program_.inputs, program_.inputs.size(),
                                program_.scalars, results) +
                      " {\n";
    for (size_t i = program_.inputs.size(); i < program_.buffers.size(); ++i) {
      out += declaration(program_.buffers[i], names_[i]);
    }
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      if (static_cast<int>(i) == program_.check_steps) out += checks();
      out += step(program_.steps[i]);
    }
    if (program_.check_steps >= static_cast<int>(program_.steps.size())) out += checks();
    return out + return_line(returned) + "}\n";
  }

  std::string kernel(const Kernel& kernel, const std::string& indent) const {
    const int kept = kernel.domain.rank() - kernel.reduced;
    std::string out =
        format("{}kernel @{} {}", indent, name_text(kernel.name), loops(kernel, 0, kept));
    if (kernel.reduced > 0) out += " reduce " + loops(kernel, kept, kernel.domain.rank());
    out += " {\n";
    const auto slot_text = [&](const Node& node, int slot) -> std::string {
      if (node.op == Op::kScalar) {
        const auto index = static_cast<size_t>(slot);
        return index < kernel.scalars.size() ? format(" ${}", kernel.scalars[index]) : " $?";
      }
      return " " + operand(kernel, slot);
    };
    const NodePrinter nodes(kernel.body, 0, indent + "  ", slot_text);
    nodes.print(out);
    for (const Store& store : kernel.stores) {
      out += format("{}  store {}, {}\n", indent, operand(kernel, store.operand),
                    nodes.label(store.value));
    }
    return out + indent + "}\n";
  }

 private:
  const Buffer* find(int index) const {
    const auto i = static_cast<size_t>(index);
    return i < program_.buffers.size() ? &program_.buffers[i] : nullptr;
  }

  std::string buffer_name(int index) const {
    return find(index) ? names_[static_cast<size_t>(index)] : "%?";
  }

  std::string declaration(const Buffer& buffer, const std::string& name) const {
    std::string kind;
    switch (buffer.kind) {
      case Buffer::Kind::kInput:
        kind = format("input {}", buffer.index);
        break;
      case Buffer::Kind::kOutput:
        kind = format("output {}", buffer.index);
        break;
      case Buffer::Kind::kTemporary:
        kind = "temporary";
        break;
      case Buffer::Kind::kBlock:
        kind = "block";
        break;
    }
    std::string out = format("  {} = {} : {}", name, kind, type_text(buffer.dtype, buffer.shape));
    if (!buffer.contiguous) out += " strided";
    if (buffer.starts_as >= 0) out += " starts as " + buffer_name(buffer.starts_as);
    return out + "\n";
  }

  std::string step(const Step& step) const {
    if (step.kernels.size() == 1 && !step.blocked) return kernel(step.kernels[0], "  ");
    std::string out = step.blocked ? "  blocked {\n" : "  step {\n";
    for (const Kernel& k : step.kernels) out += kernel(k, "    ");
    return out + "  }\n";
  }

  std::string checks() const {
    std::string out;
    for (const FirstFailure& check : program_.checks) {
      out += format("  check {} {} {}\n", buffer_name(check.buffer), list(check.shape),
                    quote(check.message));
    }
    return out;
  }

  static std::string loop_name(const Kernel& kernel, int loop) {
    const auto i = static_cast<size_t>(loop);
    return i < kernel.loops.size() ? kernel.loops[i] : "?";
  }

  // "(i0 < n, i1 < 4)"
  static std::string loops(const Kernel& kernel, int begin, int end) {
    std::string out = "(";
    for (int loop = begin; loop < end; ++loop) {
      out += format("{}{} < {}", loop > begin ? ", " : "", loop_name(kernel, loop),
                    kernel.domain[loop]);
    }
    return out + ")";
  }

  static std::string operand_index(const Kernel& kernel, const AxisIndex& axis) {
    std::string out;
    const auto append = [&](std::string term) {
      const bool negative = term.starts_with("-");
      if (negative) term = term.substr(1);
      if (out.empty()) {
        out = (negative ? "-" : "") + term;
      } else {
        out += (negative ? " - " : " + ") + term;
      }
    };
    for (const AxisIndex::Term& term : axis.terms) {
      const std::string loop = loop_name(kernel, term.loop);
      std::string step = to_string(term.step);
      if (!term.step.is_constant() && step.find_first_of("- ") != std::string::npos) {
        step = format("({})", step);
      }
      append(term.step.is(1)    ? loop
             : term.step.is(-1) ? format("-{}", loop)
                                : format("{}*{}", step, loop));
    }
    if (!axis.offset.is(0) || out.empty()) append(to_string(axis.offset));
    return out;
  }

  // "%x[i0, 1]", "%x as [m][2*i0]", "[i0 + 1]"
  std::string operand(const Kernel& kernel, int slot) const {
    const auto i = static_cast<size_t>(slot);
    if (i >= kernel.operands.size()) return "%?";
    const Operand& operand = kernel.operands[i];
    std::string out;
    if (operand.buffer != Operand::kIndex) {
      out = buffer_name(operand.buffer);
      const Buffer* buffer = find(operand.buffer);
      if (!buffer || buffer->shape != operand.shape) out += " as " + list(operand.shape);
    }
    std::vector<std::string> axes;
    for (const AxisIndex& axis : operand.axes) axes.push_back(operand_index(kernel, axis));
    return out + list(axes);
  }

  const Program& program_;
  std::vector<std::string> names_;
};

}  // namespace

std::string print(const Graph& graph) {
  const size_t implicit = implicit_inputs(graph);
  const NodePrinter nodes(graph, implicit, "  ", graph_slot);
  std::vector<std::string> results, returned;
  for (const Value output : graph.outputs) {
    const bool exists = output.index < graph.size();
    results.push_back(exists ? type_text(graph[output].dtype, graph[output].shape) : "?");
    returned.push_back(nodes.label(output));
  }
  std::string out =
      signature("func", graph.name, graph.inputs, implicit, graph.scalars, results) + " {\n";
  nodes.print(out);
  for (const Check& check : graph.checks) {
    out += format("  check {} {}\n", nodes.label(check.predicate), quote(check.message));
  }
  return out + return_line(returned) + "}\n";
}

std::string print(const Program& program) { return ProgramPrinter(program).program(); }

std::string print(const Kernel& kernel, const Program& program) {
  return ProgramPrinter(program).kernel(kernel, "");
}

}  // namespace lanewise::ir
