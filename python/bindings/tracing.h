// Tracing a Python function.
#pragma once

#include <memory>

#include "frontend/trace.h"
#include "python/bindings/call_arguments.h"
#include "python/bindings/tree.h"

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

// What a function is called with.
struct PythonCall {
  py::tuple args;
  py::dict keywords;
};
// The arguments with `map` applied to all leaves of those that are not static, in the order of
// CallArguments::flatten.
PythonCall map_arguments(const Parameters& parameters, PyObject* const* args, size_t count,
                         PyObject* names, const LeafMap& map);

// One array of what a jitted function returned; `path` says where it is in the result.
frontend::Array result_array(const std::string& name, PyObject* leaf, const std::string& path);

// Calls `function` with traced arguments in place of arrays and numbers.
std::shared_ptr<TracedFunction> trace_function(const std::string& name, PyObject* function,
                                               const Parameters& parameters,
                                               CallArguments& arguments, PyObject* const* args,
                                               size_t count, PyObject* names, bool fast);

// What the function gets for parameter i of a trace.
py::object traced_argument(const frontend::Trace& trace, size_t i);

}  // namespace lanewise::python
