#include "ir/passes/structure_rules.h"

#include <algorithm>
#include <limits>

namespace lanewise::ir::structure {

namespace {

// ---- conversions ---------------------------------------------------------------------------

// Bits of precision: of an integer's magnitude, of a float's significand.
int digits(DType d) {
  return visit_dtype(d, [](auto zero) { return std::numeric_limits<decltype(zero)>::digits; });
}

// Whether each value of `from` is one of `to`, so that a cast keeps it.
bool holds_all(DType from, DType to) {
  if (is_bool(from)) return true;
  if (is_bool(to)) return false;
  if (is_float(from)) return is_float(to) && digits(to) >= digits(from);
  if (is_signed_int(from) && is_unsigned_int(to)) return false;
  return digits(to) >= digits(from);
}

std::optional<Value> cast_cast(Builder& builder, const Node& node) {
  if (node.op != Op::kCast) return std::nullopt;
  const Node& inner = builder[node.operands[0]];
  if (inner.op != Op::kCast) return std::nullopt;
  const Value origin = inner.operands[0];
  if (!cast_is_redundant(builder[origin].dtype, inner.dtype, node.dtype)) return std::nullopt;
  return builder.cast(origin, node.dtype);
}

std::optional<Value> bitcast_bitcast(Builder& builder, const Node& node) {
  if (node.op != Op::kBitcast) return std::nullopt;
  const Node& inner = builder[node.operands[0]];
  if (inner.op != Op::kBitcast) return std::nullopt;
  return builder.bitcast(inner.operands[0], node.dtype);
}

// ---- windows -------------------------------------------------------------------------------

std::optional<Value> window_scalar(Builder& builder, const Node& node) {
  if (node.op != Op::kWindow) return std::nullopt;
  const Node& operand = builder[node.operands[0]];
  if (operand.op == Op::kConstant) return builder.constant(operand.get<Scalar>(), node.shape);
  if (operand.op != Op::kScalar) return std::nullopt;
  return builder.scalar_slot(operand.get<Slot>().index, node.shape);
}

std::optional<Value> window_window(Builder& builder, const Node& node) {
  if (node.op != Op::kWindow) return std::nullopt;
  const Node& inner = builder[node.operands[0]];
  if (inner.op != Op::kWindow) return std::nullopt;
  auto window = compose(inner.get<Window>(), inner.shape, node.get<Window>(), node.shape);
  if (!window) return std::nullopt;
  return builder.window(inner.operands[0], node.shape, *std::move(window));
}

bool is_nonnegative(const Dim& dim) { return dim.is_constant() && dim.value() >= 0; }

// `dim` as a sum of digits times the strides of a row-major array, largest first; each digit
// rounds towards zero.
std::optional<std::vector<Dim>> digits_of(Dim dim, std::span<const Dim> strides) {
  std::vector<Dim> result;
  for (const Dim& stride : strides) {
    Dim digit = 0;
    if (dim.is_constant() && stride.is_constant()) {
      if (!stride.is(0)) digit = dim.value() / stride.value();
    } else if (const auto quotient = exact_quotient(dim, stride)) {
      digit = *quotient;
    }
    result.push_back(digit);
    dim = dim - digit * stride;
  }
  if (!dim.is(0)) return std::nullopt;
  return result;
}

// A window that goes through its operand with one step: element k is element offset + step * k.
std::optional<Dim> single_step(const Window& window, const Shape& shape) {
  const std::vector<Dim> row_major = row_major_strides(shape);
  std::optional<Dim> step;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    const auto i = static_cast<size_t>(axis);
    if (shape[axis].is(1)) continue;
    if (!step) step = window.strides[i];  // the innermost: its row-major stride is 1
    if (window.strides[i] != *step * row_major[i]) return std::nullopt;
  }
  return step ? *step : Dim(0);
}

// ---- updates, reductions -------------------------------------------------------------------

// Writing all of an array, or writing back what is there.
std::optional<Value> update_all(Builder& builder, const Node& node) {
  if (node.op != Op::kUpdate) return std::nullopt;
  const Node& base = builder[node.operands[0]];
  const Node& value = builder[node.operands[1]];
  if (is_identity(node.get<Window>(), base.shape, value.shape)) return node.operands[1];
  const bool is_same_window = value.op == Op::kWindow && value.operands[0] == node.operands[0] &&
                              value.get<Window>() == node.get<Window>();
  if (is_same_window) return node.operands[0];
  return std::nullopt;
}

// A reduction of single elements gives them.
std::optional<Value> reduce_single(Builder& builder, const Node& node) {
  if (!is_reduction(node.op) || node.op == Op::kDeviations) return std::nullopt;
  const Node& operand = builder[node.operands[0]];
  for (const int axis : node.get<Axes>().axes) {
    if (!operand.shape[axis].is(1)) return std::nullopt;
  }
  if (node.op == Op::kArgMin || node.op == Op::kArgMax) {
    return builder.constant(Scalar::of<int64_t>(0), node.shape);
  }
  return builder.window(node.operands[0], node.shape, Window{0, row_major_strides(node.shape)});
}

// So does a scan of them.
std::optional<Value> scan_single(Builder& builder, const Node& node) {
  if (!is_scan(node.op)) return std::nullopt;
  const Node& operand = builder[node.operands[0]];
  if (!operand.shape[node.get<Axes>().axes[0]].is(1)) return std::nullopt;
  return node.operands[0];
}

constexpr Rule kRules[] = {
    {"cast-cast", cast_cast},         {"bitcast-bitcast", bitcast_bitcast},
    {"window-scalar", window_scalar}, {"window-window", window_window},
    {"update-all", update_all},       {"reduce-single", reduce_single},
    {"scan-single", scan_single},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

bool cast_is_redundant(DType from, DType through, DType to) {
  const bool integers = is_int(from) && is_int(through);
  // Wrapping keeps the low bits, and those are all that is asked for.
  if (integers && is_int(to) && size_of(to) <= size_of(through)) return true;
  // All that bool asks is what is 0, and an integer is so after either conversion or none.
  const bool keeps_nonzero =
      is_int(from) && (is_float(through) || (integers && size_of(through) >= size_of(from)));
  if (is_bool(to) && keeps_nonzero) return true;
  if (!holds_all(from, through)) return false;
  // From a float to an integer saturates where between integers it wraps.
  const bool saturates = is_int(from) && is_float(through) && is_int(to);
  return !saturates || holds_all(from, to);
}

std::optional<Window> compose(const Window& inner, const Shape& inner_shape, const Window& outer,
                              const Shape& outer_shape) {
  Window result{inner.offset, {}};
  if (const auto step = single_step(inner, inner_shape)) {
    result.offset = inner.offset + *step * outer.offset;
    for (const Dim& stride : outer.strides) result.strides.push_back(*step * stride);
    return result;
  }
  // Otherwise the index of the outer window has to split into one index for each axis of the
  // inner result, none of which leaves its axis: low and high are the ends of its range.
  const std::vector<Dim> row_major = row_major_strides(inner_shape);
  const auto offsets = digits_of(outer.offset, row_major);
  if (!offsets) return std::nullopt;
  std::vector<Dim> low = *offsets;
  std::vector<Dim> high = *offsets;
  for (size_t axis = 0; axis < low.size(); ++axis) {
    result.offset = result.offset + (*offsets)[axis] * inner.strides[axis];
  }
  for (int j = 0; j < outer_shape.rank(); ++j) {
    const auto steps = digits_of(outer.strides[static_cast<size_t>(j)], row_major);
    if (!steps) return std::nullopt;
    Dim stride = 0;
    for (size_t axis = 0; axis < steps->size(); ++axis) {
      const Dim& step = (*steps)[axis];
      if (!step.is_constant()) return std::nullopt;
      (step.value() < 0 ? low : high)[axis] =
          (step.value() < 0 ? low : high)[axis] + step * (outer_shape[j] - 1);
      stride = stride + step * inner.strides[axis];
    }
    result.strides.push_back(stride);
  }
  for (size_t axis = 0; axis < low.size(); ++axis) {
    // Index 0 is in every axis: where the outer window has an element at all, the inner one has.
    const bool high_fits =
        high[axis].is(0) || is_nonnegative(inner_shape[static_cast<int>(axis)] - 1 - high[axis]);
    if (!is_nonnegative(low[axis]) || !high_fits) return std::nullopt;
  }
  return result;
}

}  // namespace lanewise::ir::structure
