// Computing values: lazily recorded graphs, and traced functions.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "frontend/array.h"
#include "frontend/executable.h"

namespace lanewise::frontend {

// Makes each array's value a leaf, sharing work. Nodes inside that other storages hold become
// leaves too. Throws what the values demand (ValueError for int ** negative int), and then nothing
// has changed. Called with the GIL held from Python; `unlocked` runs the work without it.
void evaluate(std::span<const Array> arrays);
void evaluate_nodes(std::span<const NodeRef> nodes);
// Computes `value` and copies it into the memory of `leaf`, which has its shape and dtype.
void evaluate_into_leaf(const NodeRef& value, const Node& leaf);

// The bytes of an evaluated array: address of its first element and byte strides. Evaluates
// first if needed. The buffer keeps the memory alive.
struct StridedData {
  runtime::BufferRef buffer;
  char* data = nullptr;
  std::vector<int64_t> strides;  // bytes
};
StridedData strided_data(const Array& array);

// Hooks of the language that embeds us. By default work is just called, and no source is known.
// (runtime::set_interrupt_check is how it interrupts long work.)
struct Host {
  // Runs something without the language's global lock.
  std::function<void(const std::function<void()>&)> unlocked;
  // "file.py:12" for a source, or empty. Called without the lock.
  std::function<std::string(Source)> describe;
};
void set_host(Host host);
const Host& host();

// Depth of pending work beyond which recording an op evaluates its operands first.
inline constexpr uint32_t kDepthLimit = 1u << 16;

}  // namespace lanewise::frontend
