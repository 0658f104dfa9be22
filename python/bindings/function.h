// lanewise.jit: functions traced once per structure, dtypes and shapes of their arguments.
#pragma once

#include <memory>

#include "frontend/trace.h"
#include "python/bindings/signature.h"

namespace lanewise::python {

void add_function_type(py::module_& module);

// Whether `object` is what lanewise.jit returns, and its trace for these arguments.
bool is_function(PyObject* object);
// Whether it is what lanewise.jit returns with fast=True.
bool is_fast(PyObject* object);
std::shared_ptr<const frontend::Trace> trace_for(PyObject* function,
                                                 std::span<PyObject* const> args);

}  // namespace lanewise::python
