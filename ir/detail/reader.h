// Reading IR text: tokens, and the small things that graphs and programs have in common.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace lanewise::ir::detail {

struct Token {
  enum class Kind : uint8_t {
    kEnd,
    kName,         // add, f32, n
    kNumber,       // 12, 1.5e-3, 0x1.8p-3
    kString,       // "...", with its quotes
    kValue,        // %x, %0, %"a b"; the text is what follows %
    kScalar,       // $0; the text is what follows $
    kFunction,     // @f; the text is what follows @
    kPunctuation,  // one character, or ->
  };
  Kind kind = Kind::kEnd;
  std::string_view text;
  size_t offset = 0;
};

// A number whose dtype is not known yet.
struct Literal {
  std::string text;
  size_t offset = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) { advance(); }

  const Token& peek() const { return next_; }
  Token take();
  // Takes the next token if it is this name or punctuation.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  Token expect(Token::Kind kind, std::string_view what);
  // Calls `element` for each element of a comma-separated list up to `closing`, which is taken.
  void list(std::string_view closing, const std::function<void()>& element);

  // Throws ValueError that shows the place.
  [[noreturn]] void fail(size_t offset, const std::string& message) const;
  [[noreturn]] void fail_expected(std::string_view what) const;

  int64_t integer();
  int number_of(const Token& token) const;  // of $3, or of a plain number
  std::string string();
  // A name or a string; the token's text as a name.
  std::string name();
  std::string name_of(const Token& token) const;
  Literal literal();
  Scalar value(DType dtype, const Literal& literal) const;
  DType dtype();
  Dim dim();
  std::vector<Dim> dims();  // "[n, 4]"
  Shape shape();            // the same, or nothing for rank 0
  // An index "2*i0 + n" over these loops.
  AxisIndex index(const std::vector<std::string>& loops);

 private:
  void advance();
  size_t end_of_number(size_t begin) const;
  AxisIndex sum(const std::vector<std::string>& loops, bool nested);
  void product(const std::vector<std::string>& loops, bool nested, bool negative, AxisIndex& into);

  std::string_view text_;
  size_t position_ = 0;
  Token next_;
};

// "@f(%x: f32[n], y: f32[4] strided, $0: f32) -> f32[n]"
struct Signature {
  std::string name;
  std::vector<Parameter> inputs;
  std::vector<std::string> input_keys;  // as %x is spelled
  std::vector<size_t> input_offsets;
  size_t valued = 0;  // how many of the first inputs have % before them
  std::vector<DType> scalars;
  struct Result {
    DType dtype;
    Shape shape;
    size_t offset;
  };
  std::vector<Result> results;
};
Signature read_signature(Reader& reader);

// Reads nodes into a graph.
class NodeReader {
 public:
  // Reads the number of an argument or operand of a leaf ("$0", "%x[i0]") in a kernel.
  using ReadSlot = std::function<int(Op op)>;

  NodeReader(Reader& reader, Graph& graph, ReadSlot read_slot = {})
      : reader_(reader), graph_(graph), read_slot_(std::move(read_slot)) {}

  void define(std::string_view key, size_t offset, Value value);
  Value use();
  // "%2 = add %0, %1 : f32[n]"
  void node();
  // Where the line of each node begins.
  const std::vector<size_t>& offsets() const { return offsets_; }

 private:
  Attribute attribute(const Node& node, Literal& number);
  Attribute braces(AttributeKind kind);
  void operands(Node& node);

  Reader& reader_;
  Graph& graph_;
  ReadSlot read_slot_;
  std::unordered_map<std::string_view, Value> values_;
  std::vector<size_t> offsets_;
};

}  // namespace lanewise::ir::detail
