#include "frontend/array.h"

#include <algorithm>
#include <numeric>

#include "frontend/evaluate.h"
#include "frontend/sizes.h"
#include "frontend/trace.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

Storage::Storage(NodeRef node) : node_(std::move(node)), scope_(TracingScope::current()) {
  node_->storage_count.fetch_add(1, std::memory_order_relaxed);
}

Storage::~Storage() { node_->storage_count.fetch_sub(1, std::memory_order_relaxed); }

void Storage::set(NodeRef node) {
  node->storage_count.fetch_add(1, std::memory_order_relaxed);
  node_->storage_count.fetch_sub(1, std::memory_order_relaxed);
  node_ = std::move(node);
}

Array::Array(NodeRef node)
    : shape_(node->shape()), window_{0, ir::row_major_strides(node->shape())} {
  storage_ = std::make_shared<Storage>(std::move(node));
}

Array::Array(std::shared_ptr<Storage> storage, Shape shape, ir::Window window)
    : storage_(std::move(storage)),
      shape_(std::move(shape)),
      window_(std::move(window)),
      whole_(ir::is_identity(window_, storage_->node()->shape(), shape_)) {}

NodeRef Array::node() const {
  const NodeRef& all = storage_->node();
  if (whole_) return all;
  return Node::make(Op::kWindow, all->dtype(), shape_, {all}, window_, all->source());
}

// ---- views ---------------------------------------------------------------------------------

Array Array::permute(std::span<const int> axes) const {
  std::vector<Dim> dims, strides;
  for (const int axis : axes) {
    dims.push_back(shape_[axis]);
    strides.push_back(window_.strides[static_cast<size_t>(axis)]);
  }
  return Array(storage_, Shape(std::move(dims)), {window_.offset, std::move(strides)});
}

Array Array::flip(std::span<const int> axes) const {
  ir::Window window = window_;
  for (const int axis : axes) {
    Dim& stride = window.strides[static_cast<size_t>(axis)];
    if (!shape_[axis].is(0)) window.offset = window.offset + stride * (shape_[axis] - 1);
    stride = Dim(-1) * stride;
  }
  return Array(storage_, shape_, std::move(window));
}

Array Array::broadcast_to(const Shape& shape) const {
  if (shape == shape_) return *this;
  const int added = shape.rank() - rank();
  std::vector<Dim> strides(static_cast<size_t>(shape.rank()), Dim(0));
  for (int axis = 0; axis < rank(); ++axis) {
    if (added < 0 || (!shape_[axis].is(1) && !agree(shape_[axis], shape[axis + added]))) {
      throw ShapeError(format("broadcast_to: cannot broadcast {} to {}", format_tuple(shape_),
                              format_tuple(shape)));
    }
    if (shape_[axis] == shape[axis + added] || !shape_[axis].is(1)) {
      strides[static_cast<size_t>(axis + added)] = window_.strides[static_cast<size_t>(axis)];
    }
  }
  return Array(storage_, shape, {window_.offset, std::move(strides)});
}

Array Array::squeeze(std::span<const int> axes) const {
  std::vector<Dim> dims, strides;
  for (int axis = 0; axis < rank(); ++axis) {
    if (std::ranges::find(axes, axis) != axes.end()) {
      if (!shape_[axis].is(1)) {
        throw ShapeError(format("squeeze: axis {} of {} has size {}, not 1", axis,
                                format_tuple(shape_), shape_[axis]));
      }
      continue;
    }
    dims.push_back(shape_[axis]);
    strides.push_back(window_.strides[static_cast<size_t>(axis)]);
  }
  return Array(storage_, Shape(std::move(dims)), {window_.offset, std::move(strides)});
}

Array Array::expand_dims(std::span<const int> axes) const {
  std::vector<Dim> dims, strides;
  const int result_rank = rank() + static_cast<int>(axes.size());
  for (int axis = 0, source = 0; axis < result_rank; ++axis) {
    const bool added = std::ranges::find(axes, axis) != axes.end();
    dims.push_back(added ? Dim(1) : shape_[source]);
    strides.push_back(added ? Dim(0) : window_.strides[static_cast<size_t>(source)]);
    if (!added) ++source;
  }
  return Array(storage_, Shape(std::move(dims)), {window_.offset, std::move(strides)});
}

