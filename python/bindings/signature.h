// Functions for Python, written as a signature, a docstring and a C++ function, called without
// building tuples. inspect.signature shows them like functions written in Python.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "python/bindings/errors.h"

namespace lanewise::python {

inline constexpr size_t kMaxParameters = 8;

// Arguments in the order of the signature; nullptr where one was left out.
struct Bound {
  std::array<PyObject*, kMaxParameters> values = {};
  std::span<PyObject* const> rest;  // what `*name` takes

  PyObject* operator[](size_t i) const { return values[i]; }
  // The argument, or nullptr also where it is None.
  PyObject* given(size_t i) const { return values[i] == Py_None ? nullptr : values[i]; }
};

// CPython's METH_FASTCALL | METH_KEYWORDS.
using FastFunction = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t count,
                                   PyObject* names);

struct Definition {
  const char* name;
  const char* signature;  // as Python writes it: "x, /, axis=None, *, keepdims=False"
  py::object (*implementation)(const Bound& bound);
  const char* doc;
  // A method: the implementation gets the object as argument 0, which the signature leaves out.
  bool is_method = false;
};

class Signature {
 public:
  explicit Signature(const Definition& definition);
  // TypeError for arguments that do not fit.
  Bound bind(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) const;

 private:
  struct Parameter {
    std::string text;
    PyObject* name;  // interned, lives as long as the process
    bool required;
  };
  void bind_names(Bound& bound, PyObject* const* values, PyObject* names) const;
  [[noreturn]] void fail_missing(size_t i) const;
  [[noreturn]] void fail_too_many(Py_ssize_t count) const;

  std::string_view function_;
  std::vector<Parameter> parameters_;
  size_t first_ = 0;            // 1 for methods
  size_t positional_only_ = 0;  // of parameters_
  size_t positional_ = 0;
  bool has_rest_ = false;
};

namespace detail {

template <const Definition& definition>
PyObject* call(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) noexcept {
  return guarded([&] {
    static const Signature& signature = *new Signature(definition);
    return definition.implementation(signature.bind(self, args, count, names)).release().ptr();
  });
}

PyMethodDef method_def(const Definition& definition, FastFunction call);

}  // namespace detail

// An entry of a table of functions or methods for CPython.
template <const Definition& definition>
PyMethodDef python_function() {
  return detail::method_def(definition, &detail::call<definition>);
}

// Adds functions to a module; their definitions live as long as the process.
void add_functions(py::module_& module, std::vector<PyMethodDef> functions);

// A docstring that begins with what inspect.signature reads. Lives as long as the process.
const char* documentation(const std::string& name, const std::string& signature,
                          const std::string& doc);

}  // namespace lanewise::python
