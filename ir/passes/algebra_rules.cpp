#include "ir/passes/algebra_rules.h"

#include <bit>
#include <cmath>
#include <limits>

#include "ir/interpret.h"

namespace lanewise::ir::algebra {

namespace {

// ---- the notation of the table -------------------------------------------------------------

const Term x{.kind = Term::Kind::kVariable, .index = 0};
const Term y{.kind = Term::Kind::kVariable, .index = 1};
const Term z{.kind = Term::Kind::kVariable, .index = 2};
const Term mask{.kind = Term::Kind::kMask, .index = 0};
const Term c{.kind = Term::Kind::kConstant, .index = 0};
const Term d{.kind = Term::Kind::kConstant, .index = 1};

Term number(double value) { return {.kind = Term::Kind::kNumber, .number = value}; }
Term computed(std::optional<Scalar> (*compute)(Scalar), const Term& constant) {
  return {.kind = Term::Kind::kComputed, .index = constant.index, .compute = compute};
}

struct Apply1 {
  Op op;
  Term operator()(const Term& a) const {
    return {.kind = Term::Kind::kOp, .op = op, .operands = {a}};
  }
};
struct Apply2 {
  Op op;
  Term operator()(const Term& a, const Term& b) const {
    return {.kind = Term::Kind::kOp, .op = op, .operands = {a, b}};
  }
  Term operator()(const Term& a, double b) const { return (*this)(a, number(b)); }
  Term operator()(double a, const Term& b) const { return (*this)(number(a), b); }
};
struct Apply3 {
  Op op;
  Term operator()(const Term& a, const Term& b, const Term& third) const {
    return {.kind = Term::Kind::kOp, .op = op, .operands = {a, b, third}};
  }
  Term operator()(const Term& a, const Term& b, double third) const {
    return (*this)(a, b, number(third));
  }
  Term operator()(const Term& a, double b, const Term& third) const {
    return (*this)(a, number(b), third);
  }
  Term operator()(const Term& a, double b, double third) const {
    return (*this)(a, number(b), number(third));
  }
};

constexpr Apply1 negative{Op::kNegative}, abs{Op::kAbsolute}, invert{Op::kBitwiseInvert},
    floor{Op::kFloor}, ceil{Op::kCeil}, trunc{Op::kTrunc}, round{Op::kRound}, square{Op::kSquare},
    logical_not{Op::kLogicalNot};
constexpr Apply2 add{Op::kAdd}, subtract{Op::kSubtract}, multiply{Op::kMultiply},
    divide{Op::kDivide}, quotient{Op::kQuotient}, minimum{Op::kMinimum}, maximum{Op::kMaximum},
    bitwise_and{Op::kBitwiseAnd}, bitwise_or{Op::kBitwiseOr}, bitwise_xor{Op::kBitwiseXor},
    shift_left{Op::kShiftLeft}, shift_right{Op::kShiftRight}, equal{Op::kEqual},
    not_equal{Op::kNotEqual}, less{Op::kLess}, less_equal{Op::kLessEqual}, greater{Op::kGreater},
    greater_equal{Op::kGreaterEqual}, scale2{Op::kScale2}, logical_and{Op::kLogicalAnd},
    logical_or{Op::kLogicalOr}, logical_xor{Op::kLogicalXor};
constexpr Apply3 select{Op::kSelect}, rare{Op::kRare}, fma{Op::kFma};

const Term kTrueMask = number(1);
const Term kFalseMask = number(0);
constexpr double kOnes = -1;  // every bit set; true

constexpr auto kSignedAndFloats = static_cast<DTypeSet>(kSigned | kFloats);
constexpr auto kUnsignedAndBools = static_cast<DTypeSet>(kUnsigned | kBools);

// ---- conditions on constants ---------------------------------------------------------------

template <class F>
decltype(auto) with_value(Scalar s, F f) {
  return visit_dtype(s.dtype, [&](auto zero) { return f(s.as<decltype(zero)>()); });
}

// 1 / value, if it is exact: then x / value and x * (1 / value) round the same number.
std::optional<Scalar> exact_inverse(Scalar s) {
  return with_value(s, [](auto value) -> std::optional<Scalar> {
    using T = decltype(value);
    if constexpr (std::is_floating_point_v<T>) {
      int exponent;
      const T inverse = 1 / value;
      if (std::abs(std::frexp(value, &exponent)) != T{0.5} || !std::isfinite(inverse)) return {};
      return Scalar::of(inverse);
    } else {
      return {};
    }
  });
}

// k of an integer 2^k, k > 0.
std::optional<Scalar> exact_log2(Scalar s) {
  return with_value(s, [](auto value) -> std::optional<Scalar> {
    using T = decltype(value);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (value <= 1) return {};
      const auto bits = static_cast<std::make_unsigned_t<T>>(value);
      if (!std::has_single_bit(bits)) return {};
      return Scalar::of(static_cast<T>(std::countr_zero(bits)));
    } else {
      return {};
    }
  });
}

template <class T>
using Limits = std::numeric_limits<T>;

// The neutral element of minimum, infinity for floating point, and of maximum.
bool is_largest(const Match& match) {
  return with_value(*match.constants[0], [](auto value) {
    using T = decltype(value);
    return value == (Limits<T>::has_infinity ? Limits<T>::infinity() : Limits<T>::max());
  });
}
bool is_smallest(const Match& match) {
  return with_value(*match.constants[0], [](auto value) {
    using T = decltype(value);
    return value == (Limits<T>::has_infinity ? -Limits<T>::infinity() : Limits<T>::lowest());
  });
}

// ---- the table -----------------------------------------------------------------------------

const std::vector<Rule>& table() {
  static const std::vector<Rule> kRules = {
      // bool: one spelling for each operation
      {"logical-and", logical_and(x, y), bitwise_and(x, y), kBools},
      {"logical-or", logical_or(x, y), bitwise_or(x, y), kBools},
      {"logical-xor", logical_xor(x, y), bitwise_xor(x, y), kBools},
      {"logical-not", logical_not(x), invert(x), kBools},
      {"bool-add", add(x, y), bitwise_or(x, y), kBools},
      {"bool-multiply", multiply(x, y), bitwise_and(x, y), kBools},
      {"bool-minimum", minimum(x, y), bitwise_and(x, y), kBools},
      {"bool-maximum", maximum(x, y), bitwise_or(x, y), kBools},
      {"bool-not-equal", not_equal(x, y), bitwise_xor(x, y), kBools},
      {"bool-equal-true", equal(x, 1), x, kBools},
      {"bool-equal-false", equal(x, 0), invert(x), kBools},
      {"invert-and", bitwise_and(invert(x), invert(y)), invert(bitwise_or(x, y)), kIntegral},
      {"invert-or", bitwise_or(invert(x), invert(y)), invert(bitwise_and(x, y)), kIntegral},

      // sums; x + (+0) turns -0 into +0, so floating point has the other zero
      {"add-zero", add(x, 0), x, kInts},
      {"add-negative-zero", add(x, -0.0), x, kFloats},
      {"subtract-zero", subtract(x, 0), x, kReal},
      {"subtract-from-zero", subtract(0, x), negative(x), kInts},
      {"subtract-from-negative-zero", subtract(-0.0, x), negative(x), kFloats},
      {"subtract-self", subtract(x, x), number(0), kInts},
      {"add-negative", add(x, negative(y)), subtract(x, y), kReal},
      {"subtract-negative", subtract(x, negative(y)), add(x, y), kReal},
      {"add-constants", add(add(x, c), d), add(x, add(c, d)), kInts},
      {"subtract-constant", subtract(x, c), add(x, negative(c)), kInts},
      {"add-subtracted", add(subtract(x, y), y), x, kInts},
      {"subtract-added", subtract(add(x, y), y), x, kInts},
      {"negative-negative", negative(negative(x)), x, kReal},
      {"negative-subtract", negative(subtract(x, y)), subtract(y, x), kInts},

      // products
      {"multiply-one", multiply(x, 1), x, kReal},
      {"multiply-minus-one", multiply(x, -1), negative(x), kReal},
      {"multiply-zero", multiply(x, 0), number(0), kInts},
      {"multiply-negatives", multiply(negative(x), negative(y)), multiply(x, y), kReal},
      {"multiply-negative-constant", multiply(negative(x), c), multiply(x, negative(c)), kReal},
      {"multiply-absolutes", multiply(abs(x), abs(x)), multiply(x, x), kReal},
      {"multiply-constants", multiply(multiply(x, c), d), multiply(x, multiply(c, d)), kInts},
      {"multiply-power-of-2", multiply(x, c), shift_left(x, computed(exact_log2, c)), kInts},
      {"square-negative", square(negative(x)), square(x), kReal},
      {"square-absolute", square(abs(x)), square(x), kReal},

      // quotients
      {"divide-one", divide(x, 1), x, kFloats},
      {"divide-minus-one", divide(x, -1), negative(x), kFloats},
      {"divide-negatives", divide(negative(x), negative(y)), divide(x, y), kFloats},
      {"divide-power-of-2", divide(x, c), multiply(x, computed(exact_inverse, c)), kFloats},
      {"quotient-one", quotient(x, 1), x, kInts},
      {"quotient-minus-one", quotient(x, -1), negative(x), kSigned},
      {"quotient-zero", quotient(0, x), number(0), kInts},
      {"quotient-power-of-2", quotient(x, c), shift_right(x, computed(exact_log2, c)), kUnsigned},

      // absolute values
      {"absolute-unsigned", abs(x), x, kUnsignedAndBools},
      {"absolute-absolute", abs(abs(x)), abs(x), kSignedAndFloats},
      {"absolute-negative", abs(negative(x)), abs(x), kSignedAndFloats},
      {"absolute-square", abs(multiply(x, x)), multiply(x, x), kFloats},
      {"absolute-of-square", abs(square(x)), square(x), kFloats},

      // minimum and maximum
      {"minimum-self", minimum(x, x), x, kReal},
      {"maximum-self", maximum(x, x), x, kReal},
      {"minimum-largest", minimum(x, c), x, kReal, is_largest},
      {"maximum-smallest", maximum(x, c), x, kReal, is_smallest},
      {"minimum-smallest", minimum(x, c), c, kInts, is_smallest},
      {"maximum-largest", maximum(x, c), c, kInts, is_largest},
      {"minimum-minimum", minimum(minimum(x, y), y), minimum(x, y), kReal},
      {"maximum-maximum", maximum(maximum(x, y), y), maximum(x, y), kReal},
      {"minimum-constants", minimum(minimum(x, c), d), minimum(x, minimum(c, d)), kReal},
      {"maximum-constants", maximum(maximum(x, c), d), maximum(x, maximum(c, d)), kReal},
      // not for floating point: a NaN in y would be lost
      {"minimum-absorbs", minimum(maximum(x, y), x), x, kInts},
      {"maximum-absorbs", maximum(minimum(x, y), x), x, kInts},

      // bits
      {"and-self", bitwise_and(x, x), x, kIntegral},
      {"or-self", bitwise_or(x, x), x, kIntegral},
      {"xor-self", bitwise_xor(x, x), number(0), kIntegral},
      {"and-zero", bitwise_and(x, 0), number(0), kIntegral},
      {"and-ones", bitwise_and(x, kOnes), x, kIntegral},
      {"or-zero", bitwise_or(x, 0), x, kIntegral},
      {"or-ones", bitwise_or(x, kOnes), number(kOnes), kIntegral},
      {"xor-zero", bitwise_xor(x, 0), x, kIntegral},
      {"xor-ones", bitwise_xor(x, kOnes), invert(x), kIntegral},
      {"and-invert", bitwise_and(x, invert(x)), number(0), kIntegral},
      {"or-invert", bitwise_or(x, invert(x)), number(kOnes), kIntegral},
      {"and-constants", bitwise_and(bitwise_and(x, c), d), bitwise_and(x, bitwise_and(c, d)),
       kIntegral},
      {"or-constants", bitwise_or(bitwise_or(x, c), d), bitwise_or(x, bitwise_or(c, d)), kIntegral},
      {"xor-constants", bitwise_xor(bitwise_xor(x, c), d), bitwise_xor(x, bitwise_xor(c, d)),
       kIntegral},
      {"and-absorbs", bitwise_and(bitwise_or(x, y), x), x, kIntegral},
      {"or-absorbs", bitwise_or(bitwise_and(x, y), x), x, kIntegral},
      {"invert-invert", invert(invert(x)), x, kIntegral},
      {"shift-left-zero", shift_left(x, 0), x, kInts},
      {"shift-right-zero", shift_right(x, 0), x, kInts},
      {"zero-shift-left", shift_left(0, x), number(0), kInts},
      {"zero-shift-right", shift_right(0, x), number(0), kInts},

      // comparisons; of floating point, those that are false for NaN
      {"equal-self", equal(x, x), number(1), kIntegral},
      {"not-equal-self", not_equal(x, x), number(0), kInts},
      {"less-self", less(x, x), number(0), kAny},
      {"greater-self", greater(x, x), number(0), kAny},
      {"less-equal-self", less_equal(x, x), number(1), kIntegral},
      {"greater-equal-self", greater_equal(x, x), number(1), kIntegral},
      {"less-zero", less(x, 0), number(0), kUnsigned},
      {"greater-equal-zero", greater_equal(x, 0), number(1), kUnsigned},
      {"invert-equal", invert(equal(x, y)), not_equal(x, y), kReal},
      {"invert-not-equal", invert(not_equal(x, y)), equal(x, y), kReal},
      {"invert-less", invert(less(x, y)), greater_equal(x, y), kIntegral},
      {"invert-less-equal", invert(less_equal(x, y)), greater(x, y), kIntegral},
      {"invert-greater", invert(greater(x, y)), less_equal(x, y), kIntegral},
      {"invert-greater-equal", invert(greater_equal(x, y)), less(x, y), kIntegral},

      // choice
      {"select-true", select(kTrueMask, x, y), x, kAny},
      {"select-false", select(kFalseMask, x, y), y, kAny},
      {"select-same", select(mask, x, x), x, kAny},
      {"select-invert", select(invert(mask), x, y), select(mask, y, x), kAny},
      {"select-inner-yes", select(mask, select(mask, x, y), z), select(mask, x, z), kAny},
      {"select-inner-no", select(mask, x, select(mask, y, z)), select(mask, x, z), kAny},
      {"select-mask", select(mask, 1, 0), mask, kBools},
      {"select-inverted-mask", select(mask, 0, 1), invert(mask), kBools},
      {"select-or", select(mask, 1, x), bitwise_or(mask, x), kBools},
      {"select-and", select(mask, x, 0), bitwise_and(mask, x), kBools},
      {"rare-false", rare(kFalseMask, x, y), x, kAny},
      {"rare-true", rare(kTrueMask, x, y), y, kAny},
      {"rare-same", rare(mask, x, x), x, kAny},

      // the rest
      {"fma-one", fma(x, 1, y), add(x, y), kFloats},
      {"fma-minus-one", fma(x, -1, y), subtract(y, x), kFloats},
      {"fma-negative-zero", fma(x, y, -0.0), multiply(x, y), kFloats},
      {"fma-negatives", fma(negative(x), negative(y), z), fma(x, y, z), kFloats},
      {"scale2-zero", scale2(x, 0), x, kFloats},
      {"floor-floor", floor(floor(x)), floor(x), kFloats},
      {"floor-ceil", floor(ceil(x)), ceil(x), kFloats},
      {"floor-trunc", floor(trunc(x)), trunc(x), kFloats},
      {"floor-round", floor(round(x)), round(x), kFloats},
      {"ceil-floor", ceil(floor(x)), floor(x), kFloats},
      {"ceil-ceil", ceil(ceil(x)), ceil(x), kFloats},
      {"ceil-trunc", ceil(trunc(x)), trunc(x), kFloats},
      {"ceil-round", ceil(round(x)), round(x), kFloats},
      {"trunc-floor", trunc(floor(x)), floor(x), kFloats},
      {"trunc-ceil", trunc(ceil(x)), ceil(x), kFloats},
      {"trunc-trunc", trunc(trunc(x)), trunc(x), kFloats},
      {"trunc-round", trunc(round(x)), round(x), kFloats},
      {"round-floor", round(floor(x)), floor(x), kFloats},
      {"round-ceil", round(ceil(x)), ceil(x), kFloats},
      {"round-trunc", round(trunc(x)), trunc(x), kFloats},
      {"round-round", round(round(x)), round(x), kFloats},
  };
  return kRules;
}

}  // namespace

