// NumPy's functions called with our arrays: __array_ufunc__ and __array_function__.
#include "python/bindings/protocols.h"

#include "python/bindings/arguments.h"
#include "python/bindings/elementwise.h"
#include "python/bindings/numpy.h"
#include "python/bindings/signature.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Argument;
using frontend::Array;
using frontend::Op;

namespace {

// From NumPy's ufuncs to numbers of our ops, and from its other functions to ours. Live as long as
// the process.
PyObject* ufuncs = nullptr;
PyObject* functions = nullptr;

py::object no_answer() { return py::reinterpret_borrow<py::object>(Py_NotImplemented); }

// Splits the keyword arguments of a ufunc: true if there is none but out=, with one array or None.
bool only_out(py::handle keywords, py::object& out) {
  if (!keywords) return true;
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(keywords)) {
    if (py::cast<std::string>(name) != "out") return false;
    const auto outs = py::reinterpret_borrow<py::tuple>(value);
    if (outs.size() != 1) return false;
    if (!outs[0].is_none()) out = outs[0];
  }
  return true;
}

py::object call_op(Op op, const py::tuple& args, size_t first, const py::object& out) {
  const auto arity = static_cast<size_t>(ir::spec(op).arity);
  if (args.size() - first != arity) return no_answer();
  std::array<Argument, ir::kMaxArity> arguments;
  for (size_t i = 0; i < arity; ++i) {
    if (!to_argument(py::object(args[first + i]).ptr(), ir::name(op), arguments[i])) {
      return no_answer();
    }
  }
  const std::span<const Argument> given(arguments.data(), arity);
  const py::object result = apply_op(op, given);
  if (!out) return result;
  if (!is_array(out.ptr()) && !is_ndarray(out.ptr())) return no_answer();
  return store(out.ptr(), array_of(result.ptr()), ir::name(op));
}

// __array_ufunc__(ufunc, method, *inputs, **keywords)
PyObject* array_ufunc(PyObject*, PyObject* args, PyObject* keywords) noexcept {
  return guarded([&] {
    const auto tuple = py::reinterpret_borrow<py::tuple>(args);
    if (tuple.size() < 2) throw py::type_error("__array_ufunc__: a ufunc and a method are needed");
    PyObject* found = PyDict_GetItemWithError(ufuncs, py::object(tuple[0]).ptr());
    if (found == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    py::object out;
    const bool is_call = py::cast<std::string>(tuple[1]) == "__call__";
    if (found == nullptr || !is_call || !only_out(keywords, out)) {
      return no_answer().release().ptr();
    }
    const auto op = static_cast<Op>(py::cast<int>(py::handle(found)));
    return call_op(op, tuple, 2, out).release().ptr();
  });
}

// Whether there is nobody else to ask: ndarrays have no answer for our arrays.
bool are_ours(py::handle types) {
  for (const py::handle type : types) {
    if (type.ptr() != reinterpret_cast<PyObject*>(array_type) &&
        !type.is(py::module_::import("numpy").attr("ndarray"))) {
      return false;
    }
  }
  return true;
}

[[noreturn]] void fail_function(py::handle function) {
  const py::object module = py::getattr(function, "__module__", py::str("numpy"));
  const py::object name = py::getattr(function, "__name__", py::repr(function));
  throw py::type_error(
      format("no implementation found for '{}.{}' on arrays of lanewise; np.asarray(a) gives an "
             "ndarray, which it takes",
             py::cast<std::string>(py::str(module)), py::cast<std::string>(py::str(name))));
}

py::object array_function(const Bound& bound) {
  enum { kSelf, kFunction, kTypes, kArgs, kKeywords };
  PyObject* ours = PyDict_GetItemWithError(functions, bound[kFunction]);
  if (ours == nullptr) {
    if (PyErr_Occurred() != nullptr) throw py::error_already_set();
    if (are_ours(bound[kTypes])) fail_function(bound[kFunction]);
    return no_answer();
  }
  return checked(PyObject_Call(ours, bound[kArgs], bound[kKeywords]));
}

constexpr Definition kArrayFunction{
    "__array_function__", "func, types, args, kwargs, /", array_function,
    R"(What NumPy's functions call: the function of lanewise that does the same, if there is one.

    >>> np.sum(lw.ones((2, 3)), axis=0)
    array([2., 2., 2.])
)",
    true};

py::object array_namespace(const Bound& bound) {
  if (bound.given(1) != nullptr) {
    const auto version = py::cast<std::string>(py::handle(bound[1]));
    const auto ours =
        py::cast<std::string>(py::module_::import("lanewise").attr("__array_api_version__"));
    if (version > ours) {
      throw ValueError(format("__array_namespace__: version {} of the array API is newer than {}",
                              version, ours));
    }
  }
  return py::module_::import("lanewise");
}

constexpr Definition kArrayNamespace{
    "__array_namespace__", "*, api_version=None", array_namespace,
    R"(The module that holds the functions of the array API standard.

    >>> lw.asarray([1.0]).__array_namespace__() is lw
    True
)",
    true};

py::object set_functions(const Bound& bound) {
  functions = Py_NewRef(bound[0]);
  return py::none();
}

constexpr Definition kSetFunctions{"_set_numpy_functions", "functions, /", set_functions,
                                   "Tells what stands for NumPy's functions: a dict of them."};

}  // namespace

void append_protocol_methods(std::vector<PyMethodDef>& methods) {
  methods.push_back({"__array_ufunc__",
                     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_ufunc)),
                     METH_VARARGS | METH_KEYWORDS,
                     documentation("__array_ufunc__", "$self, ufunc, method, /, *inputs, **kwargs",
                                   R"(What NumPy's ufuncs call: the op of lanewise, if there is one.

    >>> np.sqrt(lw.asarray([1.0, 4.0]))
    array([1., 2.])
)")});
  methods.push_back(python_function<kArrayFunction>());
  methods.push_back(python_function<kArrayNamespace>());
}

void add_protocols(py::module_& module) {
  const py::module_ numpy = py::module_::import("numpy");
  py::dict by_ufunc;
  const auto table = ir::op_table();
  for (size_t i = 0; i < table.size(); ++i) {
    if (table[i].promotion == ir::Promotion::kInternal) continue;
    for (const std::string& name : python_names(table[i])) {
      const py::object found = py::getattr(numpy, name.c_str(), py::none());
      if (py::isinstance(found, numpy.attr("ufunc"))) by_ufunc[found] = py::int_(i);
    }
  }
  ufuncs = by_ufunc.release().ptr();
  functions = py::dict().release().ptr();
  add_functions(module, {python_function<kSetFunctions>()});
}

}  // namespace lanewise::python
