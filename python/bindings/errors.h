// Exceptions across the border: C++ ones become those of lanewise.errors.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <utility>

#include "support/error.h"

namespace lanewise::python {

namespace py = pybind11;

// A value was asked for that is not known while a function is traced.
class TracingError : public Error {
 public:
  using Error::Error;
};

// Creates the exception classes; errors.py re-exports them.
void add_errors(py::module_& module);

// Called in a catch clause: sets the Python error that the exception in flight stands for.
void set_python_error() noexcept;

// Runs `work`, which gives a result or throws, where CPython calls us: an exception becomes a
// Python error and `failure` the result.
template <class Work, class Result>
Result guarded(Work&& work, Result failure) noexcept {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    set_python_error();
    return failure;
  }
}
template <class Work>
PyObject* guarded(Work&& work) noexcept {
  return guarded(std::forward<Work>(work), static_cast<PyObject*>(nullptr));
}

// For calls into CPython: a new reference, or the Python error as C++ exception.
inline py::object checked(PyObject* object) {
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}
inline void checked(int status) {
  if (status < 0) throw py::error_already_set();
}

}  // namespace lanewise::python
