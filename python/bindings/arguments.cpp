#include "python/bindings/arguments.h"

#include <algorithm>

#include "python/bindings/dlpack.h"
#include "python/bindings/numpy.h"
#include "python/bindings/size.h"
#include "python/bindings/source.h"
#include "python/bindings/type_text.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Argument;
using frontend::Array;
using frontend::Number;
using frontend::Shape;
using frontend::Weak;

namespace {

// Beyond 64 bits: an error, or the nearest double if `wide`, which only floating-point dtypes take.
Number integer(PyObject* object, std::string_view op, bool wide) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) {
    if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return {Weak::kInt, int64_t{value}, {}};
  }
  if (overflow > 0) {
    const unsigned long long large = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() == nullptr) return {Weak::kInt, uint64_t{large}, {}};
    PyErr_Clear();
  }
  if (wide) {
    const double nearest = PyLong_AsDouble(object);
    if (PyErr_Occurred() == nullptr) return {Weak::kInt, nearest, {}};
    PyErr_Clear();
  }
  const auto bits = py::cast<int64_t>(py::handle(object).attr("bit_length")());
  PyErr_SetString(
      PyExc_OverflowError,
      format("{}: a Python integer of {} bits does not fit any dtype of 64 bits", op, bits)
          .c_str());
  throw py::error_already_set();
}

}  // namespace

std::optional<Number> python_number(PyObject* object, std::string_view op, bool wide) {
  if (PyFloat_CheckExact(object)) return Number{Weak::kFloat, PyFloat_AS_DOUBLE(object), {}};
  if (PyBool_Check(object)) return Number{Weak::kBool, int64_t{object == Py_True}, {}};
  if (PyLong_CheckExact(object)) return integer(object, op, wide);
  if (is_numpy_scalar(object)) return std::nullopt;  // np.float64 is a float for Python
  if (PyFloat_Check(object)) return Number{Weak::kFloat, PyFloat_AS_DOUBLE(object), {}};
  if (PyLong_Check(object)) return integer(object, op, wide);
  return std::nullopt;
}

bool to_argument(PyObject* object, std::string_view op, Argument& out) {
  if (is_array(object)) {
    const ArrayObject& array = array_object(object);
    if (array.number) {
      out = Number{*array.number, int64_t{0}, array.array.node()};
    } else {
      out = array.array;
    }
    return true;
  }
  if (auto number = python_number(object, op, true)) {
    out = std::move(*number);
  } else if (is_size(object)) {
    // Functions defined per exponent need its value.
    if (op == ir::name(frontend::Op::kPow)) to_int64(object, op, "a size");
    out = frontend::size_number(size_of_object(object));
  } else if (is_ndarray(object)) {
    out = copy_of_ndarray(object, op);
  } else if (is_numpy_scalar(object)) {
    out = scalar_array(object, op);
  } else {
    return false;
  }
  return true;
}

Argument require_argument(PyObject* object, std::string_view op, std::string_view parameter) {
  Argument argument;
  if (!to_argument(object, op, argument)) {
    throw py::type_error(
        format("{}: {} is {}, not an array or a number; lanewise.asarray makes "
               "an array of it if it can",
               op, parameter, a_type(object)));
  }
  return argument;
}

Array require_array(PyObject* object, std::string_view op, std::string_view parameter) {
  if (is_array(object)) return array_of(object);
  const Argument argument = require_argument(object, op, parameter);
  if (const auto* array = std::get_if<Array>(&argument)) return *array;
  return array_from(object, op);
}

Array array_from(PyObject* object, std::string_view op) {
  if (is_array(object)) return array_of(object);
  if (const auto number = python_number(object, op)) {
    return frontend::full({}, std::visit(
                                  [&](auto value) {
                                    if constexpr (std::is_same_v<decltype(value), int64_t>) {
                                      return Scalar::from_int(frontend::default_dtype(number->weak),
                                                              value);
                                    } else {
                                      return Scalar::of(value);  // uint64, float64
                                    }
                                  },
                                  number->value));
  }
  if (is_numpy_scalar(object)) return scalar_array(object, op);
  if (has_dlpack(object) && !is_ndarray(object)) return copy_from_dlpack(object);
  const py::object ndarray = py::array::ensure(py::handle(object));
  if (!ndarray) throw py::error_already_set();
  return copy_of_ndarray(ndarray, op);
}

std::optional<Weak> number_result(std::span<const Argument> arguments, const Array& result) {
  bool traced = false;
  for (const Argument& argument : arguments) {
    const auto* number = std::get_if<Number>(&argument);
    if (number == nullptr) return std::nullopt;
    traced = traced || number->traced;
  }
  if (!traced) return std::nullopt;
  const DType dtype = result.dtype();
  return is_bool(dtype) ? Weak::kBool : is_int(dtype) ? Weak::kInt : Weak::kFloat;
}

bool to_bool(PyObject* object) {
  const int truth = PyObject_IsTrue(object);
  checked(truth);
  return truth != 0;
}

int64_t to_int64(PyObject* object, std::string_view op, std::string_view parameter) {
  const Py_ssize_t value = PyNumber_AsSsize_t(object, PyExc_OverflowError);
  if (value == -1 && PyErr_Occurred() != nullptr) {
    // What __index__ of a traced array says is clearer than what follows.
    if (is_array(object) || is_size(object) || !PyErr_ExceptionMatches(PyExc_TypeError))
      throw py::error_already_set();
    PyErr_Clear();
    throw py::type_error(format("{}: {} is {}, not an integer", op, parameter, a_type(object)));
  }
  return value;
}

