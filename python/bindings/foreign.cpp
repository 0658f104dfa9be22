#include "python/bindings/foreign.h"

#include <atomic>

#include "support/format.h"

namespace lanewise::python {

using frontend::Array;
using frontend::Dim;
using frontend::Shape;

namespace {

// Bytes from the first element to the lowest one, and past the highest one.
struct Extent {
  int64_t low = 0, high = 0;
};

Extent extent_of(const Memory& memory) {
  Extent extent{0, size_of(memory.dtype)};
  for (int axis = 0; axis < memory.rank; ++axis) {
    if (memory.shape[axis] == 0) return {};
    const int64_t reach = memory.strides[axis] * (memory.shape[axis] - 1);
    (reach < 0 ? extent.low : extent.high) += reach;
  }
  return extent;
}

bool is_contiguous(const Memory& memory) {
  int64_t expected = size_of(memory.dtype);
  for (int axis = memory.rank - 1; axis >= 0; --axis) {
    if (memory.shape[axis] != 1 && memory.strides[axis] != expected) return false;
    expected *= memory.shape[axis];
  }
  return true;
}

std::vector<Dim> element_strides(const Memory& memory) {
  std::vector<Dim> strides;
  for (int axis = 0; axis < memory.rank; ++axis) {
    if (memory.strides[axis] % size_of(memory.dtype) != 0) {
      throw ValueError(format(
          "asarray: stride {} of axis {} is no multiple of the {} bytes of an element; copy it",
          memory.strides[axis], axis, size_of(memory.dtype)));
    }
    strides.emplace_back(memory.strides[axis] / size_of(memory.dtype));
  }
  return strides;
}

}  // namespace

Array alias_memory(const Memory& memory, void (*release)(void*), void* context) {
  const Extent extent = extent_of(memory);
  const int64_t size = size_of(memory.dtype);
  runtime::BufferRef buffer = runtime::Buffer::foreign(
      memory.data + extent.low, static_cast<size_t>(extent.high - extent.low), {release, context});
  const Shape shape(std::vector<Dim>(memory.shape, memory.shape + memory.rank));
  const bool whole = extent.high == extent.low || is_contiguous(memory);
  // Memory with gaps is an array of one axis from its lowest to its highest element, seen through
  // a window.
  const Shape extent_shape = whole ? shape : Shape{(extent.high - extent.low) / size};
  Array base(frontend::Node::leaf(memory.dtype, extent_shape, {std::move(buffer), 0}));
  base.storage()->foreign = true;
  if (!memory.writable) base.storage()->read_only_reason = "the memory is read-only";
  if (whole) return base;
  return Array(base.storage(), shape, {-extent.low / size, element_strides(memory)});
}

namespace {

// Objects to be dropped by whoever has the GIL next: a list without locks, so that fork() cannot
// catch one held.
struct Dropped {
  PyObject* object;
  Dropped* next;
};
std::atomic<Dropped*> dropped = nullptr;

int drop_pending(void*) {
  Dropped* list = dropped.exchange(nullptr, std::memory_order_acquire);
  while (list != nullptr) {
    Dropped* next = list->next;
    Py_DECREF(list->object);
    delete list;
    list = next;
  }
  return 0;
}

}  // namespace

void release_object(void* object) {
  if (Py_IsInitialized() == 0) return;
  if (PyGILState_Check() == 1) {
    Py_DECREF(static_cast<PyObject*>(object));
    return;
  }
  auto* entry = new Dropped{static_cast<PyObject*>(object), dropped.load()};
  while (!dropped.compare_exchange_weak(entry->next, entry, std::memory_order_release)) {
  }
  // If the queue of calls is full, the next release drops it.
  Py_AddPendingCall(drop_pending, nullptr);
}

}  // namespace lanewise::python
