// Tracing a Python function.
#pragma once

#include <memory>

#include "frontend/trace.h"
#include "python/bindings/call_arguments.h"

namespace lanewise::python {

// A function traced for one key.
struct TracedFunction {
  std::shared_ptr<frontend::Trace> trace;
  // The structure of the result, with anything as leaves.
  py::object results;
  size_t result_count = 0;
  bool single = false;            // the result is one array
  std::vector<py::object> named;  // see CallArguments::take_named
};

// Calls `function` with traced arguments in place of arrays and numbers.
std::shared_ptr<TracedFunction> trace_function(const std::string& name, PyObject* function,
                                               const Parameters& parameters,
                                               CallArguments& arguments, PyObject* const* args,
                                               size_t count, PyObject* names);

}  // namespace lanewise::python
