#include "frontend/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "frontend/evaluate.h"
#include "frontend/sizes.h"
#include "ir/math/math.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

// ---- Python numbers ------------------------------------------------------------------------

double to_double(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number.value);
}

std::string to_text(const Number& number) {
  return std::visit([](auto value) { return format("{}", value); }, number.value);
}

template <class T>
bool fits_integer(const Number& number) {
  const auto in_range = [&](auto value) {
    if constexpr (std::is_same_v<decltype(value), double>) {
      return number.weak != Weak::kInt;  // an integer beyond 64 bits
    } else {
      return std::in_range<T>(value);
    }
  };
  return std::visit(in_range, number.value);
}

bool fits(const Number& number, DType dtype) {
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return fits_integer<T>(number);
    } else {
      return true;
    }
  });
}

Scalar to_scalar(std::string_view op, const Number& number, DType dtype) {
  if (!fits(number, dtype)) {
    throw ValueError(
        format("{}: Python integer {} does not fit {}", op, to_text(number), python_name(dtype)));
  }
  return std::visit(
      [&](auto value) {
        if constexpr (std::is_same_v<decltype(value), double>) {
          return Scalar::from_double(dtype, value);
        } else if (is_float(dtype)) {
          return Scalar::from_double(dtype, static_cast<double>(value));
        } else {
          return Scalar::from_int(dtype, static_cast<int64_t>(value));
        }
      },
      number.value);
}

// Numbers that algebra rules look for become part of a kernel; all others are arguments of it,
// so that a changing number does not recompile.
bool is_special(const Scalar& value) {
  if (is_bool(value.dtype)) return true;
  const double number = value.to_double();
  return (number == 0 && !std::signbit(number)) || number == 1 || number == -1 || number == 2 ||
         number == 0.5;
}

NodeRef literal(const Scalar& value, const Shape& shape, Source source) {
  const Op op = is_special(value) ? Op::kConstant : Op::kScalar;
  return Node::make(op, value.dtype, shape, {}, value, source);
}

// ---- recording -----------------------------------------------------------------------------

NodeRef record(Op op, DType dtype, const Shape& shape, std::initializer_list<NodeRef> operands,
               ir::Attribute attribute, Source source) {
  for (const NodeRef& operand : operands) {
    if (operand->depth() >= kDepthLimit && !operand->is_traced()) evaluate_nodes({&operand, 1});
  }
  return Node::make(op, dtype, shape, operands, std::move(attribute), source);
}

NodeRef cast(NodeRef node, DType dtype, Source source) {
  if (node->dtype() == dtype) return node;
  const Shape shape = node->shape();
  return record(Op::kCast, dtype, shape, {std::move(node)}, {}, source);
}

NodeRef broadcast(NodeRef node, const Shape& shape, Source source) {
  const Shape from = node->shape();
  if (from == shape) return node;
  const int added = shape.rank() - from.rank();
  const std::vector<Dim> row_major = ir::row_major_strides(from);
  ir::Window window{0, std::vector<Dim>(static_cast<size_t>(shape.rank()), Dim(0))};
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (from[axis] == shape[axis + added] || !from[axis].is(1)) {
      window.strides[static_cast<size_t>(axis + added)] = row_major[static_cast<size_t>(axis)];
    }
  }
  return record(Op::kWindow, node->dtype(), shape, {node}, std::move(window), source);
}

const Array* as_array(const Argument& argument) { return std::get_if<Array>(&argument); }

DType common_dtype(std::span<const Argument> arguments) {
  std::optional<DType> strong;
  std::optional<Weak> weak;
  for (const Argument& argument : arguments) {
    if (const Array* array = as_array(argument)) {
      strong = strong ? promote(*strong, array->dtype()) : array->dtype();
    } else {
      const Weak kind = std::get<Number>(argument).weak;
      weak = weak ? std::max(*weak, kind) : kind;
    }
  }
  if (!strong) return default_dtype(*weak);
  return weak ? promote(*strong, *weak) : *strong;
}

Shape common_shape(std::string_view op, std::span<const Argument> arguments) {
  std::array<Shape, ir::kMaxArity> shapes;
  size_t count = 0;
  for (const Argument& argument : arguments) {
    if (const Array* array = as_array(argument)) shapes[count++] = array->shape();
  }
  if (count == 1 || (count == 2 && shapes[0] == shapes[1])) return shapes[0];
  return broadcast_shapes(op, {shapes.data(), count});
}

