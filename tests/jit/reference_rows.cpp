#include "reference_rows.h"

#include <cstring>

#include "ir/element.h"
#include "ir/interpret.h"
#include "ir/reduction_order.h"

namespace lanewise::jit::test {

void ReferenceRows::append_constant(const ir::Node& node, Scalar value) {
  append_values(node, std::vector<Scalar>(static_cast<size_t>(points_), value));
}

void ReferenceRows::append_values(const ir::Node& node, const std::vector<Scalar>& values) {
  const auto size = static_cast<size_t>(size_of(node.dtype));
  Bytes bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    std::memcpy(bytes.data() + i * size, &values[i].bits, size);
  }
  values_.push_back(std::move(bytes));
}

void ReferenceRows::append_computed(const ir::Node& node) {
  if (node.op == ir::Op::kConstant) return append_constant(node, node.get<Scalar>());
  if (ir::is_reduction(node.op)) {
    values_.push_back(reduce(node));
    return;
  }
  std::vector<const std::byte*> operands;
  for (const ir::Value operand : node.inputs()) operands.push_back(values_[operand.index].data());
  Bytes result(static_cast<size_t>(points_ * size_of(node.dtype)));
  ir::interpret_elements(node, body_[node.inputs().back()].dtype, operands, result.data(), points_);
  values_.push_back(std::move(result));
}

namespace {

template <class T>
T reduce_row(ir::Op op, std::span<const T> row) {
  namespace element = ir::element;
  const auto fold = [&](T start, auto combine) {
    for (const T x : row) start = combine(start, x);
    return start;
  };
  using Limits = std::numeric_limits<T>;
  constexpr bool kFloat = std::is_floating_point_v<T>;
  switch (op) {
    case ir::Op::kSum:
      if constexpr (kFloat) return ir::reduce_in_order<T>(row, -T(0), element::Add{});
      return fold(T(0), element::Add{});
    case ir::Op::kProd:
      if constexpr (kFloat) return ir::reduce_in_order<T>(row, T(1), element::Multiply{});
      return fold(T(1), element::Multiply{});
    case ir::Op::kMin:
      return fold(kFloat ? Limits::infinity() : Limits::max(), element::Minimum{});
    case ir::Op::kMax:
      return fold(kFloat ? -Limits::infinity() : Limits::lowest(), element::Maximum{});
    case ir::Op::kAny:
      return fold(T(0), element::Maximum{});
    default:
      return fold(T(1), element::Minimum{});
  }
}

}  // namespace

ReferenceRows::Bytes ReferenceRows::reduce(const ir::Node& node) const {
  const Bytes& operand = values_[node.operands[0].index];
  Bytes result(static_cast<size_t>(points_ * size_of(node.dtype)));
  visit_dtype(node.dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t start = 0; start < points_; start += row_) {
      const auto* const first = reinterpret_cast<const T*>(operand.data()) + start;
      const T value = reduce_row<T>(node.op, {first, static_cast<size_t>(row_)});
      for (int64_t i = 0; i < row_; ++i) {
        std::memcpy(result.data() + static_cast<size_t>(start + i) * sizeof(T), &value, sizeof(T));
      }
    }
  });
  return result;
}

Scalar ReferenceRows::at(ir::Value value, int64_t point) const {
  const DType dtype = body_[value].dtype;
  Scalar result{dtype, 0};
  const auto size = static_cast<size_t>(size_of(dtype));
  std::memcpy(&result.bits, values_[value.index].data() + static_cast<size_t>(point) * size, size);
  return result;
}

}  // namespace lanewise::jit::test
