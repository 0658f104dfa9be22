// From Python objects to what the frontend takes, and back.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "frontend/ops.h"
#include "python/bindings/array_object.h"

namespace lanewise::python {

// Fills `out` from an Array, a Python number (weak), an ndarray (copied) or a NumPy scalar (which
// keeps its dtype); false for any other type. OverflowError for an integer that needs more than 64
// bits, DTypeError for a dtype that we do not have.
bool to_argument(PyObject* object, std::string_view op, frontend::Argument& out);

// The same; TypeError that names `parameter` for other types.
frontend::Argument require_argument(PyObject* object, std::string_view op,
                                    std::string_view parameter);
// For functions of one array: numbers become 0-d arrays of their own dtype.
frontend::Array require_array(PyObject* object, std::string_view op, std::string_view parameter);

// What `lanewise.asarray` takes: also nested sequences of numbers.
frontend::Array array_from(PyObject* object, std::string_view op);

std::optional<frontend::Number> python_number(PyObject* object, std::string_view op,
                                              bool wide = false);
// Whether the result of an op on these arguments is a traced number again.
std::optional<frontend::Weak> number_result(std::span<const frontend::Argument> arguments,
                                            const frontend::Array& result);

bool to_bool(PyObject* object);
int64_t to_int64(PyObject* object, std::string_view op, std::string_view parameter);
// A size or a tuple of sizes. `allow_unknown`: one of them may be -1.
frontend::Shape to_shape(PyObject* object, std::string_view op, bool allow_unknown = false);
// An integer or a tuple of them, as given: negative ones are not resolved. nullptr: all.
std::optional<std::vector<int>> to_axes(PyObject* object, std::string_view op);
// Axes of an array of this rank: 0 <= axis < rank, each once, else IndexError or ValueError.
std::vector<int> resolve_axes(std::vector<int> axes, int rank, std::string_view op);

// `dtype=` of a function: nullptr or None give `missing`.
std::optional<DType> optional_dtype(PyObject* object);
// `device=` of a function: "cpu" is the only one.
void check_device(PyObject* object, std::string_view op);

// `out=` of a function: stores the result in an Array or a writable ndarray, with a same-kind cast,
// and returns that.
py::object store(PyObject* out, const frontend::Array& result, std::string_view op);

}  // namespace lanewise::python
