// The op table: one OpSpec for each row of ops.def.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace lanewise::ir {

enum class Op : uint8_t {
#define STRUCTURAL(id, name, ...) k##id,
#define PRIMITIVE(id, name, emitter, ...) k##id,
#define COMPOSITE(id, name, expansion, ...) k##id,
#include "ir/ops.def"
#undef STRUCTURAL
#undef PRIMITIVE
#undef COMPOSITE
};

enum class OpKind : uint8_t {
  kStructural,  // leaves, views, reductions: has its own rules in verify.cpp and interpret.cpp
  kPrimitive,   // elementwise, with an emitter in jit/
  kComposite,   // elementwise, defined by its expansion in ir/math/
};

// Sets of dtypes, as bits.
enum DTypeSet : uint8_t {
  kNone = 0,
  kBools = 1,
  kSigned = 2,
  kUnsigned = 4,
  kFloats = 8,
  kInts = kSigned | kUnsigned,
  kIntegral = kBools | kInts,
  kReal = kInts | kFloats,
  kAny = kBools | kReal,
};
bool contains(DTypeSet set, DType dtype);

// The dtype of an op's result. "Same" ops want one dtype for all operands that are not a
// condition (the bool first operand of select and rare).
enum class ResultRule : uint8_t {
  kSame,      // that of the operands
  kBool,      // bool
  kExplicit,  // written in the node (casts, leaves)
};

enum Traits : uint16_t {
  kNoTraits = 0,
  kCommutative = 1,
  kAssociative = 2,  // exactly: never set for floating-point sums
  kIdempotent = 4,   // f(x, x) = x
  kCondition = 8,    // the first operand is a bool mask
  kLeaf = 16,        // no operands
  kReduction = 32,
  kScan = 64,
  kKeepsInts = 128,  // on integers the identity, which the frontend records nothing for
};

// What a node of the op carries in `Node::attribute`.
enum class AttributeKind : uint8_t {
  kNone,
  kNumber,    // Scalar: the value of a constant
  kSlot,      // Slot: the number of an argument or of a kernel's operand
  kAxis,      // Slot: an axis; in kernels the number of an operand
  kWindow,    // Window
  kAxes,      // Axes; in kernels nothing
  kExponent,  // Exponent
  kTable,     // const Table*
};

// How Python finds the common dtype of a function's arguments before it becomes this op.
enum class Promotion : uint8_t {
  kInternal,    // not a Python function
  kNumeric,     // NumPy's result type of the arguments
  kInexact,     // the same, integers become floating point
  kIntegral,    // integers or bool
  kLogical,     // every argument is cast to bool
  kComparison,  // result type of the arguments, result bool
};

// One row of ops.def.
struct OpSpec {
  std::string_view id;    // "Add"
  std::string_view name;  // "add": in IR text, and in Python where promotion says so
  OpKind kind;
  int arity = 0;
  DTypeSet accepts = kAny;  // dtypes of the operands that are not a condition
  ResultRule result = ResultRule::kSame;
  uint16_t traits = kNoTraits;
  AttributeKind attribute = AttributeKind::kNone;
  double max_ulp = 0;  // largest error, in units in the last place; 0: exact, .5: rounded
  // Where that is more than max_ulp allows: largest error in units of 2^-24, in float64 2^-53.
  double max_absolute = 0;
  Promotion promotion = Promotion::kInternal;
  std::string_view numpy = {};  // names of the NumPy ufunc and of aliases, comma separated
  std::string_view doc = {};
};

const OpSpec& spec(Op op);
std::span<const OpSpec> op_table();
inline std::string_view name(Op op) { return spec(op).name; }
inline std::string to_string(Op op) { return std::string(name(op)); }
inline bool is_elementwise(Op op) { return spec(op).kind != OpKind::kStructural; }
inline bool is_reduction(Op op) { return (spec(op).traits & kReduction) != 0; }
inline bool is_scan(Op op) { return (spec(op).traits & kScan) != 0; }

// The op that means the same with its operands swapped (greater for less); the op itself if no
// other does.
Op mirrored(Op op);

// False and `out` untouched if no op has that name.
bool find_op(std::string_view name, Op& out);

}  // namespace lanewise::ir
