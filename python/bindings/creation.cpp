#include "python/bindings/creation.h"

#include "python/bindings/arguments.h"
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

namespace {

// ---- from values ---------------------------------------------------------------------------

std::optional<bool> optional_bool(PyObject* object) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  return to_bool(object);
}

[[noreturn]] void fail_conversion(DType from, DType to) {
  throw ValueError(
      format("asarray: copy=False, but {} to {} needs a copy", python_name(from), python_name(to)));
}

py::object asarray_of_array(PyObject* object, std::optional<DType> dtype,
                            std::optional<bool> copy) {
  const Array& array = array_of(object);
  if (dtype && *dtype != array.dtype()) {
    if (copy == false) fail_conversion(array.dtype(), *dtype);
    return wrap(frontend::astype(array, *dtype, current_source()));
  }
  if (copy == true) return wrap(Array(array.node()));
  return py::reinterpret_borrow<py::object>(object);
}

Array alias(PyObject* object, std::optional<DType> dtype) {
  Array array;
  if (has_dlpack(object) && !is_ndarray(object)) {
    array = alias_of_dlpack(object);
  } else {
    using namespace py::literals;
    const py::object ndarray =
        py::module_::import("numpy").attr("asarray")(py::handle(object), "copy"_a = false);
    array = alias_of_ndarray(ndarray.ptr());
  }
  if (dtype && *dtype != array.dtype()) fail_conversion(array.dtype(), *dtype);
  return array;
}

// Nested sequences of numbers: NumPy knows how, and refuses integers that do not fit.
Array from_sequence(PyObject* object, std::optional<DType> dtype) {
  using namespace py::literals;
  const py::module_ numpy = py::module_::import("numpy");
  const py::object ndarray =
      dtype ? numpy.attr("asarray")(py::handle(object), "dtype"_a = dtype_object(*dtype))
            : numpy.attr("asarray")(py::handle(object));
  return copy_of_ndarray(ndarray, "asarray");
}

py::object asarray(const Bound& bound) {
  enum { kObject, kDType, kDevice, kCopy };
  PyObject* object = bound[kObject];
  check_device(bound[kDevice], "asarray");
  const std::optional<DType> dtype = optional_dtype(bound[kDType]);
  const std::optional<bool> copy = optional_bool(bound[kCopy]);
  if (is_array(object)) return asarray_of_array(object, dtype, copy);
  if (copy == false) return wrap(alias(object, dtype));
  if (const auto number = python_number(object, "asarray"); number && dtype) {
    return wrap(Array(frontend::as_node("asarray", *number, *dtype, {}, current_source())));
  }
  const bool is_typed = python_number(object, "asarray") || is_ndarray(object) ||
                        is_numpy_scalar(object) || has_dlpack(object);
  const Array array = is_typed ? array_from(object, "asarray") : from_sequence(object, dtype);
  return wrap(dtype ? frontend::astype(array, *dtype, current_source()) : array);
}

py::object from_dlpack(const Bound& bound) {
  enum { kX, kDevice, kCopy };
  check_device(bound[kDevice], "from_dlpack");
  if (!has_dlpack(bound[kX])) {
    throw py::type_error(format("from_dlpack: {} has no __dlpack__", a_type(bound[kX])));
  }
  return wrap(optional_bool(bound[kCopy]) == true ? copy_from_dlpack(bound[kX])
                                                  : alias_of_dlpack(bound[kX]));
}

// ---- one number everywhere -----------------------------------------------------------------

DType dtype_or_float64(PyObject* object) { return optional_dtype(object).value_or(DType::kF64); }

template <int value>
py::object filled(const Bound& bound) {
  enum { kShape, kDType, kDevice };
  const std::string_view name = value == 0 ? "zeros" : "ones";
  check_device(bound[kDevice], name);
  return wrap(frontend::full(to_shape(bound[kShape], name),
                             Scalar::from_int(dtype_or_float64(bound[kDType]), value)));
}

// The dtype of an array made like `x`.
DType dtype_like(const Array& x, PyObject* dtype, PyObject* device, std::string_view op) {
  check_device(device, op);
  return optional_dtype(dtype).value_or(x.dtype());
}

