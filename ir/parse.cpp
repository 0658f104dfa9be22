#include "ir/detail/reader.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/format.h"

namespace lanewise::ir {

using detail::NodeReader;
using detail::Reader;
using detail::Signature;
using detail::Token;

namespace {

// After "return": the outputs, which have the types that the signature gives.
void read_return(Reader& reader, NodeReader& nodes, const Signature& signature, Graph& graph) {
  const size_t offset = reader.peek().offset;
  if (reader.peek().kind == Token::Kind::kValue) {
    do {
      const size_t place = reader.peek().offset;
      const size_t number = graph.outputs.size();
      graph.outputs.push_back(nodes.use());
      if (number >= signature.results.size()) continue;
      const Node& node = graph[graph.outputs.back()];
      const Signature::Result& result = signature.results[number];
      if (node.dtype != result.dtype || node.shape != result.shape) {
        reader.fail(place,
                    format("result {} is {}, not {}", number, type_text(node.dtype, node.shape),
                           type_text(result.dtype, result.shape)));
      }
    } while (reader.accept(","));
  }
  if (graph.outputs.size() != signature.results.size()) {
    reader.fail(offset,
                format("{} results, not {}", graph.outputs.size(), signature.results.size()));
  }
}

}  // namespace

Graph parse_graph(std::string_view text) {
  Reader reader(text);
  reader.expect("func");
  Signature signature = detail::read_signature(reader);
  Graph graph;
  graph.name = signature.name;
  graph.inputs = signature.inputs;
  graph.scalars = signature.scalars;
  NodeReader nodes(reader, graph);
  for (size_t i = 0; i < signature.valued; ++i) {
    const Parameter& parameter = graph.inputs[i];
    const Value value = graph.append({.op = Op::kInput,
                                      .dtype = parameter.dtype,
                                      .shape = parameter.shape,
                                      .attribute = Slot{static_cast<int>(i)}});
    nodes.define(signature.input_keys[i], signature.input_offsets[i], value);
  }
  reader.expect("{");
  while (reader.peek().kind == Token::Kind::kValue) nodes.node();
  while (reader.accept("check")) {
    const Value predicate = nodes.use();
    graph.checks.push_back({predicate, reader.string()});
  }
  if (!reader.accept("return")) reader.fail_expected("a node, 'check' or 'return'");
  read_return(reader, nodes, signature, graph);
  reader.expect("}");
  reader.expect(Token::Kind::kEnd, "end of text");

  if (const auto problem = find_problem(graph)) {
    const size_t line = problem->node.index - signature.valued;
    const bool implicit = problem->node.index < signature.valued;
    reader.fail(!problem->node.valid() ? 0
                : implicit             ? signature.input_offsets[problem->node.index]
                                       : nodes.offsets()[line],
                problem->message);
  }
  return graph;
}

}  // namespace lanewise::ir
