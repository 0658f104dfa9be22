#include "ir/passes/fusion/draft.h"

#include <optional>

#include "ir/index_map.h"

namespace lanewise::ir::fusion {

Value BodyBuilder::add(Node node) {
  const size_t key = hash(node);
  const auto [first, last] = values_.equal_range(key);
  for (auto it = first; it != last; ++it) {
    if (same(body_[it->second], node)) return it->second;
  }
  const Value value = body_.append(std::move(node));
  values_.emplace(key, value);
  return value;
}

int plain_loop(const AxisIndex& axis) {
  const bool plain = axis.offset.is(0) && axis.terms.size() == 1 && axis.terms[0].step.is(1);
  return plain ? axis.terms[0].loop : -1;
}

namespace {

// The index as offset + step * (number of the point of the domain).
std::optional<AxisIndex> along_points(const AxisIndex& index, std::span<const Dim> strides) {
  if (index.terms.empty()) return index;
  if (index.terms.size() != strides.size()) return std::nullopt;
  const Dim step = index.terms.back().step;
  for (size_t loop = 0; loop < strides.size(); ++loop) {
    if (index.terms[loop].loop != static_cast<int>(loop)) return std::nullopt;
    if (index.terms[loop].step != step * strides[loop]) return std::nullopt;
  }
  return AxisIndex{index.offset, {{0, step}}};
}

bool flatten(Operand& operand, std::span<const Dim> strides, const std::vector<Buffer>& buffers) {
  const bool number = operand.buffer == Operand::kIndex;
  if (!number && !buffers[static_cast<size_t>(operand.buffer)].contiguous) return false;
  const auto index =
      along_points(number ? operand.axes[0] : ir::flatten({operand.shape, operand.axes}), strides);
  if (!index) return false;
  if (!number) operand.shape = Shape{operand.shape.element_count()};
  operand.axes = {*index};
  return true;
}

}  // namespace

bool flatten(Draft& draft, const std::vector<Buffer>& buffers) {
  if (draft.reduced > 0 || draft.domain.rank() < 2) return false;
  const std::vector<Dim> strides = row_major_strides(draft.domain);
  std::vector<Operand> operands = draft.operands;
  std::vector<Draft::Store> stores = draft.stores;
  for (Operand& operand : operands) {
    if (!flatten(operand, strides, buffers)) return false;
  }
  for (Draft::Store& store : stores) {
    if (!flatten(store.operand, strides, buffers)) return false;
  }
  draft.operands = std::move(operands);
  draft.stores = std::move(stores);
  draft.domain = Shape{draft.domain.element_count()};
  return true;
}

}  // namespace lanewise::ir::fusion
