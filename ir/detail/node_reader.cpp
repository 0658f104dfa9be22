#include "ir/detail/reader.h"
#include "ir/math/tables.h"
#include "support/format.h"

namespace lanewise::ir::detail {

void NodeReader::define(std::string_view key, size_t offset, Value value) {
  if (!values_.try_emplace(key, value).second) {
    reader_.fail(offset, format("%{} is defined twice", key));
  }
}

Value NodeReader::use() {
  const Token token = reader_.expect(Token::Kind::kValue, "a value");
  const auto found = values_.find(token.text);
  if (found == values_.end()) reader_.fail(token.offset, format("no value %{}", token.text));
  return found->second;
}

void NodeReader::node() {
  const Token result = reader_.expect(Token::Kind::kValue, "a value");
  reader_.expect("=");
  const Token op = reader_.expect(Token::Kind::kName, "an op");
  Node node{.op = Op::kInput, .dtype = DType::kBool, .shape = {}};
  if (!find_op(op.text, node.op)) reader_.fail(op.offset, format("no op '{}'", op.text));
  operands(node);
  Literal number;
  node.attribute = attribute(node, number);
  reader_.expect(":");
  node.dtype = reader_.dtype();
  node.shape = reader_.shape();
  if (node.op == Op::kConstant) node.attribute = reader_.value(node.dtype, number);
  offsets_.push_back(result.offset);
  define(result.text, result.offset, graph_.append(std::move(node)));
}

void NodeReader::operands(Node& node) {
  const size_t offset = reader_.peek().offset;
  int count = 0;
  // Leaves may begin with a buffer's name, which is no value.
  if (node.arity() > 0 && reader_.peek().kind == Token::Kind::kValue) {
    do {
      const Value operand = use();
      if (count < node.arity()) node.operands[static_cast<size_t>(count)] = operand;
      ++count;
    } while (reader_.accept(","));
  }
  if (count != node.arity()) {
    reader_.fail(offset, format("{}: {} operands, not {}", node.op, node.arity(), count));
  }
}

// The number of a constant waits for its dtype.
Attribute NodeReader::attribute(const Node& node, Literal& number) {
  switch (spec(node.op).attribute) {
    case AttributeKind::kNone:
      return {};
    case AttributeKind::kNumber:
      number = reader_.literal();
      return {};
    case AttributeKind::kSlot:
      if (read_slot_) return Slot{read_slot_(node.op)};
      if (node.op != Op::kScalar) {
        return Slot{reader_.number_of(reader_.expect(Token::Kind::kNumber, "a number"))};
      }
      return Slot{reader_.number_of(reader_.expect(Token::Kind::kScalar, "a scalar"))};
    case AttributeKind::kAxis:
      if (read_slot_) return Slot{read_slot_(node.op)};
      return braces(AttributeKind::kAxis);
    case AttributeKind::kAxes:
      if (read_slot_) return {};
      return braces(AttributeKind::kAxes);
    case AttributeKind::kWindow:
    case AttributeKind::kExponent:
    case AttributeKind::kTable:
      return braces(spec(node.op).attribute);
  }
  __builtin_unreachable();
}

// "{name = value, ...}"
Attribute NodeReader::braces(AttributeKind kind) {
  const auto entry = [&](std::string_view name) {
    reader_.expect(name);
    reader_.expect("=");
  };
  Attribute result;
  reader_.expect("{");
  if (kind == AttributeKind::kAxis) {
    entry("axis");
    result = Slot{reader_.number_of(reader_.expect(Token::Kind::kNumber, "an axis"))};
  } else if (kind == AttributeKind::kAxes) {
    entry("axes");
    Axes axes;
    reader_.expect("[");
    reader_.list("]", [&] {
      axes.axes.push_back(reader_.number_of(reader_.expect(Token::Kind::kNumber, "an axis")));
    });
    result = std::move(axes);
  } else if (kind == AttributeKind::kWindow) {
    entry("offset");
    Window window{reader_.dim(), {}};
    reader_.expect(",");
    entry("strides");
    window.strides = reader_.dims();
    result = std::move(window);
  } else if (kind == AttributeKind::kExponent) {
    entry("exponent");
    result = Exponent{reader_.value(DType::kF64, reader_.literal()).as<double>()};
  } else {
    entry("table");
    const size_t offset = reader_.peek().offset;
    const std::string name = reader_.name();
    const Table* table = math::find_table(name);
    if (!table) reader_.fail(offset, format("no table '{}'", name));
    result = table;
  }
  reader_.expect("}");
  return result;
}

}  // namespace lanewise::ir::detail
