// Elementwise functions: one for each row of the op table that is a function of Python.
#pragma once

#include <span>

#include "frontend/ops.h"
#include "python/bindings/errors.h"

namespace lanewise::python {

// Records an op that the current line of Python asks for.
py::object apply_op(frontend::Op op, std::span<const frontend::Argument> arguments);

// Adds a function for every such op under its name, and under NumPy's names where those differ.
void add_elementwise(py::module_& module);

// The names a function goes by: its own, and NumPy's.
std::vector<std::string> python_names(const ir::OpSpec& row);

}  // namespace lanewise::python
