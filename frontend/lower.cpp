#include "frontend/lower.h"

#include <algorithm>
#include <bit>

#include "frontend/strides.h"
#include "ir/builder.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

constexpr uint32_t kLeafBit = 1u << 31;
constexpr uint32_t kNoUse = UINT32_MAX;

// A window of memory that is there: not if sizes without values have a part in it.
bool is_leaf_window(const Node& node) {
  if (node.op() != Op::kWindow || node.is_leaf() || !node.operands()[0]->is_leaf()) return false;
  const auto& window = std::get<ir::Window>(node.attribute());
  return node.shape().is_constant() && window.offset.is_constant() &&
         std::ranges::all_of(window.strides, &Dim::is_constant);
}

}  // namespace

char* LeafUse::data() const {
  const int64_t offset = window ? window->offset.value() * size_of(leaf->dtype()) : 0;
  return leaf->data().data() + offset;
}

std::pair<uint32_t, int64_t> Recorded::place_in_leaf(uint32_t use) const {
  uint32_t first = use;
  while (next_use_[first] != kNoUse) first = next_use_[first];
  return {first, leaves_[use].data() - leaves_[first].data()};
}

std::vector<ArrayLayout> Recorded::layouts() const {
  std::vector<ArrayLayout> layouts;
  for (uint32_t i = 0; i < leaves_.size(); ++i) {
    const LeafUse& use = leaves_[i];
    ArrayLayout layout;
    append_byte_strides(layout.strides,
                        use.window ? use.window->strides : ir::row_major_strides(use.shape),
                        use.leaf->dtype());
    const auto [first, offset] = place_in_leaf(i);
    if (first != i) {
      layout.part_of = static_cast<int>(first);
      layout.offset = offset;
    }
    layouts.push_back(std::move(layout));
  }
  return layouts;
}

Recorded::Recorded(std::span<Node* const> roots) : outputs_(roots.begin(), roots.end()) {
  static uint64_t last_epoch = 0;
  epoch_ = ++last_epoch;
  for (Node* root : roots) visit(root);
}

// Depth first without recursion: a node is placed when its operands have been.
void Recorded::visit(Node* root) {
  std::vector<std::pair<Node*, size_t>> stack;
  const auto enter = [&](Node* node) {
    if (node->is_leaf()) {
      leaf_number(node, nullptr, node->shape());
      return;
    }
    if (node->mark_epoch == epoch_) return;
    node->mark_epoch = epoch_;
    if (is_leaf_window(*node)) {
      const auto& window = std::get<ir::Window>(node->attribute());
      node->mark = leaf_number(node->operands()[0].get(), &window, node->shape()) | kLeafBit;
      windows_.push_back(node);
    } else {
      stack.emplace_back(node, 0);
    }
  };
  enter(root);
  while (!stack.empty()) {
    auto& [node, next] = stack.back();
    if (next < node->operands().size()) {
      enter(node->operands()[next++].get());
      continue;
    }
    node->mark = static_cast<uint32_t>(nodes_.size());
    nodes_.push_back(node);
    if (const auto* value = std::get_if<Scalar>(&node->attribute());
        value && node->op() == Op::kScalar) {
      scalars_.push_back(*value);
    }
    stack.pop_back();
  }
}

// Uses of one leaf form a list that starts at the leaf's mark, so the same window read twice is
// one input.
uint32_t Recorded::find_use(const Node* leaf, const ir::Window* window, const Shape& shape) const {
  for (uint32_t use = leaf->mark; use != kNoUse; use = next_use_[use]) {
    const LeafUse& other = leaves_[use];
    const bool same_window =
        window && other.window ? *window == *other.window : window == other.window;
    if (same_window && other.shape == shape) return use;
  }
  return kNoUse;
}

uint32_t Recorded::leaf_number(Node* leaf, const ir::Window* window, const Shape& shape) {
  if (leaf->mark_epoch != epoch_) {
    leaf->mark_epoch = epoch_;
    leaf->mark = kNoUse;
  }
  const uint32_t found = find_use(leaf, window, shape);
  if (found != kNoUse) return found;
  const auto number = static_cast<uint32_t>(leaves_.size());
  leaves_.push_back({leaf, window, shape});
  next_use_.push_back(leaf->mark);
  leaf->mark = number;
  return number;
}

uint32_t Recorded::number_of(const Node* node) const {
  return node->is_leaf() ? find_use(node, nullptr, node->shape()) | kLeafBit : node->mark;
}

