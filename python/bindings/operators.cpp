// Operators of arrays, and conversions to Python numbers.
#include <array>

#include "frontend/evaluate.h"
#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/elementwise.h"
#include "python/bindings/numpy.h"
#include "python/bindings/source.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Argument;
using frontend::Array;
using frontend::Op;

namespace {

PyObject* not_implemented() { return Py_NewRef(Py_NotImplemented); }

template <Op op>
PyObject* unary(PyObject* x) {
  return guarded([&] {
    std::array<Argument, 1> arguments;
    to_argument(x, ir::name(op), arguments[0]);
    return apply_op(op, arguments).release().ptr();
  });
}

PyObject* apply_binary(Op op, PyObject* x1, PyObject* x2) {
  std::array<Argument, 2> arguments;
  const std::string_view name = ir::name(op);
  if (!to_argument(x1, name, arguments[0]) || !to_argument(x2, name, arguments[1])) {
    return not_implemented();
  }
  return apply_op(op, arguments).release().ptr();
}

template <Op op>
PyObject* binary(PyObject* x1, PyObject* x2) {
  return guarded([&] { return apply_binary(op, x1, x2); });
}

// x1 op= x2 on an array stores in it. A traced number is no array to write to: Python then gives
// the name to the new number, as it does for numbers of its own.
template <Op op>
PyObject* in_place(PyObject* x1, PyObject* x2) {
  return guarded([&]() -> PyObject* {
    if (array_object(x1).number) return apply_binary(op, x1, x2);
    std::array<Argument, 2> arguments;
    const std::string_view name = ir::name(op);
    arguments[0] = array_of(x1);
    if (!to_argument(x2, name, arguments[1])) return not_implemented();
    const frontend::Source source = current_source();
    const Array result = frontend::apply(op, arguments, source);
    if (result.shape() != array_of(x1).shape()) {
      throw ShapeError(format("{}: cannot store a result of shape {} in place, in shape {}", name,
                              format_tuple(result.shape()), format_tuple(array_of(x1).shape())));
    }
    frontend::assign(array_of(x1), result, true, source);
    return Py_NewRef(x1);
  });
}

PyObject* power(PyObject* x1, PyObject* x2, PyObject* modulus) {
  if (modulus != Py_None) return not_implemented();
  return binary<Op::kPow>(x1, x2);
}

PyObject* power_in_place(PyObject* x1, PyObject* x2, PyObject*) {
  return in_place<Op::kPow>(x1, x2);
}

PyObject* divmod(PyObject* x1, PyObject* x2) {
  return guarded([&]() -> PyObject* {
    const py::object quotient = checked(apply_binary(Op::kFloorDivide, x1, x2));
    if (quotient.ptr() == Py_NotImplemented) return not_implemented();
    const py::object remainder = checked(apply_binary(Op::kRemainder, x1, x2));
    return py::make_tuple(quotient, remainder).release().ptr();
  });
}

PyObject* positive(PyObject* x) {
  return guarded(
      [&] { return wrap(Array(array_of(x).node()), array_object(x).number).release().ptr(); });
}

PyObject* rich_compare(PyObject* x1, PyObject* x2, int comparison) {
  constexpr std::array<Op, 6> kOps{Op::kLess,     Op::kLessEqual, Op::kEqual,
                                   Op::kNotEqual, Op::kGreater,   Op::kGreaterEqual};
  return guarded([&] { return apply_binary(kOps[static_cast<size_t>(comparison)], x1, x2); });
}

// ---- to Python numbers -----------------------------------------------------------------------

int truth(PyObject* self) {
  return guarded(
      [&] {
        const Array& array = array_of(self);
        require_value(array, "bool");
        if (element_count(array) != 1) {
          throw ValueError(
              format("bool: an array of {} elements is neither true nor false; use "
                     "lanewise.any or lanewise.all",
                     element_count(array)));
        }
        return item(array).cast<py::bool_>() ? 1 : 0;
      },
      -1);
}

PyObject* to_float(PyObject* self) {
  return guarded(
      [&] { return checked(PyNumber_Float(only_element(self, "float").ptr())).release().ptr(); });
}

PyObject* to_int(PyObject* self) {
  return guarded(
      [&] { return checked(PyNumber_Long(only_element(self, "int").ptr())).release().ptr(); });
}

PyObject* to_index(PyObject* self) {
  return guarded([&] {
    if (!is_int(array_of(self).dtype())) {
      throw py::type_error(format("index: an array of dtype {} is not an integer",
                                  python_name(array_of(self).dtype())));
    }
    return only_element(self, "index").release().ptr();
  });
}

}  // namespace

