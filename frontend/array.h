// Arrays: strided windows on storages.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "frontend/node.h"

namespace lanewise::frontend {

// A cell that holds the current value of an array as a node. Arrays that are views of each
// other share it; writing puts a new node here.
class Storage {
 public:
  explicit Storage(NodeRef node);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  const NodeRef& node() const { return node_; }
  void set(NodeRef node);

  // Why the storage may not be written ("a traced argument", "foreign read-only memory"), or
  // empty.
  std::string read_only_reason;
  // The TracingScope that it was made in, or 0.
  uint64_t scope() const { return scope_; }

  // Memory that others see (asarray(copy=False), from_dlpack): updates are written into it at
  // once instead of replacing the node's buffer.
  bool foreign = false;

 private:
  NodeRef node_;
  uint64_t scope_;
};

// Element (i0, i1, ...) is element offset + sum(stride_d * i_d) of the storage's value, counted
// row-major. Copying an Array copies the reference, not the elements.
class Array {
 public:
  Array() = default;
  // The whole of a new storage with this value.
  explicit Array(NodeRef node);
  Array(std::shared_ptr<Storage> storage, Shape shape, ir::Window window);

  DType dtype() const { return storage_->node()->dtype(); }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  const ir::Window& window() const { return window_; }
  const std::shared_ptr<Storage>& storage() const { return storage_; }

  // The value now: the storage's node, behind a Window node where this is a part of it.
  NodeRef node() const;

  // ---- views of the same storage; errors name the op -----------------------------------
  Array permute(std::span<const int> axes) const;
  Array flip(std::span<const int> axes) const;
  Array broadcast_to(const Shape& shape) const;
  Array squeeze(std::span<const int> axes) const;
  Array expand_dims(std::span<const int> axes) const;
  // A view where NumPy would give one, else a copy (nullopt if copy is false and it must).
  std::optional<Array> reshape(const Shape& shape, std::optional<bool> copy = {}) const;

  // The view that `index` below gives: a(2, Slice{}, NewAxis{}).
  template <class... Items>
  Array operator()(const Items&... items) const;

  // ---- writing: replaces the elements of this window, seen by all views -----------------
  // Why this window cannot be written, or empty.
  std::string read_only_reason() const;
  // `value` broadcasts to this shape and is cast to this dtype (see `assign` in ops.h for what
  // casts Python may ask for).
  void write(const NodeRef& value);

 private:
  std::shared_ptr<Storage> storage_;
  Shape shape_;
  ir::Window window_;
  bool whole_ = true;
};

// One item of a[...].
struct Slice {
  std::optional<int64_t> start, stop, step;
};
struct NewAxis {};
struct Ellipsis {};
using IndexItem = std::variant<int64_t, Slice, NewAxis, Ellipsis>;

// Basic indexing: always a view. IndexError for an index out of range or too many of them.
Array index(const Array& array, std::span<const IndexItem> items);

template <class... Items>
Array Array::operator()(const Items&... items) const {
  const IndexItem list[] = {IndexItem(items)...};
  return index(*this, list);
}

}  // namespace lanewise::frontend
