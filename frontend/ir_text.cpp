#include "frontend/ir_text.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "frontend/evaluate.h"
#include "frontend/executable.h"
#include "ir/interpret.h"
#include "ir/passes/pipeline.h"
#include "ir/passes/schedule.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

constexpr std::string_view kFuse = "fuse";
constexpr std::string_view kSchedule = "schedule";

// The first word, after comments.
bool is_program(std::string_view text) {
  while (!text.empty()) {
    const size_t start = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(std::min(start, text.size()));
    if (!text.starts_with("//")) return text.starts_with("program");
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return false;
}

// A graph until it is fused, then a program.
class Subject {
 public:
  explicit Subject(std::string_view text) {
    if (is_program(text)) {
      program_ = ir::parse_program(text);
    } else {
      graph_ = ir::parse_graph(text);
    }
  }

  void run(std::string_view pass) {
    if (pass == kSchedule) {
      if (!program_) throw ValueError("schedule: orders kernels, which fuse makes of a graph");
      ir::schedule(*program_);
    } else if (program_) {
      throw ValueError(format("{}: works on graphs, but this is a program", pass));
    } else if (pass == kFuse) {
      program_ = ir::fuse(graph_);
    } else {
      const auto found = std::ranges::find(ir::kGraphPasses, pass, &ir::GraphPass::name);
      if (found == std::end(ir::kGraphPasses)) throw ValueError(unknown(pass));
      found->run(graph_);
    }
    program_ ? ir::verify(*program_, pass) : ir::verify(graph_, pass);
  }

  std::string text() const { return program_ ? ir::print(*program_) : ir::print(graph_); }

 private:
  static std::string unknown(std::string_view pass) {
    std::string known;
    for (const std::string& name : pass_names()) known += (known.empty() ? "" : ", ") + name;
    return format("passes: no pass '{}': there are {}", pass, known);
  }

  ir::Graph graph_;
  std::optional<ir::Program> program_;
};

// The graph with numbers for its symbolic sizes.
ir::Graph with_sizes(ir::Graph graph, const ir::SymbolValues& symbols) {
  const auto fixed = [&](const Shape& shape) {
    const std::vector<int64_t> sizes = ir::evaluate(shape, symbols);
    return Shape(std::vector<Dim>(sizes.begin(), sizes.end()));
  };
  for (ir::Parameter& input : graph.inputs) input.shape = fixed(input.shape);
  for (size_t i = 0; i < graph.size(); ++i) {
    ir::Node& node = graph[graph.value(i)];
    node.shape = fixed(node.shape);
    if (auto* window = std::get_if<ir::Window>(&node.attribute)) {
      window->offset = window->offset.evaluate(symbols);
      for (Dim& stride : window->strides) stride = stride.evaluate(symbols);
    }
  }
  return graph;
}

std::vector<int64_t> sizes_of(const Array& array) {
  std::vector<int64_t> sizes;
  for (const Dim& size : array.shape()) sizes.push_back(size.value());
  return sizes;
}

void check_arguments(const ir::Graph& graph, std::span<const Array> arguments) {
  const size_t arrays = graph.inputs.size();
  if (arguments.size() != arrays + graph.scalars.size()) {
    throw ValueError(format("{}: takes {} arrays and {} numbers: {} arguments given", graph.name,
                            arrays, graph.scalars.size(), arguments.size()));
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const DType wanted = i < arrays ? graph.inputs[i].dtype : graph.scalars[i - arrays];
    const std::string name = i < arrays ? graph.inputs[i].name : format("${}", i - arrays);
    if (arguments[i].dtype() != wanted) {
      throw DTypeError(format("{}: argument {} is {}, but {} given", graph.name, name, wanted,
                              arguments[i].dtype()));
    }
    if (i >= arrays && arguments[i].rank() > 0) {
      throw ShapeError(format("{}: argument {} is a number, but an array of shape {} given",
                              graph.name, name, format_tuple(arguments[i].shape())));
    }
  }
}

}  // namespace

std::vector<std::string> pass_names() {
  std::vector<std::string> names;
  for (const ir::GraphPass& pass : ir::kGraphPasses) {
    if (!pass.only_fast) names.emplace_back(pass.name);
  }
  names.emplace_back(kFuse);
  names.emplace_back(kSchedule);
  return names;
}

std::string optimize_text(std::string_view text, std::span<const std::string> passes,
                          const PassObserver& each) {
  Subject subject(text);
  for (const std::string& pass : passes) {
    subject.run(pass);
    if (each) each(pass, subject.text());
  }
  return subject.text();
}

std::vector<Array> run_text(std::string_view text, std::span<const Array> arguments) {
  if (is_program(text)) throw ValueError("run: a program is no graph: only a 'func' can be run");
  ir::Graph graph = ir::parse_graph(text);
  check_arguments(graph, arguments);
  const auto arrays = arguments.first(graph.inputs.size());
  std::vector<std::vector<int64_t>> shapes;
  for (const Array& array : arrays) shapes.push_back(sizes_of(array));
  const ir::SymbolValues symbols = ir::bind_symbols(graph.inputs, shapes);
  graph = with_sizes(std::move(graph), symbols);

  std::vector<StridedData> data;
  std::vector<ArrayLayout> layouts;
  std::vector<intptr_t> inputs, outputs;
  std::vector<uint64_t> scalars;
  for (const Array& array : arguments) data.push_back(strided_data(array));
  for (size_t i = 0; i < data.size(); ++i) {
    if (i < arrays.size()) {
      inputs.push_back(reinterpret_cast<intptr_t>(data[i].data));
      layouts.push_back({.strides = data[i].strides});
    } else {
      uint64_t bits = 0;
      std::memcpy(&bits, data[i].data, static_cast<size_t>(size_of(arguments[i].dtype())));
      scalars.push_back(bits);
    }
  }
  std::shared_ptr<const Executable> executable;
  std::vector<LeafData> memory;
  host().unlocked([&] {
    executable = Executable::build(graph, layouts, {});
    for (const Executable::OutputSpec& output : executable->outputs()) {
      memory.push_back({runtime::Buffer::allocate(static_cast<size_t>(output.bytes)), 0});
      outputs.push_back(reinterpret_cast<intptr_t>(memory.back().data()));
    }
    executable->run(inputs.data(), scalars.data(), outputs.data());
  });
  std::vector<Array> results;
  for (size_t i = 0; i < memory.size(); ++i) {
    const ir::Node& node = graph[graph.outputs[i]];
    results.emplace_back(Node::leaf(node.dtype, node.shape, std::move(memory[i])));
  }
  return results;
}

}  // namespace lanewise::frontend