std::vector<ir::Value> Recorded::append_to(ir::Graph& graph) const {
  ir::Builder builder(graph);
  std::vector<ir::Value> leaf_values, values;
  for (const LeafUse& use : leaves_) {
    const std::vector<Dim> strides = ir::row_major_strides(use.shape);
    const bool contiguous = !use.window || use.window->strides == strides;
    leaf_values.push_back(builder.input(format("a{}", graph.inputs.size()), use.leaf->dtype(),
                                        use.shape, contiguous));
  }
  const auto value_of = [&](const Node* node) {
    const uint32_t number = number_of(node);
    return number & kLeafBit ? leaf_values[number & ~kLeafBit] : values[number];
  };
  for (const Node* node : nodes_) {
    ir::Node copy{.op = node->op(),
                  .dtype = node->dtype(),
                  .shape = node->shape(),
                  .attribute = node->attribute(),
                  .source = node->source()};
    std::ranges::transform(node->operands(), copy.operands.begin(),
                           [&](const NodeRef& operand) { return value_of(operand.get()); });
    if (node->op() == Op::kScalar && std::holds_alternative<Scalar>(node->attribute())) {
      copy.attribute = ir::Slot{static_cast<int>(graph.scalars.size())};
      graph.scalars.push_back(node->dtype());
    }
    values.push_back(graph.append(std::move(copy)));
    if (node->op() == Op::kPow && is_signed_int(node->dtype())) {
      builder.set_source(node->source());
      const ir::Expr exponent = builder.expr(value_of(node->operands()[1].get()));
      graph.checks.push_back({(exponent < 0).value(),
                              "pow: integers to negative powers; use a floating-point base",
                              node->source()});
    }
  }
  std::vector<ir::Value> outputs;
  for (const Node* node : outputs_) outputs.push_back(value_of(node));
  return outputs;
}

ir::Graph Recorded::graph() const {
  ir::Graph graph;
  graph.outputs = append_to(graph);
  return graph;
}

// ---- keys ----------------------------------------------------------------------------------

namespace {

class KeyWriter {
 public:
  explicit KeyWriter(std::vector<uint64_t>& words) : words_(words) {}

  void add(uint64_t word) { words_.push_back(word); }
  // A constant: sizes are symbols in traces only, which have no key.
  void add(const Dim& dim) { words_.push_back(static_cast<uint64_t>(dim.value())); }
  void add(const Shape& shape) {
    words_.push_back(static_cast<uint64_t>(shape.rank()));
    for (const Dim& dim : shape) add(dim);
  }
  void add(const std::vector<Dim>& dims) {
    words_.push_back(dims.size());
    for (const Dim& dim : dims) add(dim);
  }

  void operator()(std::monostate) {}
  void operator()(const Scalar& value) { add(value.bits); }
  void operator()(const ir::Slot& slot) { add(static_cast<uint64_t>(slot.index)); }
  void operator()(const ir::Window& window) {
    add(window.offset);
    add(window.strides);
  }
  void operator()(const ir::Axes& axes) {
    uint64_t set = 0;
    for (const int axis : axes.axes) set |= uint64_t{1} << axis;
    add(set);
  }
  void operator()(const ir::Exponent& exponent) { add(std::bit_cast<uint64_t>(exponent.value)); }
  void operator()(const ir::Table* table) { add(reinterpret_cast<uintptr_t>(table)); }

 private:
  std::vector<uint64_t>& words_;
};

}  // namespace

std::vector<uint64_t> Recorded::key() const {
  std::vector<uint64_t> words;
  words.reserve(16 * nodes_.size());
  KeyWriter writer(words);
  for (uint32_t i = 0; i < leaves_.size(); ++i) {
    const LeafUse& use = leaves_[i];
    writer.add(static_cast<uint64_t>(use.leaf->dtype()));
    writer.add(use.shape);
    if (use.window) writer.add(use.window->strides);
    writer.add(use.window != nullptr);
    const auto [first, offset] = place_in_leaf(i);
    writer.add(first);
    writer.add(static_cast<uint64_t>(offset));
  }
  for (const Node* node : nodes_) {
    uint64_t head = static_cast<uint64_t>(node->op()) | static_cast<uint64_t>(node->dtype()) << 8;
    writer.add(head);
    writer.add(node->shape());
    for (const NodeRef& operand : node->operands()) writer.add(number_of(operand.get()));
    // The value of a Scalar is an argument, not part of the key.
    if (node->op() != Op::kScalar) std::visit(writer, node->attribute());
  }
  writer.add(leaves_.size());
  for (const Node* node : outputs_) writer.add(number_of(node));
  return words;
}

}  // namespace lanewise::frontend
