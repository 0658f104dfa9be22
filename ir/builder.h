// Building graphs with inference and checks, and `Expr`: arithmetic notation for expansions.
#pragma once

#include <concepts>
#include <initializer_list>
#include <type_traits>

#include "ir/graph.h"

namespace lanewise::ir {

class Expr;

// Appends nodes to a graph: infers dtype and shape, throws DTypeError and ShapeError with op,
// facts and cause for operands that do not fit. Elementwise ops on constants only are not folded.
class Builder {
 public:
  explicit Builder(Graph& graph) : graph_(graph) {}

  Graph& graph() { return graph_; }
  const Node& operator[](Value value) const { return graph_[value]; }
  // Nodes appended from now on carry this source.
  void set_source(Source source) { source_ = source; }

  Value input(std::string name, DType dtype, Shape shape, bool contiguous = true);
  Value constant(lanewise::Scalar value, Shape shape = {});
  // Declares a further scalar argument.
  Value scalar(DType dtype, Shape shape = {});
  // Scalar argument `slot`, already declared.
  Value scalar_slot(int slot, Shape shape = {});
  Value iota(DType dtype, Shape shape, int axis);
  Value window(Value operand, Shape shape, Window window);
  // As NumPy broadcasts: axes aligned at the end. The operand itself if the shape is the same.
  Value broadcast(Value operand, const Shape& shape);
  // `value` has the shape of the window.
  Value update(Value base, Value value, Window window);
  Value reduce(Op op, Value operand, std::vector<int> axes);
  Value scan(Op op, Value operand, int axis);
  Value cast(Value operand, DType dtype);
  Value bitcast(Value operand, DType dtype);
  Value table_lookup(Value index, const Table& table);
  // Any other elementwise op.
  Value apply(Op op, std::initializer_list<Value> operands, Attribute attribute = {});

  // A copy of `node`, with its attribute, on new operands of the same dtypes.
  Value clone(const Node& node, std::span<const Value> operands);

  Expr expr(Value value);

 private:
  Value append(Op op, DType dtype, Shape shape, std::initializer_list<Value> operands,
               Attribute attribute = {});

  Graph& graph_;
  Source source_ = 0;
};

// A value with operators, so that expansions read like formulas:
//     Expr p = fma(r, 0.5, 1.0);
//     return select(x > 88.0, x.like(kInfinity), p * t);
// Numbers on one side take the dtype and shape of the other side. C++ operators mean the op
// of that name; % and / on integers are not offered.
class Expr {
 public:
  Expr() = default;
  Expr(Builder& builder, Value value) : builder_(&builder), value_(value) {}

  Value value() const { return value_; }
  Builder& builder() const { return *builder_; }
  DType dtype() const { return node().dtype; }
  const Shape& shape() const { return node().shape; }
  const Node& node() const { return (*builder_)[value_]; }

  // A constant with this dtype and shape.
  template <class T>
    requires std::is_arithmetic_v<T>
  Expr like(T number) const {
    if constexpr (std::is_floating_point_v<T>) {
      return constant(lanewise::Scalar::from_double(dtype(), static_cast<double>(number)));
    } else {
      return constant(lanewise::Scalar::from_int(dtype(), static_cast<int64_t>(number)));
    }
  }
  // A constant with this shape and the dtype of `value`.
  Expr constant(lanewise::Scalar value) const;

  Expr cast(DType dtype) const;
  Expr bitcast(DType dtype) const;
  // The bits as the signed or unsigned integer of the same width, and integer bits as a float.
  Expr as_signed() const;
  Expr as_unsigned() const;
  Expr as_float() const;