template <int value>
py::object filled_like(const Bound& bound) {
  enum { kX, kDType, kDevice };
  const std::string_view name = value == 0 ? "zeros_like" : "ones_like";
  const Array x = require_array(bound[kX], name, "x");
  const DType dtype = dtype_like(x, bound[kDType], bound[kDevice], name);
  return wrap(frontend::full(x.shape(), Scalar::from_int(dtype, value)));
}

py::object empty(const Bound& bound) {
  enum { kShape, kDType, kDevice };
  check_device(bound[kDevice], "empty");
  return wrap(frontend::empty(dtype_or_float64(bound[kDType]), to_shape(bound[kShape], "empty")));
}

py::object empty_like(const Bound& bound) {
  enum { kX, kDType, kDevice };
  const Array x = require_array(bound[kX], "empty_like", "x");
  const DType dtype = dtype_like(x, bound[kDType], bound[kDevice], "empty_like");
  return wrap(frontend::empty(dtype, x.shape()));
}

DType natural_dtype(const Argument& value) {
  if (const auto* array = std::get_if<Array>(&value)) return array->dtype();
  const auto& number = std::get<Number>(value);
  if (std::holds_alternative<uint64_t>(number.value)) return DType::kU64;
  return frontend::default_dtype(number.weak);
}

// A number or an array that broadcasts to the shape.
py::object filled_with(std::string_view op, const Argument& value, DType dtype,
                       const Shape& shape) {
  if (const auto* array = std::get_if<Array>(&value)) {
    const Shape& from = array->shape();
    const std::array shapes{from, shape};
    if (from != shape && frontend::broadcast_shapes(op, shapes) != shape) {
      throw ShapeError(
          format("{}: cannot broadcast {} to {}", op, format_tuple(from), format_tuple(shape)));
    }
  }
  return wrap(Array(frontend::as_node(op, value, dtype, shape, current_source())));
}

py::object full(const Bound& bound) {
  enum { kShape, kValue, kDType, kDevice };
  check_device(bound[kDevice], "full");
  const Shape shape = to_shape(bound[kShape], "full");
  const Argument value = require_argument(bound[kValue], "full", "fill_value");
  const DType dtype = optional_dtype(bound[kDType]).value_or(natural_dtype(value));
  return filled_with("full", value, dtype, shape);
}

py::object full_like(const Bound& bound) {
  enum { kX, kValue, kDType, kDevice };
  const Array x = require_array(bound[kX], "full_like", "x");
  const Argument value = require_argument(bound[kValue], "full_like", "fill_value");
  const DType dtype = dtype_like(x, bound[kDType], bound[kDevice], "full_like");
  return filled_with("full_like", value, dtype, x.shape());
}

// ---- ranges --------------------------------------------------------------------------------