Array elementwise(Op op, DType dtype, std::span<const Argument> arguments, ir::Attribute attribute,
                  Source source) {
  const Shape shape = common_shape(name(op), arguments);
  std::array<NodeRef, ir::kMaxArity> nodes;
  for (size_t i = 0; i < arguments.size(); ++i) {
    nodes[i] = as_node(name(op), arguments[i], dtype, shape, source);
  }
  const DType result = ir::spec(op).result == ir::ResultRule::kBool ? DType::kBool : dtype;
  switch (arguments.size()) {
    case 1:
      return Array(record(op, result, shape, {nodes[0]}, std::move(attribute), source));
    case 2:
      return Array(record(op, result, shape, {nodes[0], nodes[1]}, std::move(attribute), source));
    default:
      return Array(
          record(op, result, shape, {nodes[0], nodes[1], nodes[2]}, std::move(attribute), source));
  }
}

// ---- ops with rules of their own -------------------------------------------------------------

// int64 with uint64: exact, though no dtype holds both. A negative x1 is below any x2.
Array compare_signed_unsigned(Op op, const Argument& x1, const Argument& x2, Source source) {
  const Array negative =
      elementwise(Op::kLess, DType::kI64,
                  std::array<Argument, 2>{x1, Number{Weak::kInt, int64_t{0}}}, {}, source);
  const Array wrapped = astype(std::get<Array>(x1), DType::kU64, source);
  const Array as_unsigned =
      elementwise(op, DType::kU64, std::array<Argument, 2>{wrapped, x2}, {}, source);
  const bool below = op == Op::kLess || op == Op::kLessEqual || op == Op::kNotEqual;
  return where(negative, Number{Weak::kBool, int64_t{below}}, as_unsigned, source);
}

// Comparing with a Python integer that the array's dtype cannot hold has one answer everywhere.
std::optional<Array> compare_out_of_range(Op op, const Argument& x1, const Argument& x2,
                                          DType dtype, Source source) {
  const auto* number = std::get_if<Number>(&x2);
  if (!number || number->traced || fits(*number, dtype)) return std::nullopt;
  const bool x2_larger = to_double(*number) > 0;
  const bool answer =
      op == Op::kNotEqual || (x2_larger ? op == Op::kLess || op == Op::kLessEqual
                                        : op == Op::kGreater || op == Op::kGreaterEqual);
  return Array(literal(Scalar::of(answer), std::get<Array>(x1).shape(), source));
}

std::optional<Array> compare_specially(Op op, std::span<const Argument> arguments, DType common,
                                       Source source) {
  const Argument& x1 = arguments[0];
  const Argument& x2 = arguments[1];
  const Array* a1 = as_array(x1);
  const Array* a2 = as_array(x2);
  if (a1 && a2) {
    if (!is_float(common) || is_float(a1->dtype()) || is_float(a2->dtype())) return std::nullopt;
    if (a1->dtype() == DType::kU64) {
      return compare_signed_unsigned(ir::mirrored(op), astype(*a2, DType::kI64, source), x1,
                                     source);
    }
    return compare_signed_unsigned(op, astype(*a1, DType::kI64, source), x2, source);
  }
  if (a1) return compare_out_of_range(op, x1, x2, common, source);
  if (a2) return compare_out_of_range(ir::mirrored(op), x2, x1, common, source);
  return std::nullopt;
}

// x ** number: the op defined for this exponent, where there is one.
std::optional<Array> power_by_number(const Argument& base, const Argument& exponent, DType common,
                                     Source source) {
  const auto* number = std::get_if<Number>(&exponent);
  if (!number || number->traced) return std::nullopt;
  const DType dtype = compute_dtype(Op::kPow, common);
  const double value = is_float(dtype) ? Scalar::from_double(dtype, to_double(*number)).to_double()
                                       : to_double(*number);
  if (is_int(dtype) && value < 0) {
    throw ValueError(format("pow: integers to the negative power {}; use a floating-point base",
                            to_text(*number)));
  }
  if (!ir::math::has_pow_const(dtype, value)) return std::nullopt;
  return elementwise(Op::kPowConst, dtype, {&base, 1}, ir::Exponent{value}, source);
}

}  // namespace

NodeRef as_node(std::string_view op, const Argument& argument, DType dtype, const Shape& shape,
                Source source) {
  if (const Array* array = as_array(argument)) {
    return broadcast(cast(array->node(), dtype, source), shape, source);
  }
  const Number& number = std::get<Number>(argument);
  if (number.traced) return broadcast(cast(number.traced, dtype, source), shape, source);
  return literal(to_scalar(op, number, dtype), shape, source);
}

Array apply(Op op, std::span<const Argument> arguments, Source source) {
  if (static_cast<int>(arguments.size()) != ir::spec(op).arity) {
    throw DTypeError(format("{}: {} arguments, not {}", op, arguments.size(), ir::spec(op).arity));
  }
  const DType common = common_dtype(arguments);
  if ((ir::spec(op).traits & ir::kKeepsInts) != 0 && !is_float(common)) {
    const Shape shape = common_shape(name(op), arguments);
    return Array(as_node(name(op), arguments[0], common, shape, source));
  }
  if (ir::spec(op).promotion == ir::Promotion::kComparison && arguments.size() == 2) {
    if (auto result = compare_specially(op, arguments, common, source)) return *result;
  }
  if (op == Op::kPow) {
    if (auto result = power_by_number(arguments[0], arguments[1], common, source)) return *result;
  }
  return elementwise(op, compute_dtype(op, common), arguments, {}, source);
}

