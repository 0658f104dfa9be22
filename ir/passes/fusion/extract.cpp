#include "ir/passes/fusion/extract.h"

#include <algorithm>

#include "support/format.h"

namespace lanewise::ir::fusion {

Walk::Walk(const Draft& draft) : draft_(draft), visited_(draft.body.size()) {
  registers_.reserve(draft.body.size());
  for (const Node& node : draft.body.nodes()) {
    std::array<uint32_t, kMaxArity> needs = {};
    for (int i = 0; i < node.arity(); ++i) {
      needs[static_cast<size_t>(i)] = registers_[node.operands[static_cast<size_t>(i)].index];
    }
    std::ranges::sort(needs, std::greater<>());
    uint32_t most = node.arity() > 0 ? 1 : 0;
    for (uint32_t i = 0; i < needs.size(); ++i) {
      if (needs[i] > 0) most = std::max(most, needs[i] + i);
    }
    registers_.push_back(most);
  }
}

namespace {

class Extraction {
 public:
  Extraction(const Draft& draft, const Crossing& crossing, std::string name)
      : draft_(draft), crossing_(crossing) {
    kernel_.name = std::move(name);
  }

  Kernel run(Walk& walk, std::span<const Draft::Store> stores);

 private:
  void add(Value value);
  int slot(const Operand& operand);
  int scalar(int number, DType dtype);
  void number_loops();

  const Draft& draft_;
  const Crossing& crossing_;
  Kernel kernel_;
  std::unordered_map<uint32_t, Value> values_;
  std::unordered_map<int, int> scalars_;
};

int Extraction::slot(const Operand& operand) {
  const auto found = std::ranges::find(kernel_.operands, operand);
  if (found == kernel_.operands.end()) {
    kernel_.operands.push_back(operand);
    return static_cast<int>(kernel_.operands.size()) - 1;
  }
  return static_cast<int>(found - kernel_.operands.begin());
}

int Extraction::scalar(int number, DType dtype) {
  const auto [place, fresh] = scalars_.try_emplace(number, kernel_.scalars.size());
  if (fresh) {
    kernel_.scalars.push_back(number);
    kernel_.body.scalars.push_back(dtype);
  }
  return place->second;
}

void Extraction::add(Value value) {
  Node node = draft_.body[value];
  const auto crossing = crossing_.find(value.index);
  if (crossing != crossing_.end()) {
    node.op = Op::kLoad;
    node.attribute = Slot{slot(crossing->second)};
    node.operands = {};
  } else if (node.op == Op::kLoad || node.op == Op::kIota) {
    node.attribute = Slot{slot(draft_.operands[static_cast<size_t>(node.get<Slot>().index)])};
  } else if (node.op == Op::kScalar) {
    node.attribute = Slot{scalar(node.get<Slot>().index, node.dtype)};
  } else {
    for (Value& operand : node.inputs()) operand = values_.at(operand.index);
  }
  values_[value.index] = kernel_.body.append(std::move(node));
}

// Only the loops that operands name, and the reduced ones if there is a reduction.
void Extraction::number_loops() {
  const int rank = draft_.domain.rank();
  const bool reduces = std::ranges::any_of(kernel_.body.nodes(), [](const Node& node) {
    return is_reduction(node.op) || is_scan(node.op);
  });
  std::vector<int> number(static_cast<size_t>(rank), -1);
  const auto used = [&](int loop) { number[static_cast<size_t>(loop)] = 0; };
  for (const Operand& operand : kernel_.operands) {
    for (const AxisIndex& axis : operand.axes) {
      for (const auto& term : axis.terms) used(term.loop);
    }
  }
  const int kept = rank - draft_.reduced;
  if (reduces) {
    for (int loop = kept; loop < rank; ++loop) used(loop);
    kernel_.reduced = draft_.reduced;
  }
  std::vector<Dim> sizes;
  for (int loop = 0; loop < rank; ++loop) {
    if (number[static_cast<size_t>(loop)] < 0) continue;
    number[static_cast<size_t>(loop)] = static_cast<int>(sizes.size());
    kernel_.loops.push_back(format("i{}", sizes.size()));
    sizes.push_back(draft_.domain[loop]);
  }
  kernel_.domain = Shape(std::move(sizes));
  for (Operand& operand : kernel_.operands) {
    for (AxisIndex& axis : operand.axes) {
      for (auto& term : axis.terms) term.loop = number[static_cast<size_t>(term.loop)];
    }
  }
}

Kernel Extraction::run(Walk& walk, std::span<const Draft::Store> stores) {
  walk.restart();
  const auto given = [&](Value value) { return crossing_.contains(value.index); };
  for (const Draft::Store& store : stores) {
    walk.go(store.value, given, [&](Value value) { add(value); });
  }
  for (const Draft::Store& store : stores) {
    kernel_.stores.push_back({slot(store.operand), values_.at(store.value.index)});
  }
  number_loops();
  return std::move(kernel_);
}

}  // namespace

Kernel extract(const Draft& draft, Walk& walk, std::span<const Draft::Store> stores,
               const Crossing& crossing, std::string name) {
  return Extraction(draft, crossing, std::move(name)).run(walk, stores);
}

}  // namespace lanewise::ir::fusion