Shape to_shape(PyObject* object, std::string_view op, bool allow_unknown) {
  std::vector<frontend::Dim> dims;
  const auto take = [&](PyObject* item) {
    if (is_size(item)) {
      dims.push_back(size_of_object(item));
      return;
    }
    const int64_t size = to_int64(item, op, "shape");
    if (size < (allow_unknown ? -1 : 0)) {
      throw ShapeError(format("{}: size {} is negative", op, size));
    }
    dims.emplace_back(size);
  };
  if (PyTuple_Check(object) || PyList_Check(object)) {
    const py::object items = checked(PySequence_Fast(object, ""));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
      take(PySequence_Fast_GET_ITEM(items.ptr(), i));
    }
  } else {
    take(object);
  }
  // The number of bytes must fit, whatever the dtype; checked without overflow.
  __extension__ using Wide = __int128;
  Wide count = 8;
  for (const frontend::Dim& dim : dims) {
    if (!dim.is_constant()) continue;
    count *= std::max<int64_t>(dim.value(), 1);
    if (count > INT64_MAX)
      throw ShapeError(format("{}: shape {} is too large", op, format_tuple(dims)));
  }
  return Shape(std::move(dims));
}

std::optional<std::vector<int>> to_axes(PyObject* object, std::string_view op) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  std::vector<int> axes;
  const auto take = [&](PyObject* item) {
    axes.push_back(
        static_cast<int>(std::clamp<int64_t>(to_int64(item, op, "axis"), INT_MIN, INT_MAX)));
  };
  if (PyTuple_Check(object) || PyList_Check(object)) {
    const py::object items = checked(PySequence_Fast(object, ""));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.ptr()); ++i) {
      take(PySequence_Fast_GET_ITEM(items.ptr(), i));
    }
  } else {
    take(object);
  }
  return axes;
}

std::vector<int> resolve_axes(std::vector<int> axes, int rank, std::string_view op) {
  for (int& axis : axes) {
    if (axis < -rank || axis >= rank) {
      throw IndexError(format("{}: axis {} is out of range for {} axes", op, axis, rank));
    }
    if (axis < 0) axis += rank;
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    if (std::find(axes.begin() + static_cast<ptrdiff_t>(i) + 1, axes.end(), axes[i]) !=
        axes.end()) {
      throw ValueError(format("{}: axis {} appears twice", op, axes[i]));
    }
  }
  return axes;
}

std::optional<DType> optional_dtype(PyObject* object) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  return to_dtype(object);
}

void check_device(PyObject* object, std::string_view op) {
  if (object == nullptr || object == Py_None) return;
  if (PyUnicode_Check(object) && PyUnicode_CompareWithASCIIString(object, "cpu") == 0) return;
  throw ValueError(format("{}: unknown device {}: 'cpu' is the only one", op,
                          py::cast<std::string>(py::repr(object))));
}

namespace {

void check_out_dtype(DType out, const Array& result, std::string_view op) {
  if (frontend::can_cast_same_kind(result.dtype(), out)) return;
  throw DTypeError(format("{}: cannot store {} in out of dtype {}", op, python_name(result.dtype()),
                          python_name(out)));
}

void store_in_array(const Array& out, const Array& result, std::string_view op) {
  if (out.shape() != result.shape()) {
    throw ShapeError(format("{}: out has shape {}, the result {}", op, format_tuple(out.shape()),
                            format_tuple(result.shape())));
  }
  check_out_dtype(out.dtype(), result, op);
  const std::string reason = out.read_only_reason();
  if (!reason.empty()) throw ValueError(format("{}: out: {}", op, reason));
  frontend::assign(out, result, true, current_source());
}

void store_in_ndarray(PyObject* out, const Array& result, std::string_view op) {
  const py::handle array(out);
  Memory memory;
  if (!read_in_place(out, memory)) {
    throw DTypeError(format("{}: out has dtype {}, which lanewise does not have", op,
                            py::cast<std::string>(py::str(array.attr("dtype")))));
  }
  if (!memory.writable) throw ValueError(format("{}: out: the ndarray is read-only", op));
  check_out_dtype(memory.dtype, result, op);
  const Array converted = frontend::astype(result, memory.dtype, current_source());
  const py::tuple expected = shape_tuple(result.shape());
  if (!expected.equal(array.attr("shape"))) {
    throw ShapeError(format("{}: out has shape {}, the result {}", op,
                            py::cast<std::string>(py::str(array.attr("shape"))),
                            format_tuple(result.shape())));
  }
  py::module_::import("numpy").attr("copyto")(array, ndarray_of(converted));
}

}  // namespace

py::object store(PyObject* out, const Array& result, std::string_view op) {
  if (is_array(out)) {
    store_in_array(array_of(out), result, op);
  } else if (is_ndarray(out)) {
    store_in_ndarray(out, result, op);
  } else {
    throw py::type_error(format("{}: out is {}, not an Array or ndarray", op, a_type(out)));
  }
  return py::reinterpret_borrow<py::object>(out);
}

}  // namespace lanewise::python