namespace {

// One axis of size -1 takes what is left.
Shape resolve_shape(const Shape& from, const Shape& to) {
  const auto fail = [&](std::string_view cause) {
    return ShapeError(format("reshape: {} to {}: {}", format_tuple(from), format_tuple(to), cause));
  };
  std::vector<Dim> dims(to.begin(), to.end());
  const auto unknown = std::ranges::find(dims, Dim(-1));
  const Dim total = from.element_count();
  if (unknown != dims.end()) {
    *unknown = 1;
    if (std::ranges::find(dims, Dim(-1)) != dims.end()) throw fail("more than one size is -1");
    const auto rest = exact_quotient(total, Shape(dims).element_count());
    if (!rest) throw fail(format("{} elements do not fill it evenly", total));
    *unknown = *rest;
  }
  for (const Dim& dim : dims) {
    if (dim.is_constant() && dim.value() < 0) throw fail(format("size {} is negative", dim));
  }
  Shape result(std::move(dims));
  if (!agree(result.element_count(), total)) {
    throw fail(format("{} elements, not {}", total, result.element_count()));
  }
  return result;
}

// Strides of the same elements under another shape, where one window can have them: groups of
// axes with equal products must be walked as one in the operand. Sizes are constants.
std::optional<std::vector<Dim>> reshaped_strides(const Shape& from, std::span<const Dim> strides,
                                                 const Shape& to) {
  std::vector<std::pair<int64_t, int64_t>> old;  // size and stride of axes longer than 1
  for (int axis = 0; axis < from.rank(); ++axis) {
    if (!from[axis].is(1)) {
      old.emplace_back(from[axis].value(), strides[static_cast<size_t>(axis)].value());
    }
  }
  std::vector<Dim> result(static_cast<size_t>(to.rank()), Dim(0));
  size_t first = 0;
  for (int axis = 0; axis < to.rank();) {
    if (to[axis].is(1)) {
      ++axis;
      continue;
    }
    // The shortest runs of axes on both sides with the same number of elements.
    int end = axis + 1;
    size_t last = first + 1;
    int64_t new_count = to[axis].value();
    int64_t old_count = old[first].first;
    while (new_count != old_count) {
      if (new_count < old_count) {
        new_count *= to[end++].value();
      } else {
        old_count *= old[last++].first;
      }
    }
    for (size_t i = first; i + 1 < last; ++i) {
      if (old[i].second != old[i + 1].second * old[i + 1].first) return std::nullopt;
    }
    int64_t stride = old[last - 1].second;
    for (int i = end - 1; i >= axis; --i) {
      result[static_cast<size_t>(i)] = stride;
      stride *= to[i].value();
    }
    axis = end;
    first = last;
  }
  return result;
}

}  // namespace

std::optional<Array> Array::reshape(const Shape& requested, std::optional<bool> copy) const {
  const Shape shape = resolve_shape(shape_, requested);
  if (copy != true) {
    const std::vector<Dim> row_major = ir::row_major_strides(shape);
    if (whole_ || shape.element_count().is(0)) {
      return Array(storage_, shape, {window_.offset, row_major});
    }
    if (shape_.is_constant()) {
      if (auto strides = reshaped_strides(shape_, window_.strides, shape)) {
        return Array(storage_, shape, {window_.offset, std::move(*strides)});
      }
    }
    if (copy == false) return std::nullopt;
  }
  const Array flat(node());
  return Array(flat.storage_, shape, {0, ir::row_major_strides(shape)});
}

// ---- writing -------------------------------------------------------------------------------

std::string Array::read_only_reason() const {
  if (!storage_->read_only_reason.empty()) return storage_->read_only_reason;
  if (shape_.element_count().is(0)) return {};
  for (int axis = 0; axis < rank(); ++axis) {
    if (window_.strides[static_cast<size_t>(axis)].is(0) && !shape_[axis].is(1)) {
      return "a view that repeats elements is read-only";
    }
  }
  return {};
}

void Array::write(const NodeRef& value) {
  const std::string reason = read_only_reason();
  if (!reason.empty()) throw ValueError(format("assignment: {}", reason));
  const bool is_traces_own =
      TracingScope::active() && !storage_->foreign && storage_->scope() == TracingScope::current();
  if (value->is_traced() && !is_traces_own) {
    throw ValueError(
        "assignment: a traced value cannot be written to an array from outside the traced "
        "function, of which only the results are kept; return the value, or use out= in the call");
  }
  if (shape_.element_count().is(0)) return;
  // What may fail does so here, so that the array keeps its value.
  if (value->may_fail() && !value->is_traced()) evaluate_nodes({&value, 1});
  const NodeRef old = storage_->node();
  NodeRef next = whole_ ? value
                        : Node::make(Op::kUpdate, old->dtype(), old->shape(), {old, value}, window_,
                                     value->source());
  if (storage_->foreign) {
    evaluate_into_leaf(next, *old);
  } else {
    storage_->set(std::move(next));
  }
}

// ---- indexing ------------------------------------------------------------------------------

namespace {

// Python's slice arithmetic for one axis of n elements: first index, step, count.
struct Range {
  int64_t start, step, count;
};

Range resolve(const Slice& slice, int64_t n) {
  const int64_t step = slice.step.value_or(1);
  if (step == 0) throw ValueError("index: slice step is 0");
  const int64_t lowest = step > 0 ? 0 : -1;
  const int64_t highest = step > 0 ? n : n - 1;
  const auto clamp = [&](std::optional<int64_t> index, int64_t missing) {
    if (!index) return missing;
    return std::clamp(*index < 0 ? *index + n : *index, lowest, highest);
  };
  const int64_t start = clamp(slice.start, step > 0 ? lowest : highest);
  const int64_t stop = clamp(slice.stop, step > 0 ? highest : lowest);
  const int64_t distance = step > 0 ? stop - start : start - stop;
  if (distance <= 0) return {0, step, 0};
  const uint64_t stride = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  return {start, step, static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride) + 1};
}