py::object only_element(PyObject* self, std::string_view op) {
  const Array& array = array_of(self);
  require_value(array, op);
  if (array.rank() != 0) {
    throw py::type_error(
        format("{}: only an array of 0 axes is a number, not shape {}; index it or use item()", op,
               format_tuple(array.shape())));
  }
  return item(array);
}

py::object item(const Array& array) {
  const frontend::StridedData data = frontend::strided_data(array);
  Scalar value{array.dtype(), 0};
  std::memcpy(&value.bits, data.data, static_cast<size_t>(size_of(value.dtype)));
  return visit_dtype(value.dtype,
                     [&](auto zero) -> py::object { return py::cast(value.as<decltype(zero)>()); });
}

void append_number_slots(std::vector<PyType_Slot>& slots) {
  const PyType_Slot table[] = {
      slot(Py_nb_add, binary<Op::kAdd>),
      slot(Py_nb_subtract, binary<Op::kSubtract>),
      slot(Py_nb_multiply, binary<Op::kMultiply>),
      slot(Py_nb_true_divide, binary<Op::kDivide>),
      slot(Py_nb_floor_divide, binary<Op::kFloorDivide>),
      slot(Py_nb_remainder, binary<Op::kRemainder>),
      slot(Py_nb_and, binary<Op::kBitwiseAnd>),
      slot(Py_nb_or, binary<Op::kBitwiseOr>),
      slot(Py_nb_xor, binary<Op::kBitwiseXor>),
      slot(Py_nb_lshift, binary<Op::kShiftLeft>),
      slot(Py_nb_rshift, binary<Op::kShiftRight>),
      slot(Py_nb_power, power),
      slot(Py_nb_divmod, divmod),
      slot(Py_nb_inplace_add, in_place<Op::kAdd>),
      slot(Py_nb_inplace_subtract, in_place<Op::kSubtract>),
      slot(Py_nb_inplace_multiply, in_place<Op::kMultiply>),
      slot(Py_nb_inplace_true_divide, in_place<Op::kDivide>),
      slot(Py_nb_inplace_floor_divide, in_place<Op::kFloorDivide>),
      slot(Py_nb_inplace_remainder, in_place<Op::kRemainder>),
      slot(Py_nb_inplace_and, in_place<Op::kBitwiseAnd>),
      slot(Py_nb_inplace_or, in_place<Op::kBitwiseOr>),
      slot(Py_nb_inplace_xor, in_place<Op::kBitwiseXor>),
      slot(Py_nb_inplace_lshift, in_place<Op::kShiftLeft>),
      slot(Py_nb_inplace_rshift, in_place<Op::kShiftRight>),
      slot(Py_nb_inplace_power, power_in_place),
      slot(Py_nb_negative, unary<Op::kNegative>),
      slot(Py_nb_absolute, unary<Op::kAbsolute>),
      slot(Py_nb_invert, unary<Op::kBitwiseInvert>),
      slot(Py_nb_positive, positive),
      slot(Py_nb_bool, truth),
      slot(Py_nb_float, to_float),
      slot(Py_nb_int, to_int),
      slot(Py_nb_index, to_index),
      slot(Py_tp_richcompare, rich_compare),
  };
  slots.insert(slots.end(), std::begin(table), std::end(table));
}

}  // namespace lanewise::python
