#include "ir/detail/reader.h"

#include <algorithm>
#include <charconv>

#include "ir/detail/literal.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir::detail {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string describe(const Token& token) {
  switch (token.kind) {
    case Token::Kind::kEnd:
      return "end of text";
    case Token::Kind::kValue:
      return format("'%{}'", token.text);
    case Token::Kind::kScalar:
      return format("'${}'", token.text);
    case Token::Kind::kFunction:
      return format("'@{}'", token.text);
    default:
      return format("'{}'", token.text);
  }
}

}  // namespace

// ---- tokens --------------------------------------------------------------------------------

// Digits, letters, dots, and signs after an exponent's letter.
size_t Reader::end_of_number(size_t begin) const {
  const bool hexadecimal = text_.substr(begin).starts_with("0x");
  size_t end = begin;
  while (end < text_.size()) {
    const char c = text_[end];
    const char before = end > begin ? text_[end - 1] : ' ';
    const bool sign = (c == '+' || c == '-') && (hexadecimal ? before == 'p' : before == 'e');
    if (!is_identifier_part(c) && !sign) break;
    ++end;
  }
  return end;
}

void Reader::advance() {
  while (position_ < text_.size()) {
    if (text_.substr(position_).starts_with("//")) {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (text_[position_] == ' ' || text_[position_] == '\n' || text_[position_] == '\t' ||
               text_[position_] == '\r') {
      ++position_;
    } else {
      break;
    }
  }
  const size_t begin = position_;
  next_ = {Token::Kind::kEnd, {}, begin};
  if (begin == text_.size()) return;

  const auto end_of_name = [&](size_t end) {
    while (end < text_.size() && is_identifier_part(text_[end])) ++end;
    return end;
  };
  const auto end_of_string = [&](size_t quote) {
    size_t end = quote + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    if (end >= text_.size() || text_[end] != '"') fail(quote, "string without end");
    return end + 1;
  };
  const auto token = [&](Token::Kind kind, size_t skip, size_t end) {
    next_ = {kind, text_.substr(begin + skip, end - begin - skip), begin};
    position_ = end;
  };

  const char c = text_[begin];
  const bool quoted = begin + 1 < text_.size() && text_[begin + 1] == '"';
  if (c == '%' || c == '$' || c == '@') {
    const size_t end = quoted ? end_of_string(begin + 1) : end_of_name(begin + 1);
    if (end == begin + 1) fail(begin, format("no name after '{}'", text_.substr(begin, 1)));
    token(c == '%'   ? Token::Kind::kValue
          : c == '$' ? Token::Kind::kScalar
                     : Token::Kind::kFunction,
          1, end);
  } else if (c == '"') {
    token(Token::Kind::kString, 0, end_of_string(begin));
  } else if (is_digit(c)) {
    token(Token::Kind::kNumber, 0, end_of_number(begin));
  } else if (is_identifier_start(c)) {
    token(Token::Kind::kName, 0, end_of_name(begin));
  } else if (text_.substr(begin).starts_with("->")) {
    token(Token::Kind::kPunctuation, 0, begin + 2);
  } else if (std::string_view("(){}[],:=<+-*").find(c) != std::string_view::npos) {
    token(Token::Kind::kPunctuation, 0, begin + 1);
  } else {
    fail(begin, "unexpected character");
  }
}

Token Reader::take() {
  const Token token = next_;
  advance();
  return token;
}

bool Reader::accept(std::string_view text) {
  const bool matches =
      (next_.kind == Token::Kind::kName || next_.kind == Token::Kind::kPunctuation) &&
      next_.text == text;
  if (matches) advance();
  return matches;
}

void Reader::expect(std::string_view text) {
  if (!accept(text)) fail_expected(format("'{}'", text));
}

Token Reader::expect(Token::Kind kind, std::string_view what) {
  if (next_.kind != kind) fail_expected(what);
  return take();
}

void Reader::list(std::string_view closing, const std::function<void()>& element) {
  if (accept(closing)) return;
  do {
    element();
  } while (accept(","));
  if (!accept(closing)) fail_expected(format("',' or '{}'", closing));
}

void Reader::fail(size_t offset, const std::string& message) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = 1 + std::ranges::count(before, '\n');
  const size_t begin = before.rfind('\n') + 1;  // npos + 1 == 0
  const std::string_view shown = text_.substr(begin, text_.find('\n', offset) - begin);
  std::string margin;
  for (const char c : text_.substr(begin, offset - begin)) margin += c == '\t' ? '\t' : ' ';
  throw ValueError(format("IR text, line {}, column {}: {}\n{}\n{}^", line, offset - begin + 1,
                          message, shown, margin));
}

void Reader::fail_expected(std::string_view what) const {
  fail(next_.offset, format("expected {}, not {}", what, describe(next_)));
}

// ---- names and numbers ---------------------------------------------------------------------

int64_t Reader::integer() {
  const bool negative = accept("-");
  const Token token = expect(Token::Kind::kNumber, "an integer");
  const auto value = parse_literal(DType::kI64, (negative ? "-" : "") + std::string(token.text));
  if (!value) fail(token.offset, format("'{}' is no integer of 64 bits", token.text));
  return value->as<int64_t>();
}

int Reader::number_of(const Token& token) const {
  const auto value = parse_literal(DType::kI32, token.text);
  if (!value || value->as<int32_t>() < 0) fail(token.offset, "expected a small number");
  return value->as<int32_t>();
}

std::string Reader::string() {
  const Token token = expect(Token::Kind::kString, "a string");
  return name_of(token);
}