Array where(const Argument& condition, const Argument& x1, const Argument& x2, Source source) {
  const std::array<Argument, 2> choices{x1, x2};
  const std::array<Argument, 3> arguments{condition, x1, x2};
  const DType dtype = common_dtype(choices);
  const Shape shape = common_shape("where", arguments);
  return Array(record(
      Op::kSelect, dtype, shape,
      {as_node("where", condition, DType::kBool, shape, source),
       as_node("where", x1, dtype, shape, source), as_node("where", x2, dtype, shape, source)},
      {}, source));
}

Array astype(const Array& array, DType dtype, Source source) {
  return Array(cast(array.node(), dtype, source));
}

void assign(const Array& array, const Argument& value, bool same_kind, Source source) {
  if (const Array* from = as_array(value)) {
    if (same_kind && !can_cast_same_kind(from->dtype(), array.dtype())) {
      throw DTypeError(format("assignment: cannot cast {} to {} ('same_kind')",
                              python_name(from->dtype()), python_name(array.dtype())));
    }
    Array source_array = *from;
    // As in NumPy, leading axes of size 1 that the target lacks are dropped.
    std::vector<int> surplus;
    const int extra = from->rank() - array.rank();
    for (int axis = 0; axis < extra && from->shape()[axis].is(1); ++axis) surplus.push_back(axis);
    if (!surplus.empty()) source_array = from->squeeze(surplus);
    try {
      source_array = source_array.broadcast_to(array.shape());
    } catch (const ShapeError&) {
      throw ShapeError(format("assignment: cannot broadcast {} to {}", format_tuple(from->shape()),
                              format_tuple(array.shape())));
    }
    Array(array).write(cast(source_array.node(), array.dtype(), source));
    return;
  }
  Array(array).write(as_node("assignment", value, array.dtype(), array.shape(), source));
}

void assign_where(const Array& array, const Array& mask, const Argument& value, Source source) {
  const int rest = array.rank() - mask.rank();
  bool fits = rest >= 0;
  for (int axis = 0; fits && axis < mask.rank(); ++axis) {
    fits = agree(mask.shape()[axis], array.shape()[axis]);
  }
  if (!fits) {
    throw IndexError(format("assignment: a mask of shape {} does not fit an array of shape {}",
                            format_tuple(mask.shape()), format_tuple(array.shape())));
  }
  if (const Array* from = as_array(value); from && from->rank() > 0) {
    if (from->rank() > rest) {
      throw UnsupportedError(
          format("assignment: values of shape {} for the elements that a mask chooses: how many it "
                 "chooses is not known; use lanewise.where",
                 format_tuple(from->shape())));
    }
    from->broadcast_to(array.shape());
  }
  std::vector<int> axes(static_cast<size_t>(rest));
  std::iota(axes.begin(), axes.end(), mask.rank());
  const DType dtype = array.dtype();
  const Shape& shape = array.shape();
  Array(array).write(
      record(Op::kSelect, dtype, shape,
             {as_node("assignment", mask.expand_dims(axes), DType::kBool, shape, source),
              as_node("assignment", value, dtype, shape, source), array.node()},
             {}, source));
}

Shape broadcast_shapes(std::string_view op, std::span<const Shape> shapes) {
  std::vector<Dim> dims;
  for (const Shape& shape : shapes) {
    if (shape.rank() > static_cast<int>(dims.size())) {
      dims.insert(dims.begin(), static_cast<size_t>(shape.rank()) - dims.size(), Dim(1));
    }
    const int added = static_cast<int>(dims.size()) - shape.rank();
    for (int axis = 0; axis < shape.rank(); ++axis) {
      Dim& dim = dims[static_cast<size_t>(axis + added)];
      if (dim == shape[axis] || shape[axis].is(1)) continue;
      if (!dim.is(1) && agree(dim, shape[axis])) {
        if (dim.is_constant()) continue;
      } else if (!dim.is(1)) {
        std::string all;
        for (const Shape& s : shapes) {
          all += (all.empty() ? "" : " with ") + format_tuple(s);
        }
        throw ShapeError(format("{}: cannot broadcast {}: axis {} is {} and {}", op, all,
                                axis + added, dim, shape[axis]));
      }
      dim = shape[axis];
    }
  }
  return Shape(std::move(dims));
}

}  // namespace lanewise::frontend
