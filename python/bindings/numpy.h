// NumPy's dtypes and arrays, through pybind11's view of them (no NumPy headers are needed).
#pragma once

#include <pybind11/numpy.h>

#include <span>
#include <vector>

#include "frontend/ops.h"
#include "python/bindings/errors.h"

namespace lanewise::python {

// Looks up NumPy's types; called once.
void prepare_numpy();

// The np.dtype of ours; lives as long as the process.
py::handle dtype_object(DType dtype);

// What Python calls a dtype: np.dtype, a scalar type of NumPy, a name, bool, int or float.
// DTypeError for those we do not have.
DType to_dtype(PyObject* object);

bool is_ndarray(PyObject* object);
bool is_numpy_scalar(PyObject* object);

// Where an array's elements lie, seen through whatever protocol it offers.
struct Memory {
  DType dtype = DType::kF64;
  char* data = nullptr;
  int rank = 0;
  const int64_t* shape = nullptr;
  const int64_t* strides = nullptr;  // bytes
  bool writable = false;
};

// False where kernels cannot read it in place: foreign byte order, unaligned, or a dtype that we do
// not have.
bool read_in_place(PyObject* ndarray, Memory& memory);

// The same array in memory that kernels can read, copied if need be. DTypeError for a dtype that we
// do not have.
py::object usable_ndarray(py::handle ndarray, std::string_view op);

// A copy.
frontend::Array copy_of_ndarray(py::handle ndarray, std::string_view op);
// A NumPy scalar, as a number that kernels get as an argument.
frontend::Array scalar_array(py::handle scalar, std::string_view op);

// A read-only ndarray on the memory of an array, which is evaluated.
py::object ndarray_of(const frontend::Array& array);

}  // namespace lanewise::python
