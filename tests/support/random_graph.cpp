#include "tests/support/random_graph.h"

#include <algorithm>

#include "ir/builder.h"
#include "ir/interpret.h"
#include "tests/support/random_window.h"

namespace lanewise::test {

namespace {

using ir::Dim;
using ir::Op;
using ir::Shape;
using ir::Value;

class Generator {
 public:
  Generator(Random& random, const RandomGraphOptions& options)
      : random_(random), options_(options), builder_(graph_) {}

  ir::Graph generate() {
    for (int i = 0; i < options_.inputs; ++i) {
      values_.push_back(
          builder_.input("x" + std::to_string(i), any_dtype(), any_shape(), chance(random_, 70)));
    }
    for (int i = 0; i < options_.scalars; ++i) {
      values_.push_back(builder_.scalar(any_dtype(), any_shape()));
    }
    values_.push_back(builder_.constant(random_value(random_, any_dtype()), any_shape()));
    for (int i = 0; i < options_.nodes; ++i) values_.push_back(node());
    choose_outputs();
    return std::move(graph_);
  }

 private:
  const ir::Node& at(Value value) const { return graph_[value]; }
  DType any_dtype() { return pick(random_, options_.dtypes); }
  int any_int(int low, int high) { return static_cast<int>(uniform(random_, low, high)); }

  // Late values more often, so that graphs grow deep as well as wide.
  Value any_value() {
    const auto count = static_cast<int64_t>(values_.size());
    const int64_t first = chance(random_, 50) ? count / 2 : 0;
    return values_[static_cast<size_t>(uniform(random_, first, count - 1))];
  }

  bool fits(const Shape& shape) const {
    return shape.rank() <= options_.max_rank &&
           shape.element_count().value() <= options_.max_elements;
  }

  Shape any_shape() {
    std::vector<Dim> dims(static_cast<size_t>(any_int(0, options_.max_rank)));
    const bool may_be_empty = chance(random_, 5);
    for (Dim& dim : dims) dim = any_int(may_be_empty ? 0 : 1, options_.max_size);
    Shape shape(std::move(dims));
    return fits(shape) ? shape : Shape();
  }

  // ---- operands of a wanted type ----

  // A value of this dtype, a cast where there is none.
  Value of_dtype(DType dtype) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      const Value value = any_value();
      if (at(value).dtype == dtype) return value;
    }
    if (chance(random_, 20)) return builder_.constant(random_value(random_, dtype));
    return builder_.cast(any_value(), dtype);
  }

  // A window that makes any array one of this shape.
  Value of_shape(Value value, const Shape& shape) {
    const Shape from = at(value).shape;
    if (from == shape) return value;
    if (at(value).op == Op::kConstant) {
      const Scalar number = at(value).get<Scalar>();
      return builder_.constant(number, shape);
    }
    const int64_t count = from.element_count().value();
    // There is nothing to see in an empty array, except for an empty one.
    if (count == 0 && !shape.element_count().is(0)) {
      return builder_.constant(random_value(random_, at(value).dtype), shape);
    }
    return builder_.window(value, shape, any_window(random_, count, shape));
  }

  Value operand(DType dtype, const Shape& shape) { return of_shape(of_dtype(dtype), shape); }

  // ---- nodes ----

  Value node() {
    const int dice = any_int(1, 100);
    if (options_.windows && dice <= 15) return window_node();
    if (options_.updates && dice <= 18) return update_node();
    if (options_.reductions && dice <= 26) return reduction_node();
    if (options_.scans && dice <= 29) return scan_node();
    if (dice <= 34) return builder_.cast(any_value(), any_dtype());
    if (dice <= 36) return leaf_node();
    return elementwise_node();
  }

  Value leaf_node() {
    const Shape shape = any_shape();
    const DType dtype = any_dtype();
    if (shape.rank() > 0 && is_int(dtype) && chance(random_, 60)) {
      return builder_.iota(dtype, shape, any_int(0, shape.rank() - 1));
    }
    return builder_.constant(random_value(random_, dtype), shape);
  }

  Value window_node() {
    const Value value = any_value();
    const Shape from = at(value).shape;
    if (chance(random_, 30)) return of_shape(value, any_shape());
    const bool may_grow = fits(from) && from.element_count().value() * 3 <= options_.max_elements;
    return may_grow && from.rank() < options_.max_rank ? random_window(random_, builder_, value)
                                                       : value;
  }

  Value update_node() {
    const Value base = any_value();
    auto [shape, window] = any_slice(random_, at(base).shape);
    const Value value = operand(at(base).dtype, shape);
    return builder_.update(base, value, std::move(window));
  }