std::span<const Rule> rules() { return table(); }

Scalar number_of(DType dtype, double number) {
  return is_float(dtype) ? Scalar::from_double(dtype, number)
                         : Scalar::from_int(dtype, static_cast<int64_t>(number));
}

std::optional<Value> build(Builder& builder, const Term& term, const Match& match,
                           const Shape& shape, DType dtype, const Apply& apply) {
  const auto index = static_cast<size_t>(term.index);
  switch (term.kind) {
    case Term::Kind::kVariable:
      return match.variables[index];
    case Term::Kind::kMask:
      return match.masks[index];
    case Term::Kind::kConstant:
      return builder.constant(*match.constants[index], shape);
    case Term::Kind::kNumber:
      return builder.constant(number_of(dtype, term.number), shape);
    case Term::Kind::kComputed: {
      const auto value = term.compute(*match.constants[index]);
      if (!value) return std::nullopt;
      return builder.constant(*value, shape);
    }
    case Term::Kind::kOp:
      break;
  }
  std::array<Value, kMaxArity> operands;
  for (size_t i = 0; i < term.operands.size(); ++i) {
    const bool is_condition = i == 0 && (spec(term.op).traits & kCondition) != 0;
    const auto operand = build(builder, term.operands[i], match, shape,
                               is_condition ? DType::kBool : match.dtype, apply);
    if (!operand) return std::nullopt;
    operands[i] = *operand;
  }
  return apply(term.op, {operands.data(), term.operands.size()});
}

}  // namespace lanewise::ir::algebra
