#include <type_traits>

#include "jit/detail/cache.h"
#include "jit/detail/kernel_plan.h"

namespace lanewise::jit {

namespace {

class KeyWriter {
 public:
  template <class T>
    requires std::is_integral_v<T> || std::is_enum_v<T>
  void add(T value) {
    key_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void add(const std::string& text) {
    add(text.size());
    key_ += text;
  }
  std::string take() { return std::move(key_); }

 private:
  std::string key_;
};

void add_attribute(KeyWriter& key, const ir::Node& node) {
  if (const auto* number = std::get_if<lanewise::Scalar>(&node.attribute)) key.add(number->bits);
  if (const auto* slot = std::get_if<ir::Slot>(&node.attribute)) key.add(slot->index);
  // A name stands for the content; an address would not in another process.
  if (const auto* table = std::get_if<const ir::Table*>(&node.attribute)) key.add((*table)->name);
}

void add_layout(KeyWriter& key, const runtime::Layout& layout) {
  key.add(layout.rank);
  key.add(layout.reduced);
  key.add(layout.streaming);
  key.add(layout.columns);
  key.add(layout.long_rows);
  key.add(layout.portion);
  key.add(layout.operands.size());
  for (const runtime::OperandLayout& operand : layout.operands) {
    key.add(operand.stride);
    key.add(operand.step);
    key.add(operand.group);
    key.add(operand.column);
  }
}

}  // namespace

std::string cache_key(const ir::Kernel& kernel, const ir::Program& program,
                      const runtime::Layout& layout, Target target) {
  KeyWriter key;
  key.add(target);
  add_layout(key, layout);
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    const ir::Operand& operand = kernel.operands[i];
    const bool is_index = operand.buffer == ir::Operand::kIndex;
    key.add(is_index);
    if (!is_index) key.add(program.buffers[static_cast<size_t>(operand.buffer)].dtype);
    key.add(varies_along_reduced(kernel, i));
  }
  const std::vector<bool> needed = find_needed(kernel);
  std::vector<uint32_t> number(kernel.body.size());
  uint32_t count = 0;
  for (size_t i = 0; i < kernel.body.size(); ++i) {
    if (!needed[i]) continue;
    const ir::Node& node = kernel.body[kernel.body.value(i)];
    number[i] = count++;
    key.add(node.op);
    key.add(node.dtype);
    add_attribute(key, node);
    for (const ir::Value operand : node.inputs()) key.add(number[operand.index]);
  }
  for (const ir::Store& store : kernel.stores) {
    key.add(store.operand);
    key.add(number[store.value.index]);
  }
  return key.take();
}

}  // namespace lanewise::jit
