// lanewise.Array: the Python object around a frontend::Array.
#pragma once

#include <optional>
#include <vector>

#include "frontend/ops.h"
#include "python/bindings/errors.h"

namespace lanewise::python {

struct ArrayObject {
  PyObject ob_base;
  PyObject* weak_references;
  frontend::Array array;
  // A Python number that is an argument of a function being traced, or was computed from such ones
  // only: a 0-d array that takes part in promotion as a number.
  std::optional<frontend::Weak> number;
};

// Set once, when the module is made.
extern PyTypeObject* array_type;

inline bool is_array(PyObject* object) { return Py_TYPE(object) == array_type; }
inline ArrayObject& array_object(PyObject* object) {
  return *reinterpret_cast<ArrayObject*>(object);
}
inline frontend::Array& array_of(PyObject* object) { return array_object(object).array; }

py::object wrap(frontend::Array array, std::optional<frontend::Weak> number = {});

inline bool is_traced(const frontend::Array& array) { return array.storage()->node()->is_traced(); }
// Throws TracingError where `op` needs the value of a traced array.
void require_value(const frontend::Array& array, std::string_view op);

// `shape`, `dtype` and so on as Python sees them.
py::tuple shape_tuple(const frontend::Shape& shape);
int64_t element_count(const frontend::Array& array);
// The first element, as Python number.
py::object item(const frontend::Array& array);
// The one element of a 0-d array, as Python number; TypeError for other arrays.
py::object only_element(PyObject* self, std::string_view op);

void add_array_type(py::module_& module);

// What add_array_type puts together.
void append_number_slots(std::vector<PyType_Slot>& slots);
void append_indexing_slots(std::vector<PyType_Slot>& slots);
void append_buffer_slots(std::vector<PyType_Slot>& slots);
void append_methods(std::vector<PyMethodDef>& methods);
void append_dlpack_methods(std::vector<PyMethodDef>& methods);
void append_exchange_methods(std::vector<PyMethodDef>& methods);
void append_protocol_methods(std::vector<PyMethodDef>& methods);
PyGetSetDef* array_properties();
PyObject* array_repr(PyObject* self);
PyObject* array_str(PyObject* self);

template <class Function>
PyType_Slot slot(int id, Function* function) {
  return {id, reinterpret_cast<void*>(function)};
}

}  // namespace lanewise::python
