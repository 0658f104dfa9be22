// a[...], a[...] = value, len, iteration, in.
#include "frontend/evaluate.h"
#include "frontend/reductions.h"
#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/numpy.h"
#include "python/bindings/source.h"
#include "python/bindings/type_text.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;
using frontend::IndexItem;
using frontend::Op;

namespace {

// Bounds beyond the range of 64 bits are clipped, as Python's own slices do.
frontend::Slice to_slice(PyObject* object) {
  const auto* slice = reinterpret_cast<PySliceObject*>(object);
  Py_ssize_t start = 0, stop = 0, step = 0;
  checked(PySlice_Unpack(object, &start, &stop, &step));
  frontend::Slice result;
  if (slice->start != Py_None) result.start = start;
  if (slice->stop != Py_None) result.stop = stop;
  if (slice->step != Py_None) result.step = step;
  return result;
}

// An array of bool that chooses elements.
bool is_mask(PyObject* object) {
  if (is_array(object)) return is_bool(array_of(object).dtype()) && array_of(object).rank() > 0;
  if (!is_ndarray(object)) return false;
  const py::handle array(object);
  return py::cast<int>(array.attr("ndim")) > 0 &&
         py::cast<std::string>(array.attr("dtype").attr("char")) == "?";
}

[[noreturn]] void fail_item(PyObject* object) {
  if (PyFloat_Check(object) || PyUnicode_Check(object)) {
    throw IndexError(format("index: {} is no index; only integers, slices, None and ... are",
                            py::cast<std::string>(py::repr(py::handle(object)))));
  }
  if (is_mask(object)) {
    throw UnsupportedError(
        "index: which elements a mask chooses is not known before it is computed; use "
        "lanewise.where (x[mask] = number is supported)");
  }
  throw UnsupportedError(
      format("index: {} as index is not supported; only integers, slices, None and ... are",
             a_type(object)));
}

IndexItem to_item(PyObject* object) {
  if (PyLong_CheckExact(object)) {
    const Py_ssize_t value = PyLong_AsSsize_t(object);
    if (value != -1 || PyErr_Occurred() == nullptr) return int64_t{value};
    PyErr_Clear();
    throw IndexError(
        format("index: {} is out of range", py::cast<std::string>(py::str(py::handle(object)))));
  }
  if (PySlice_Check(object)) return to_slice(object);
  if (object == Py_None) return frontend::NewAxis{};
  if (object == Py_Ellipsis) return frontend::Ellipsis{};
  const bool scalar = is_array(object)     ? array_of(object).rank() == 0
                      : is_ndarray(object) ? py::cast<int>(py::handle(object).attr("ndim")) == 0
                                           : true;
  if (PyBool_Check(object) || !PyIndex_Check(object) || !scalar) fail_item(object);
  return to_int64(object, "index", "an index");
}

Array view_at(PyObject* self, PyObject* key) {
  const Array& array = array_of(self);
  if (!PyTuple_Check(key)) {
    const IndexItem item = to_item(key);
    return frontend::index(array, {&item, 1});
  }
  std::vector<IndexItem> items;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
    items.push_back(to_item(PyTuple_GET_ITEM(key, i)));
  }
  return frontend::index(array, items);
}

// As in NumPy an element is a value, which later writes to the array do not change; only an index
// with ... gives a view of it.
Array read(const Array& view) { return view.rank() == 0 ? Array(view.node()) : view; }

bool has_ellipsis(PyObject* key) {
  if (!PyTuple_Check(key)) return key == Py_Ellipsis;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
    if (PyTuple_GET_ITEM(key, i) == Py_Ellipsis) return true;
  }
  return false;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&] {
    const Array view = view_at(self, key);
    return wrap(has_ellipsis(key) ? view : read(view)).release().ptr();
  });
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded(
      [&] {
        if (value == nullptr) throw py::type_error("Array: elements cannot be deleted");
        frontend::Argument argument;
        if (!to_argument(value, "assignment", argument)) {
          argument = array_from(value, "assignment");
        }
        if (is_mask(key)) {
          frontend::assign_where(array_of(self), array_from(key, "assignment"), argument,
                                 current_source());
          return 0;
        }
        frontend::assign(view_at(self, key), argument, false, current_source());
        return 0;
      },
      -1);
}

Py_ssize_t length(PyObject* self) {
  return guarded(
      [&]() -> Py_ssize_t {
        const Array& array = array_of(self);
        if (array.rank() == 0) throw py::type_error("len: an array of 0 axes has no length");
        return array.shape()[0].value();
      },
      Py_ssize_t{-1});
}

PyObject* element(PyObject* self, Py_ssize_t i) {
  return guarded([&] {
    const IndexItem item = int64_t{i};
    return wrap(read(frontend::index(array_of(self), {&item, 1}))).release().ptr();
  });
}

PyObject* iterate(PyObject* self) {
  return guarded([&] {
    if (array_of(self).rank() == 0) {
      throw py::type_error("iter: an array of 0 axes cannot be iterated over");
    }
    array_of(self).shape()[0].value();  // fails where it is a name: the loop would never end
    return checked(PySeqIter_New(self)).release().ptr();
  });
}

// As NumPy has it: whether some element equals `value`.
int contains(PyObject* self, PyObject* value) {
  return guarded(
      [&] {
        frontend::Argument argument;
        if (!to_argument(value, "in", argument)) return 0;
        const Array equal = frontend::apply(Op::kEqual, {array_of(self), argument});
        const Array any = frontend::reduce(Op::kAny, equal, {});
        require_value(any, "in");
        return item(any).cast<bool>() ? 1 : 0;
      },
      -1);
}

}  // namespace

void append_indexing_slots(std::vector<PyType_Slot>& slots) {
  const PyType_Slot table[] = {
      slot(Py_mp_subscript, subscript), slot(Py_mp_ass_subscript, assign_subscript),
      slot(Py_mp_length, length),       slot(Py_sq_length, length),
      slot(Py_sq_item, element),        slot(Py_sq_contains, contains),
      slot(Py_tp_iter, iterate),
  };
  slots.insert(slots.end(), std::begin(table), std::end(table));
}

}  // namespace lanewise::python