class Indexer {
 public:
  explicit Indexer(const Array& array) : array_(array), offset_(array.window().offset) {}

  void take(int64_t i) {
    const Dim& size = array_.shape()[axis_];
    if (size.is_constant() && (i < -size.value() || i >= size.value())) {
      throw IndexError(format("index: {} is out of range for axis {} of size {}", i, axis_, size));
    }
    if (!size.is_constant()) require_at_least(size, i < 0 ? Dim(-i) : Dim(i) + Dim(1));
    offset_ = offset_ + stride() * (i < 0 ? size + Dim(i) : Dim(i));
    ++axis_;
  }

  void take(const Slice& slice) {
    const Dim& size = array_.shape()[axis_];
    if (!slice.start && !slice.stop && slice.step.value_or(1) == 1) {
      keep(1);
    } else if (!size.is_constant()) {
      take_named(slice, size);
    } else {
      const Range range = resolve(slice, size.value());
      offset_ = offset_ + stride() * Dim(range.start);
      dims_.push_back(range.count);
      // A step that leads nowhere may be too long to be multiplied.
      strides_.push_back(stride() * Dim(range.count > 1 ? range.step : 1));
      ++axis_;
    }
  }

  void take(NewAxis) {
    dims_.push_back(1);
    strides_.push_back(0);
  }

  void take_rest(int count) {
    for (int i = 0; i < count; ++i) keep(1);
  }

  int axis() const { return axis_; }

  Array result() {
    return Array(array_.storage(), Shape(std::move(dims_)), {offset_, std::move(strides_)});
  }

 private:
  // Of an axis whose size is a name. Bounds are not clipped: the size must be large enough for
  // them.
  void take_named(const Slice& slice, const Dim& size) {
    const int64_t step = slice.step.value_or(1);
    if (step == 0) throw ValueError("index: slice step is 0");
    const auto bound = [&](std::optional<int64_t> index, const Dim& missing) {
      if (!index) return missing;
      return *index < 0 ? size + Dim(*index) : Dim(*index);
    };
    const Dim start = bound(slice.start, step > 0 ? Dim(0) : size - Dim(1));
    const Dim stop = bound(slice.stop, step > 0 ? size : Dim(-1));
    if (step > 0) {
      require_at_least(start, 0);
      require_at_least(size, stop);
      require_at_least(stop, start);
    } else {
      require_at_least(size, start + Dim(1));
      require_at_least(start, stop);
      require_at_least(stop, -1);
    }
    const Dim distance = step > 0 ? stop - start : start - stop;
    const int64_t length = step > 0 ? step : -step;
    // Rounded up.
    const auto count = distance.is_constant()
                           ? std::optional<Dim>((distance.value() + length - 1) / length)
                           : exact_quotient(distance, Dim(length));
    if (!count) {
      throw UnsupportedError(
          format("index: a slice of step {} along axis {} needs the value of size '{}'", step,
                 axis_, size));
    }
    offset_ = offset_ + stride() * start;
    dims_.push_back(*count);
    strides_.push_back(stride() * Dim(step));
    ++axis_;
  }

  const Dim& stride() const { return array_.window().strides[static_cast<size_t>(axis_)]; }

  void keep(int64_t step) {
    dims_.push_back(array_.shape()[axis_]);
    strides_.push_back(stride() * Dim(step));
    ++axis_;
  }

  const Array& array_;
  int axis_ = 0;
  Dim offset_;
  std::vector<Dim> dims_, strides_;
};

}  // namespace

Array index(const Array& array, std::span<const IndexItem> items) {
  int used = 0;
  int ellipses = 0;
  for (const IndexItem& item : items) {
    used += std::holds_alternative<int64_t>(item) || std::holds_alternative<Slice>(item);
    ellipses += std::holds_alternative<Ellipsis>(item);
  }
  if (ellipses > 1) throw IndexError("index: more than one ellipsis");
  if (used > array.rank()) {
    throw IndexError(format("index: {} indices for an array of {} axes", used, array.rank()));
  }
  Indexer indexer(array);
  for (const IndexItem& item : items) {
    if (std::holds_alternative<Ellipsis>(item)) {
      indexer.take_rest(array.rank() - used);
    } else if (const auto* i = std::get_if<int64_t>(&item)) {
      indexer.take(*i);
    } else if (const auto* slice = std::get_if<Slice>(&item)) {
      indexer.take(*slice);
    } else {
      indexer.take(NewAxis{});
    }
  }
  indexer.take_rest(array.rank() - indexer.axis());
  return indexer.result();
}

}  // namespace lanewise::frontend
