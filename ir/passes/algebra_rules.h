// The rules of simplify_algebra for elementwise ops, as a table of patterns. Tests read the table:
// every rule is instantiated for each of its dtypes and both sides are compared.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ir/builder.h"

namespace lanewise::ir::algebra {

// A pattern, or what replaces it.
struct Term {
  enum class Kind : uint8_t {
    kVariable,  // any value of the rule's dtype; the same one wherever it appears
    kMask,      // any bool value, likewise
    kConstant,  // a constant of the rule's dtype, likewise
    kNumber,    // the constant `number`, of the dtype that its place asks for
    kComputed,  // in replacements: compute(constant)
    kOp,
  };
  Kind kind = Kind::kVariable;
  int index = 0;  // of the variable, mask or constant
  double number = 0;
  Op op = Op::kAdd;
  std::optional<Scalar> (*compute)(Scalar) = nullptr;
  std::vector<Term> operands = {};
};

inline constexpr int kMaxVariables = 3;

// What the parts of a pattern stand for.
struct Match {
  DType dtype = DType::kBool;  // the rule's dtype
  std::array<Value, kMaxVariables> variables;
  std::array<Value, kMaxVariables> masks;
  std::array<std::optional<Scalar>, kMaxVariables> constants;
};

// `pattern` may be replaced by `replacement` where its variables have one of `dtypes` and its
// constants satisfy `where`: both have the same bits, whatever the variables are.
struct Rule {
  std::string_view name;
  Term pattern;
  Term replacement;
  DTypeSet dtypes;
  bool (*where)(const Match& match) = nullptr;
};

// In the order in which they are tried.
std::span<const Rule> rules();

// The constant that a number stands for among operands of `dtype`. -1 of an unsigned integer is its
// largest value, all ones.
Scalar number_of(DType dtype, double number);

// Appends the nodes of a term, with the shape of the values matched. `apply` makes a node of an op
// and its operands. Nothing if a computed constant does not exist.
using Apply = std::function<Value(Op op, std::span<const Value> operands)>;
std::optional<Value> build(Builder& builder, const Term& term, const Match& match,
                           const Shape& shape, DType dtype, const Apply& apply);

}  // namespace lanewise::ir::algebra
