#include "python/bindings/size.h"

#include <array>
#include <optional>

#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/elementwise.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Argument;
using frontend::Dim;
using frontend::Op;

namespace {

PyTypeObject* size_type = nullptr;

struct SizeObject {
  PyObject ob_base;
  Dim dim;
};

[[noreturn]] void fail_value(std::string_view op, const Dim& dim) {
  throw TracingError(format(
      "{}: the value of size '{}' is not known while the function is compiled ahead of time; "
      "sizes take part in arithmetic and shapes only",
      op, dim));
}

// An integer or a Size.
std::optional<Dim> to_dim(PyObject* object) {
  if (is_size(object)) return size_of_object(object);
  if (!PyLong_CheckExact(object)) return std::nullopt;
  const long long value = PyLong_AsLongLong(object);
  if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return Dim(value);
}

// With arrays and other numbers, the size is a number that is known when the function runs.
PyObject* apply_as_number(Op op, PyObject* x1, PyObject* x2) {
  std::array<Argument, 2> arguments;
  if (!to_argument(x1, ir::name(op), arguments[0]) ||
      !to_argument(x2, ir::name(op), arguments[1])) {
    return Py_NewRef(Py_NotImplemented);
  }
  return apply_op(op, arguments).release().ptr();
}

using Arithmetic = std::optional<Dim> (*)(const Dim&, const Dim&);

std::optional<Dim> add_sizes(const Dim& a, const Dim& b) { return a + b; }
std::optional<Dim> subtract_sizes(const Dim& a, const Dim& b) { return a - b; }
std::optional<Dim> multiply_sizes(const Dim& a, const Dim& b) { return a * b; }
std::optional<Dim> divide_sizes(const Dim& a, const Dim& b) { return exact_quotient(a, b); }
std::optional<Dim> size_remainder(const Dim& a, const Dim& b) {
  if (exact_quotient(a, b)) return Dim(0);
  return std::nullopt;
}
std::optional<Dim> no_size(const Dim&, const Dim&) { return std::nullopt; }

template <Op op, Arithmetic arithmetic>
PyObject* size_binary(PyObject* x1, PyObject* x2) {
  return guarded([&]() -> PyObject* {
    const std::optional<Dim> a = to_dim(x1);
    const std::optional<Dim> b = to_dim(x2);
    if (a && b) {
      if (const auto result = arithmetic(*a, *b)) return size_object(*result).release().ptr();
    }
    return apply_as_number(op, x1, x2);
  });
}

PyObject* size_power(PyObject* x1, PyObject* x2, PyObject*) {
  return guarded([&]() -> PyObject* {
    const std::optional<Dim> base = to_dim(x1);
    const std::optional<Dim> exponent = to_dim(x2);
    if (base && exponent && exponent->is_constant() && exponent->value() >= 0 &&
        exponent->value() < 16) {
      Dim result = 1;
      for (int64_t i = 0; i < exponent->value(); ++i) result = result * *base;
      return size_object(result).release().ptr();
    }
    return apply_as_number(Op::kPow, x1, x2);
  });
}

PyObject* size_negative(PyObject* self) {
  return guarded([&] { return size_object(Dim(0) - size_of_object(self)).release().ptr(); });
}

PyObject* size_positive(PyObject* self) { return Py_NewRef(self); }

// What must hold of the sign of a - b, decided where the difference is a constant.
PyObject* size_rich_compare(PyObject* x1, PyObject* x2, int comparison) {
  return guarded([&]() -> PyObject* {
    const std::optional<Dim> a = to_dim(x1);
    const std::optional<Dim> b = to_dim(x2);
    if (!a || !b) {
      constexpr std::array<Op, 6> kOps{Op::kLess,     Op::kLessEqual, Op::kEqual,
                                       Op::kNotEqual, Op::kGreater,   Op::kGreaterEqual};
      return apply_as_number(kOps[static_cast<size_t>(comparison)], x1, x2);
    }
    const Dim difference = *a - *b;
    if (!difference.is_constant()) fail_value("comparison", difference);
    Py_RETURN_RICHCOMPARE(difference.value(), 0, comparison);
  });
}

template <const char* const& op>
PyObject* size_refuse(PyObject* self) {
  return guarded([&]() -> PyObject* { fail_value(op, size_of_object(self)); });
}

constexpr const char* kInt = "int";
constexpr const char* kIndex = "index";
constexpr const char* kFloat = "float";

int size_truth(PyObject* self) {
  return guarded([&]() -> int { fail_value("bool", size_of_object(self)); }, -1);
}

Py_hash_t size_hash(PyObject* self) {
  const auto value = static_cast<Py_hash_t>(size_of_object(self).hash());
  return value == -1 ? -2 : value;
}

PyObject* size_text(PyObject* self) {
  return guarded([&] { return py::str(to_string(size_of_object(self))).release().ptr(); });
}

void size_deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_Free(self);
  Py_DECREF(type);
}

}  // namespace

bool is_size(PyObject* object) { return Py_TYPE(object) == size_type; }

const Dim& size_of_object(PyObject* object) { return reinterpret_cast<SizeObject*>(object)->dim; }

py::object size_object(const Dim& dim) {
  if (dim.is_constant()) return checked(PyLong_FromLongLong(dim.value()));
  static_assert(std::is_trivially_destructible_v<Dim>);
  SizeObject* object = PyObject_New(SizeObject, size_type);
  if (object == nullptr) throw py::error_already_set();
  new (&object->dim) Dim(dim);
  return py::reinterpret_steal<py::object>(&object->ob_base);
}

void add_size_type(py::module_& module) {
  static PyType_Slot slots[] = {
      slot(Py_tp_dealloc, size_deallocate),
      slot(Py_tp_repr, size_text),
      slot(Py_tp_str, size_text),
      slot(Py_tp_hash, size_hash),
      slot(Py_tp_richcompare, size_rich_compare),
      slot(Py_nb_add, size_binary<Op::kAdd, add_sizes>),
      slot(Py_nb_subtract, size_binary<Op::kSubtract, subtract_sizes>),
      slot(Py_nb_multiply, size_binary<Op::kMultiply, multiply_sizes>),
      slot(Py_nb_floor_divide, size_binary<Op::kFloorDivide, divide_sizes>),
      slot(Py_nb_remainder, size_binary<Op::kRemainder, size_remainder>),
      slot(Py_nb_true_divide, size_binary<Op::kDivide, no_size>),
      slot(Py_nb_power, size_power),
      slot(Py_nb_negative, size_negative),
      slot(Py_nb_positive, size_positive),
      slot(Py_nb_bool, size_truth),
      slot(Py_nb_int, size_refuse<kInt>),
      slot(Py_nb_index, size_refuse<kIndex>),
      slot(Py_nb_float, size_refuse<kFloat>),
      {Py_tp_doc,
       const_cast<char*>(
           R"(A size without a value: a name in the shapes of arguments of compile_aot, or
    arithmetic on such names.

    Comparing sizes, or asking for their values, raises TracingError where names decide.

    >>> import tempfile
    >>> def ends(x):
    ...     print(x.shape[0] * 2, isinstance(x.shape[0], lw.Size))
    ...     return x[0] + x[-1]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     library = lw.compile_aot(ends, "f64[n]", f"{folder}/libends")
    2*n True
)")},
      {0, nullptr}};
  static PyType_Spec spec{"lanewise.Size", sizeof(SizeObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  size_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)).release().ptr());
  module.attr("Size") = py::handle(reinterpret_cast<PyObject*>(size_type));
}

}  // namespace lanewise::python