 private:
  Builder* builder_ = nullptr;
  Value value_;
};

Expr apply(Op op, std::initializer_list<Expr> operands, Attribute attribute = {});

// Each binary operation also takes a number on either side.
#define LANEWISE_EXPR_BINARY(function, op)                                             \
  inline Expr function(const Expr& a, const Expr& b) { return apply(Op::op, {a, b}); } \
  template <class T>                                                                   \
    requires std::is_arithmetic_v<T>                                                   \
  Expr function(const Expr& a, T b) {                                                  \
    return function(a, a.like(b));                                                     \
  }                                                                                    \
  template <class T>                                                                   \
    requires std::is_arithmetic_v<T>                                                   \
  Expr function(T a, const Expr& b) {                                                  \
    return function(b.like(a), b);                                                     \
  }
LANEWISE_EXPR_BINARY(operator+, kAdd)
LANEWISE_EXPR_BINARY(operator-, kSubtract)
LANEWISE_EXPR_BINARY(operator*, kMultiply)
LANEWISE_EXPR_BINARY(operator/, kDivide)
LANEWISE_EXPR_BINARY(operator&, kBitwiseAnd)
LANEWISE_EXPR_BINARY(operator|, kBitwiseOr)
LANEWISE_EXPR_BINARY(operator^, kBitwiseXor)
LANEWISE_EXPR_BINARY(operator<<, kShiftLeft)
LANEWISE_EXPR_BINARY(operator>>, kShiftRight)
LANEWISE_EXPR_BINARY(operator==, kEqual)
LANEWISE_EXPR_BINARY(operator!=, kNotEqual)
LANEWISE_EXPR_BINARY(operator<, kLess)
LANEWISE_EXPR_BINARY(operator<=, kLessEqual)
LANEWISE_EXPR_BINARY(operator>, kGreater)
LANEWISE_EXPR_BINARY(operator>=, kGreaterEqual)
LANEWISE_EXPR_BINARY(minimum, kMinimum)
LANEWISE_EXPR_BINARY(maximum, kMaximum)
LANEWISE_EXPR_BINARY(quotient, kQuotient)
LANEWISE_EXPR_BINARY(multiply_high, kMultiplyHigh)
LANEWISE_EXPR_BINARY(scale2, kScale2)
#undef LANEWISE_EXPR_BINARY

inline Expr operator-(const Expr& a) { return apply(Op::kNegative, {a}); }
inline Expr operator~(const Expr& a) { return apply(Op::kBitwiseInvert, {a}); }
inline Expr abs(const Expr& a) { return apply(Op::kAbsolute, {a}); }
inline Expr sqrt(const Expr& a) { return apply(Op::kSqrt, {a}); }
inline Expr floor(const Expr& a) { return apply(Op::kFloor, {a}); }
inline Expr ceil(const Expr& a) { return apply(Op::kCeil, {a}); }
inline Expr trunc(const Expr& a) { return apply(Op::kTrunc, {a}); }
inline Expr round(const Expr& a) { return apply(Op::kRound, {a}); }

// Any of the three may be a number, not all.
inline Expr fma(const Expr& a, const Expr& b, const Expr& c) { return apply(Op::kFma, {a, b, c}); }
inline Expr fma(const Expr& a, double b, const Expr& c) { return fma(a, a.like(b), c); }
inline Expr fma(const Expr& a, const Expr& b, double c) { return fma(a, b, a.like(c)); }
inline Expr fma(const Expr& a, double b, double c) { return fma(a, a.like(b), a.like(c)); }

// mask ? yes : no, lane by lane.
inline Expr select(const Expr& mask, const Expr& yes, const Expr& no) {
  return apply(Op::kSelect, {mask, yes, no});
}
template <class T>
  requires std::is_arithmetic_v<T>
Expr select(const Expr& mask, T yes, const Expr& no) {
  return select(mask, no.like(yes), no);
}
template <class T>
  requires std::is_arithmetic_v<T>
Expr select(const Expr& mask, const Expr& yes, T no) {
  return select(mask, yes, yes.like(no));
}
// mask ? unusual : common, where the work for `unusual` is skipped if no lane of a vector has
// its mask set.
inline Expr rare(const Expr& mask, const Expr& common, const Expr& unusual) {
  return apply(Op::kRare, {mask, common, unusual});
}
// table[index & (length - 1)].
Expr table_lookup(const Table& table, const Expr& index);

}  // namespace lanewise::ir
