#include "python/bindings/numpy.h"

#include <array>
#include <optional>

#include "frontend/evaluate.h"
#include "frontend/strides.h"
#include "python/bindings/array_object.h"
#include "support/format.h"

namespace lanewise::python {

namespace {

// Live as long as the process.
std::array<PyObject*, kDTypeCount> dtypes = {};
PyTypeObject* ndarray_type = nullptr;
PyTypeObject* scalar_type = nullptr;
PyTypeObject* dtype_type = nullptr;

// NumPy's number for each C type, to ours: long and long long are two types of one width.
constexpr int kNumpyTypes = 24;
std::array<std::optional<DType>, kNumpyTypes> by_number = {};

std::optional<DType> find(const py::dtype& dtype) {
  const int number = dtype.num();
  if (number < 0 || number >= kNumpyTypes) return std::nullopt;
  return by_number[static_cast<size_t>(number)];
}

const py::detail::PyArray_Proxy& proxy(PyObject* ndarray) {
  return *py::detail::array_proxy(ndarray);
}

[[noreturn]] void fail_dtype(std::string_view op, py::handle dtype) {
  throw DTypeError(
      format("{}: unknown dtype '{}': lanewise has bool, int8 to int64, uint8 to "
             "uint64, float32 and float64",
             op, py::cast<std::string>(py::str(dtype))));
}

}  // namespace

void prepare_numpy() {
  const py::module_ numpy = py::module_::import("numpy");
  ndarray_type = reinterpret_cast<PyTypeObject*>(py::object(numpy.attr("ndarray")).release().ptr());
  scalar_type = reinterpret_cast<PyTypeObject*>(py::object(numpy.attr("generic")).release().ptr());
  dtype_type = reinterpret_cast<PyTypeObject*>(py::object(numpy.attr("dtype")).release().ptr());
  for (int i = 0; i < kDTypeCount; ++i) {
    const std::string name(python_name(static_cast<DType>(i)));
    dtypes[static_cast<size_t>(i)] = py::dtype(name).release().ptr();
  }
  for (const char code : {'?', 'b', 'h', 'i', 'l', 'q', 'B', 'H', 'I', 'L', 'Q', 'f', 'd'}) {
    const py::dtype dtype(std::string(1, code));
    const std::string name = py::cast<std::string>(dtype.attr("name"));
    by_number[static_cast<size_t>(dtype.num())] = dtype_from_python_name(name);
  }
}

py::handle dtype_object(DType dtype) { return dtypes[static_cast<size_t>(dtype)]; }

DType to_dtype(PyObject* object) {
  py::object dtype = py::reinterpret_borrow<py::object>(object);
  if (Py_TYPE(object) != dtype_type && !PyObject_TypeCheck(object, dtype_type)) {
    // np.dtype(None) is float64, which nobody means here.
    if (object == Py_None) fail_dtype("dtype", dtype);
    PyObject* converted = PyObject_CallOneArg(reinterpret_cast<PyObject*>(dtype_type), object);
    if (converted == nullptr) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) throw py::error_already_set();
      PyErr_Clear();
      fail_dtype("dtype", dtype);
    }
    dtype = py::reinterpret_steal<py::object>(converted);
  }
  const auto found = find(py::reinterpret_borrow<py::dtype>(dtype));
  if (!found) fail_dtype("dtype", dtype);
  return *found;
}

bool is_ndarray(PyObject* object) {
  return Py_TYPE(object) == ndarray_type || PyObject_TypeCheck(object, ndarray_type);
}

bool is_numpy_scalar(PyObject* object) { return PyObject_TypeCheck(object, scalar_type); }

bool read_in_place(PyObject* ndarray, Memory& memory) {
  const auto& array = proxy(ndarray);
  const auto* descriptor = py::detail::array_descriptor_proxy(array.descr);
  const int number = descriptor->type_num;
  if (number < 0 || number >= kNumpyTypes || !by_number[static_cast<size_t>(number)]) return false;
  constexpr int kAligned = py::detail::npy_api::NPY_ARRAY_ALIGNED_;
  if ((array.flags & kAligned) == 0 || descriptor->byteorder == '>') return false;
  static_assert(sizeof(py::ssize_t) == sizeof(int64_t));
  memory.dtype = *by_number[static_cast<size_t>(number)];
  memory.data = array.data;
  memory.rank = array.nd;
  memory.shape = reinterpret_cast<const int64_t*>(array.dimensions);
  memory.strides = reinterpret_cast<const int64_t*>(array.strides);
  memory.writable = (array.flags & py::detail::npy_api::NPY_ARRAY_WRITEABLE_) != 0;
  return true;
}

py::object usable_ndarray(py::handle ndarray, std::string_view op) {
  Memory memory;
  if (read_in_place(ndarray.ptr(), memory)) return py::reinterpret_borrow<py::object>(ndarray);
  const py::object dtype = ndarray.attr("dtype");
  const auto ours = find(py::reinterpret_borrow<py::dtype>(dtype));
  if (!ours) fail_dtype(op, dtype);
  return ndarray.attr("astype")(dtype_object(*ours), py::arg("order") = "C");
}

frontend::Array copy_of_ndarray(py::handle ndarray, std::string_view op) {
  py::object source = usable_ndarray(ndarray, op);
  if ((proxy(source.ptr()).flags & py::array::c_style) == 0) {
    source = source.attr("copy")(py::arg("order") = "C");
  }
  Memory memory;
  read_in_place(source.ptr(), memory);
  const std::vector<frontend::Dim> dims(memory.shape, memory.shape + memory.rank);
  return frontend::from_bytes(memory.dtype, frontend::Shape(dims), memory.data);
}

frontend::Array scalar_array(py::handle scalar, std::string_view op) {
  const py::object ndarray = usable_ndarray(py::array::ensure(scalar), op);
  Memory memory;
  read_in_place(ndarray.ptr(), memory);
  Scalar value{memory.dtype, 0};
  std::memcpy(&value.bits, memory.data, static_cast<size_t>(size_of(memory.dtype)));
  return frontend::full({}, value);
}

py::object ndarray_of(const frontend::Array& array) {
  require_value(array, "numpy.asarray");
  auto* data = new frontend::StridedData(frontend::strided_data(array));
  const py::capsule owner(
      data, [](void* pointer) { delete static_cast<frontend::StridedData*>(pointer); });
  const std::vector<int64_t> shape = frontend::constant_sizes(array.shape());
  const auto dtype = py::reinterpret_borrow<py::dtype>(dtype_object(array.dtype()));
  py::array result(dtype, shape, data->strides, data->data, owner);
  py::detail::array_proxy(result.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return result;
}

}  // namespace lanewise::python
