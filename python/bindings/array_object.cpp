#include "python/bindings/array_object.h"

#include <structmember.h>

#include <cstddef>
#include <new>

#include "python/bindings/size.h"
#include "support/format.h"

namespace lanewise::python {

PyTypeObject* array_type = nullptr;

namespace {

// Memory of objects that died, for the next ones: expressions make and drop them at every op.
// Guarded by the GIL.
constexpr size_t kFreeLimit = 64;
ArrayObject* free_objects[kFreeLimit];
size_t free_count = 0;

constexpr const char* kDoc = R"(An array whose operations are recorded and computed when needed.

Made by asarray, zeros, arange and the like, or by operations on other arrays. Indexing with
integers, slices, None and ... gives views, as in NumPy: writing to a view changes the array, and
single elements are values. x[mask] = number writes where the mask is true.
Expressions written before keep the old values.

>>> x = lw.asarray([1.0, 2.0, 3.0])
>>> y = 2 * x
>>> x[0] = 100
>>> y
array([2., 4., 6.])
)";

ArrayObject* allocate() {
  if (free_count > 0) {
    ArrayObject* object = free_objects[--free_count];
    PyObject_Init(&object->ob_base, array_type);
    return object;
  }
  return PyObject_New(ArrayObject, array_type);
}

void deallocate(PyObject* self) {
  ArrayObject& object = array_object(self);
  if (object.weak_references != nullptr) PyObject_ClearWeakRefs(self);
  object.array.~Array();
  if (free_count < kFreeLimit) {
    free_objects[free_count++] = &object;
  } else {
    PyObject_Free(self);
  }
  Py_DECREF(array_type);  // every object of a heap type holds one
}

PyObject* refuse_construction(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError,
                  "Array: arrays are made by lanewise.asarray, zeros, arange and the like");
  return nullptr;
}

}  // namespace

py::object wrap(frontend::Array array, std::optional<frontend::Weak> number) {
  ArrayObject* object = allocate();
  if (object == nullptr) throw py::error_already_set();
  object->weak_references = nullptr;
  new (&object->array) frontend::Array(std::move(array));
  object->number = number;
  return py::reinterpret_steal<py::object>(&object->ob_base);
}

void require_value(const frontend::Array& array, std::string_view op) {
  if (!is_traced(array)) return;
  throw TracingError(
      format("{}: a traced array of shape {} has no value while lanewise.jit traces the function; "
             "choose elements with lanewise.where, or name the argument in static_argnames",
             op, format_tuple(array.shape())));
}

py::tuple shape_tuple(const frontend::Shape& shape) {
  py::tuple result(shape.rank());
  for (int axis = 0; axis < shape.rank(); ++axis) {
    PyTuple_SET_ITEM(result.ptr(), axis, size_object(shape[axis]).release().ptr());
  }
  return result;
}

int64_t element_count(const frontend::Array& array) {
  return array.shape().element_count().value();
}

void add_array_type(py::module_& module) {
  static PyMemberDef members[] = {
      {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static auto& methods = *new std::vector<PyMethodDef>();
  append_methods(methods);
  append_exchange_methods(methods);
  append_protocol_methods(methods);
  methods.push_back({nullptr, nullptr, 0, nullptr});

  std::vector<PyType_Slot> slots{
      slot(Py_tp_dealloc, deallocate),
      slot(Py_tp_new, refuse_construction),
      slot(Py_tp_repr, array_repr),
      slot(Py_tp_str, array_str),
      slot(Py_tp_hash, PyObject_HashNotImplemented),
      {Py_tp_doc, const_cast<char*>(kDoc)},
      {Py_tp_members, members},
      {Py_tp_methods, methods.data()},
      {Py_tp_getset, array_properties()},
  };
  append_number_slots(slots);
  append_indexing_slots(slots);
  append_buffer_slots(slots);
  slots.push_back({0, nullptr});

  PyType_Spec spec{"lanewise.Array", sizeof(ArrayObject), 0, Py_TPFLAGS_DEFAULT, slots.data()};
  array_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release().ptr());
  module.attr("Array") = py::handle(reinterpret_cast<PyObject*>(array_type));
}

}  // namespace lanewise::python