std::string Reader::name() {
  if (next_.kind != Token::Kind::kString && next_.kind != Token::Kind::kName) {
    fail_expected("a name");
  }
  return name_of(take());
}

std::string Reader::name_of(const Token& token) const {
  if (!token.text.starts_with("\"")) return std::string(token.text);
  auto name = unquote(token.text);
  if (!name) fail(token.offset, "unknown escape in a string");
  return *std::move(name);
}

Literal Reader::literal() {
  Literal literal{{}, next_.offset};
  if (accept("-")) literal.text = "-";
  if (next_.kind != Token::Kind::kNumber && next_.kind != Token::Kind::kName) {
    fail_expected("a number");
  }
  literal.text += take().text;
  if (literal.text == "nan" && accept("(")) {
    literal.text += format("({})", expect(Token::Kind::kNumber, "the bits of a NaN").text);
    expect(")");
  }
  return literal;
}

Scalar Reader::value(DType dtype, const Literal& literal) const {
  const auto value = parse_literal(dtype, literal.text);
  if (!value) fail(literal.offset, format("'{}' is no value of {}", literal.text, dtype));
  return *value;
}

// ---- types and sizes -----------------------------------------------------------------------

DType Reader::dtype() {
  const Token token = expect(Token::Kind::kName, "a dtype");
  try {
    return dtype_from_text_name(token.text);
  } catch (const DTypeError&) {
    fail(token.offset, format("no dtype '{}'", token.text));
  }
}

Dim Reader::dim() { return sum({}, false).offset; }

std::vector<Dim> Reader::dims() {
  std::vector<Dim> result;
  expect("[");
  list("]", [&] { result.push_back(dim()); });
  return result;
}

Shape Reader::shape() {
  const bool present = next_.kind == Token::Kind::kPunctuation && next_.text == "[";
  return present ? Shape(dims()) : Shape();
}

AxisIndex Reader::index(const std::vector<std::string>& loops) { return sum(loops, false); }

AxisIndex Reader::sum(const std::vector<std::string>& loops, bool nested) {
  AxisIndex result;
  bool negative = accept("-");
  do {
    product(loops, nested, negative, result);
    negative = next_.kind == Token::Kind::kPunctuation && next_.text == "-";
  } while (accept("+") || accept("-"));
  return result;
}

// Factors: integers, symbols, a size in parentheses (which holds no further ones), and at most one
// loop.
void Reader::product(const std::vector<std::string>& loops, bool nested, bool negative,
                     AxisIndex& into) {
  const size_t offset = next_.offset;
  Dim factor = negative ? -1 : 1;
  int loop = -1;
  try {
    do {
      if (!nested && accept("(")) {
        factor = factor * sum({}, true).offset;
        expect(")");
      } else if (next_.kind == Token::Kind::kName) {
        const Token token = take();
        const auto found = std::ranges::find(loops, token.text);
        if (found == loops.end()) {
          factor = factor * Dim::symbol(std::string(token.text));
        } else if (loop >= 0) {
          fail(token.offset, "an index is linear in the loops");
        } else {
          loop = static_cast<int>(found - loops.begin());
        }
      } else if (next_.kind == Token::Kind::kNumber) {
        factor = factor * Dim(integer());
      } else {
        fail_expected("a size");
      }
    } while (accept("*"));
    if (loop >= 0) {
      into.terms.push_back({loop, factor});
    } else {
      into.offset = into.offset + factor;
    }
  } catch (const ShapeError& error) {
    fail(offset, error.what());
  }
}

// ---- signatures ----------------------------------------------------------------------------

namespace {

void read_parameter(Reader& reader, Signature& signature) {
  const Token token = reader.peek();
  if (token.kind == Token::Kind::kScalar) {
    reader.take();
    const auto count = static_cast<int>(signature.scalars.size());
    if (reader.number_of(token) != count) reader.fail(token.offset, format("expected ${}", count));
    reader.expect(":");
    signature.scalars.push_back(reader.dtype());
    return;
  }
  Parameter parameter;
  if (!signature.scalars.empty()) reader.fail(token.offset, "arrays come before scalars");
  if (token.kind == Token::Kind::kValue) {
    if (signature.valued != signature.inputs.size()) {
      reader.fail(token.offset, "parameters with a value come first");
    }
    ++signature.valued;
    parameter.name = reader.name_of(reader.take());
  } else if (token.kind == Token::Kind::kName || token.kind == Token::Kind::kString) {
    parameter.name = reader.name();
  } else {
    reader.fail_expected("a parameter");
  }
  reader.expect(":");
  parameter.dtype = reader.dtype();
  parameter.shape = reader.shape();
  parameter.contiguous = !reader.accept("strided");
  signature.inputs.push_back(std::move(parameter));
  signature.input_keys.emplace_back(token.text);
  signature.input_offsets.push_back(token.offset);
}

}  // namespace

Signature read_signature(Reader& reader) {
  Signature signature;
  signature.name = reader.name_of(reader.expect(Token::Kind::kFunction, "a name with @"));
  reader.expect("(");
  reader.list(")", [&] { read_parameter(reader, signature); });
  reader.expect("->");
  const auto result = [&] {
    const size_t offset = reader.peek().offset;
    const DType dtype = reader.dtype();
    signature.results.push_back({dtype, reader.shape(), offset});
  };
  if (reader.accept("(")) {
    reader.list(")", result);
  } else {
    result();
  }
  return signature;
}

}  // namespace lanewise::ir::detail
