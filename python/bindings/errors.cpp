#include "python/bindings/errors.h"

#include <array>
#include <new>

namespace lanewise::python {

namespace {

enum Class : uint8_t {
  kError,
  kShapeError,
  kDTypeError,
  kIndexError,
  kValueError,
  kTracingError,
  kUnsupportedError,
  kCompileError,
  kMemoryError,
  kInternalError,
  kClassCount,
};

// Live as long as the process.
std::array<PyObject*, kClassCount> classes = {};

void add_class(py::module_& module, Class which, const char* name, PyObject* builtin,
               const char* doc) {
  py::object bases = which == kError
                         ? py::reinterpret_borrow<py::object>(builtin)
                         : py::make_tuple(py::handle(classes[kError]), py::handle(builtin));
  const std::string full = std::string("lanewise.errors.") + name;
  classes[which] =
      checked(PyErr_NewExceptionWithDoc(full.c_str(), doc, bases.ptr(), nullptr)).release().ptr();
  module.attr(name) = py::handle(classes[which]);
}

void set(Class which, const std::exception& error) {
  PyErr_SetString(classes[which], error.what());
}

void set_internal(const InternalError& error) {
  const py::object exception =
      py::reinterpret_borrow<py::object>(classes[kInternalError])(py::str(error.what()));
  exception.attr("ir") = py::str(error.ir());
  PyErr_SetObject(classes[kInternalError], exception.ptr());
}

void translate() {
  try {
    throw;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const py::builtin_exception& error) {
    error.set_error();
  } catch (const ShapeError& error) {
    set(kShapeError, error);
  } catch (const DTypeError& error) {
    set(kDTypeError, error);
  } catch (const IndexError& error) {
    set(kIndexError, error);
  } catch (const ValueError& error) {
    set(kValueError, error);
  } catch (const TracingError& error) {
    set(kTracingError, error);
  } catch (const UnsupportedError& error) {
    set(kUnsupportedError, error);
  } catch (const CompileError& error) {
    set(kCompileError, error);
  } catch (const MemoryError& error) {
    set(kMemoryError, error);
  } catch (const InternalError& error) {
    set_internal(error);
  } catch (const Error& error) {
    set(kError, error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    set_internal(InternalError(error.what()));
  } catch (...) {
    set_internal(InternalError("an exception of unknown type"));
  }
}

}  // namespace

void add_errors(py::module_& module) {
  add_class(module, kError, "Error", PyExc_Exception, "Base of all errors of lanewise.");
  add_class(module, kShapeError, "ShapeError", PyExc_ValueError, "Shapes that do not go together.");
  add_class(module, kDTypeError, "DTypeError", PyExc_TypeError,
            "A dtype that is unknown, or that an operation does not take.");
  add_class(module, kIndexError, "IndexError", PyExc_IndexError,
            "An index out of range, or too many of them.");
  add_class(module, kValueError, "ValueError", PyExc_ValueError,
            "A value that an operation cannot take.");
  add_class(module, kTracingError, "TracingError", PyExc_TypeError,
            "Python needs a value that is not known while lanewise.jit traces a function.");
  add_class(module, kUnsupportedError, "UnsupportedError", PyExc_NotImplementedError,
            "Something that lanewise does not do.");
  add_class(module, kCompileError, "CompileError", PyExc_RuntimeError,
            "A kernel could not be compiled.");
  add_class(module, kMemoryError, "MemoryError", PyExc_MemoryError,
            "No memory, from the system or within the limit of set_memory_limit.");
  add_class(module, kInternalError, "InternalError", PyExc_RuntimeError,
            "A broken invariant of lanewise: please report it. `ir` holds what was worked on.");
}

void set_python_error() noexcept {
  try {
    translate();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (...) {
    PyErr_NoMemory();
  }
}

}  // namespace lanewise::python