  Value reduction_node() {
    const Value value = any_value();
    std::vector<Op> ops;
    for (size_t i = 0; i < ir::op_table().size(); ++i) {
      const auto op = static_cast<Op>(i);
      const bool finds = op == Op::kArgMin || op == Op::kArgMax;
      if (!ir::is_reduction(op) || (finds && !options_.positions)) continue;
      if (contains(spec(op).accepts, at(value).dtype)) ops.push_back(op);
    }
    std::vector<int> axes;
    for (int axis = 0; axis < at(value).shape.rank(); ++axis) {
      if (chance(random_, 50)) axes.push_back(axis);
    }
    return builder_.reduce(pick(random_, ops), value, std::move(axes));
  }

  Value scan_node() {
    const Value value = any_value();
    if (at(value).shape.rank() == 0 || is_bool(at(value).dtype)) return value;
    const Op op = chance(random_, 50) ? Op::kCumulativeSum : Op::kCumulativeProd;
    return builder_.scan(op, value, any_int(0, at(value).shape.rank() - 1));
  }

  // An op of the table and operands that it accepts.
  Value elementwise_node() {
    const auto table = ir::op_table();
    for (;;) {
      const auto op = static_cast<Op>(uniform(random_, 0, static_cast<int64_t>(table.size()) - 1));
      const ir::OpSpec& row = spec(op);
      if (!is_elementwise(op) || op == Op::kCast || op == Op::kTableLookup) continue;
      if (row.kind == ir::OpKind::kComposite && !options_.composites) continue;
      const Value first = any_value();
      if (!contains(row.accepts, at(first).dtype)) continue;
      return apply(op, first);
    }
  }

  Value apply(Op op, Value first) {
    const DType dtype = at(first).dtype;
    const Shape shape = at(first).shape;
    if (op == Op::kBitcast) return builder_.bitcast(first, other_of_width(dtype));
    if (op == Op::kScale2) {  // the exponent is integral
      const Value exponent = builder_.cast(operand(DType::kI8, shape), dtype);
      return builder_.apply(op, {first, exponent});
    }
    ir::Attribute attribute;
    if (spec(op).attribute == ir::AttributeKind::kExponent) {
      attribute = ir::Exponent{pick(random_, kExponents)};
    }
    const bool has_condition = (spec(op).traits & ir::kCondition) != 0;
    switch (spec(op).arity) {
      case 1:
        return builder_.apply(op, {first}, attribute);
      case 2: {
        const Value second = operand(dtype, shape);
        return builder_.apply(op, {first, second}, attribute);
      }
      default: {
        const Value second = operand(has_condition ? DType::kBool : dtype, shape);
        const Value third = operand(dtype, shape);
        return has_condition ? builder_.apply(op, {second, first, third}, attribute)
                             : builder_.apply(op, {first, second, third}, attribute);
      }
    }
  }

  DType other_of_width(DType dtype) {
    std::vector<DType> dtypes;
    for (int i = 1; i < kDTypeCount; ++i) {
      const auto other = static_cast<DType>(i);
      if (size_of(other) == size_of(dtype)) dtypes.push_back(other);
    }
    return pick(random_, dtypes);
  }

  void choose_outputs() {
    const int count = any_int(1, options_.outputs);
    for (int i = 0; i < count; ++i) {
      const bool last = i == 0;
      graph_.outputs.push_back(last ? values_.back() : any_value());
    }
    if (!options_.checks) return;
    for (const Value value : values_) {
      if (is_bool(at(value).dtype) && graph_.checks.size() < 2) {
        graph_.checks.push_back({value, "check " + std::to_string(graph_.checks.size())});
      }
    }
  }

  static constexpr double kExponents[10] = {0, 1, 2, 3, -1, 0.5, -0.5, 2.5, 17, 0.3};

  Random& random_;
  const RandomGraphOptions& options_;
  ir::Graph graph_;
  ir::Builder builder_;
  std::vector<Value> values_;
};

}  // namespace

ir::Graph random_graph(Random& random, const RandomGraphOptions& options) {
  return Generator(random, options).generate();
}

std::vector<ir::Tensor> random_inputs(Random& random, const ir::Graph& graph,
                                      const std::vector<std::pair<std::string, int64_t>>& symbols) {
  std::vector<ir::Tensor> tensors;
  for (const ir::Parameter& parameter : graph.inputs) {
    tensors.push_back(random_tensor(random, parameter.dtype, evaluate(parameter.shape, symbols)));
  }
  return tensors;
}

std::vector<Scalar> random_scalars(Random& random, const ir::Graph& graph) {
  std::vector<Scalar> scalars;
  for (const DType dtype : graph.scalars) scalars.push_back(random_value(random, dtype));
  return scalars;
}

}  // namespace lanewise::test