double to_double(PyObject* object, std::string_view op, std::string_view parameter) {
  const double value = PyFloat_AsDouble(object);
  if (value == -1.0 && PyErr_Occurred() != nullptr) {
    if (is_array(object) || !PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();
    throw py::type_error(format("{}: {} is {}, not a number", op, parameter, a_type(object)));
  }
  return value;
}

py::object arange(const Bound& bound) {
  enum { kStart, kStop, kStep, kDType, kDevice };
  check_device(bound[kDevice], "arange");
  PyObject* start = bound[kStart];
  PyObject* stop = bound.given(kStop);
  PyObject* step = bound.given(kStep);
  const auto is_integer = [](PyObject* object) {
    return object == nullptr || PyIndex_Check(object) == 1;
  };
  const bool real_array = [&] {  // a 0-d array of ours has __index__ whatever its dtype
    for (PyObject* object : {start, stop, step}) {
      if (object != nullptr && is_array(object) && is_float(array_of(object).dtype())) return true;
    }
    return false;
  }();
  const std::optional<DType> dtype = optional_dtype(bound[kDType]);
  if (step == nullptr && (is_size(start) || (stop != nullptr && is_size(stop)))) {
    const auto bound_of = [](PyObject* object, const char* name) {
      return is_size(object) ? size_of_object(object)
                             : frontend::Dim(to_int64(object, "arange", name));
    };
    const frontend::Dim first = stop == nullptr ? frontend::Dim(0) : bound_of(start, "start");
    const frontend::Dim last = bound_of(stop == nullptr ? start : stop, "stop");
    return wrap(frontend::arange_of_sizes(first, last, dtype.value_or(DType::kI64)));
  }
  if (is_integer(start) && is_integer(stop) && is_integer(step) && !real_array) {
    const int64_t first = to_int64(start, "arange", "start");
    const int64_t stride = step != nullptr ? to_int64(step, "arange", "step") : 1;
    const DType result = dtype.value_or(DType::kI64);
    if (stop == nullptr) return wrap(frontend::arange(int64_t{0}, first, stride, result));
    return wrap(frontend::arange(first, to_int64(stop, "arange", "stop"), stride, result));
  }
  const double first = to_double(start, "arange", "start");
  const double stride = step != nullptr ? to_double(step, "arange", "step") : 1;
  const DType result = dtype.value_or(DType::kF64);
  if (stop == nullptr) return wrap(frontend::arange(0.0, first, stride, result));
  return wrap(frontend::arange(first, to_double(stop, "arange", "stop"), stride, result));
}

py::object linspace(const Bound& bound) {
  enum { kStart, kStop, kNum, kEndpoint, kDType, kDevice };
  check_device(bound[kDevice], "linspace");
  const int64_t count = bound[kNum] != nullptr ? to_int64(bound[kNum], "linspace", "num") : 50;
  const bool endpoint = bound[kEndpoint] == nullptr || to_bool(bound[kEndpoint]);
  return wrap(frontend::linspace(to_double(bound[kStart], "linspace", "start"),
                                 to_double(bound[kStop], "linspace", "stop"), count,
                                 dtype_or_float64(bound[kDType]), endpoint));
}

py::object eye(const Bound& bound) {
  enum { kRows, kColumns, kDiagonal, kDType, kDevice };
  check_device(bound[kDevice], "eye");
  const int64_t rows = to_int64(bound[kRows], "eye", "n_rows");
  const int64_t columns =
      bound.given(kColumns) != nullptr ? to_int64(bound[kColumns], "eye", "n_cols") : rows;
  if (rows < 0 || columns < 0) throw ShapeError(format("eye: shape ({}, {})", rows, columns));
  const int64_t diagonal = bound[kDiagonal] != nullptr ? to_int64(bound[kDiagonal], "eye", "k") : 0;
  return wrap(frontend::eye(rows, columns, diagonal, dtype_or_float64(bound[kDType])));
}

// ---- documentation -----------------------------------------------------------------------------

constexpr Definition kAsarray{
    "asarray", "obj, /, dtype=None, *, device=None, copy=None", asarray,
    R"(An array of the values of an array, a number, or nested sequences of numbers.

    An Array that has the dtype is returned as it is, unless copy is true. Anything else is copied:
    ndarrays, objects with __dlpack__ or the buffer protocol, sequences. copy=False shares the
    memory instead: then writing to either is seen by both, and expressions that were not computed
    yet see it too. Raises DTypeError for dtypes that lanewise does not have, ValueError if
    copy=False cannot be had.

    >>> lw.asarray([[1, 2], [3, 4]], dtype=lw.float32)
    array([[1., 2.],
           [3., 4.]], dtype=float32)
)"};
constexpr Definition kFromDlpack{"from_dlpack", "x, /, *, device=None, copy=None", from_dlpack,
                                 R"(An array on the memory of another library's array.

    Writing to either is seen by both, and expressions that were not computed yet see it too;
    copy=True copies. Raises DTypeError for dtypes that lanewise does not have, UnsupportedError for
    memory of another device.

    >>> x = np.ones(2)
    >>> y = lw.from_dlpack(x)
    >>> x[0] = 5
    >>> y
    array([5., 1.])
)"};
constexpr Definition kZeros{"zeros", "shape, *, dtype=None, device=None", filled<0>,
                            R"(An array of zeros, float64 unless dtype says otherwise.

    shape is an integer or a tuple of them. Raises ShapeError for negative sizes.

    >>> lw.zeros((2, 2))
    array([[0., 0.],
           [0., 0.]])
)"};
constexpr Definition kOnes{"ones", "shape, *, dtype=None, device=None", filled<1>,
                           R"(An array of ones, float64 unless dtype says otherwise.

    shape is an integer or a tuple of them. Raises ShapeError for negative sizes.

    >>> lw.ones(3, dtype=lw.int32)
    array([1, 1, 1], dtype=int32)
)"};
constexpr Definition kZerosLike{"zeros_like", "x, /, *, dtype=None, device=None", filled_like<0>,
                                R"(An array of zeros in the shape and dtype of x.

    >>> lw.zeros_like(lw.asarray([1, 2]))
    array([0, 0])
)"};
constexpr Definition kOnesLike{"ones_like", "x, /, *, dtype=None, device=None", filled_like<1>,
                               R"(An array of ones in the shape and dtype of x.

    >>> lw.ones_like(lw.asarray([1.5, 2]))
    array([1., 1.])
)"};
constexpr Definition kEmpty{"empty", "shape, *, dtype=None, device=None", empty,
                            R"(An array of any values, float64 unless dtype says otherwise.

    Raises ShapeError for negative sizes.

    >>> lw.empty((2, 3)).shape
    (2, 3)
)"};
constexpr Definition kEmptyLike{"empty_like", "x, /, *, dtype=None, device=None", empty_like,
                                R"(An array of any values in the shape and dtype of x.

    >>> lw.empty_like(lw.zeros(4)).shape
    (4,)
)"};
constexpr Definition kFull{"full", "shape, fill_value, *, dtype=None, device=None", full,
                           R"(An array of one number, in the number's dtype unless dtype is given.

    Raises ShapeError for negative sizes, ValueError for an integer that does not fit the dtype.

    >>> lw.full(3, 7)
    array([7, 7, 7])
)"};
constexpr Definition kFullLike{"full_like", "x, /, fill_value, *, dtype=None, device=None",
                               full_like,
                               R"(An array of one number in the shape and dtype of x.

    Raises ValueError for an integer that does not fit the dtype.

    >>> lw.full_like(lw.zeros(2), 7)
    array([7., 7.])
)"};
constexpr Definition kArange{"arange", "start, /, stop=None, step=1, *, dtype=None, device=None",
                             arange,
                             R"(start, start + step, and so on, as far as stop, which is left out.

    One argument is stop. int64 if all are integers, else float64, unless dtype is given. Raises
    ValueError for a step of 0.

    >>> lw.arange(2, 11, 3)
    array([2, 5, 8])
)"};
constexpr Definition kLinspace{
    "linspace", "start, stop, /, num=50, endpoint=True, *, dtype=None, device=None", linspace,
    R"(Evenly spaced numbers from start to stop, which endpoint=False leaves out.

    float64 unless dtype is given. Raises ValueError for a negative num.

    >>> lw.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
)"};
constexpr Definition kEye{"eye", "n_rows, n_cols=None, /, *, k=0, dtype=None, device=None", eye,
                          R"(Ones on a diagonal, k above the main one, and zeros elsewhere.

    float64 unless dtype is given. Raises ShapeError for negative sizes.

    >>> lw.eye(2, 3, k=1)
    array([[0., 1., 0.],
           [0., 0., 1.]])
)"};

}  // namespace

void add_creation(py::module_& module) {
  add_functions(
      module,
      {python_function<kAsarray>(), python_function<kFromDlpack>(), python_function<kZeros>(),
       python_function<kOnes>(), python_function<kZerosLike>(), python_function<kOnesLike>(),
       python_function<kEmpty>(), python_function<kEmptyLike>(), python_function<kFull>(),
       python_function<kFullLike>(), python_function<kArange>(), python_function<kLinspace>(),
       python_function<kEye>()});
}

}  // namespace lanewise::python
