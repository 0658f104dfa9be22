// Functions that give the same elements another shape or order, and where, clip, astype.
#pragma once

#include "frontend/array.h"
#include "python/bindings/signature.h"

namespace lanewise::python {

frontend::Array reverse_axes(const frontend::Array& array);
// ShapeError for fewer than two axes.
frontend::Array swap_last_axes(const frontend::Array& array);

void add_manipulation(py::module_& module);
void append_manipulation_methods(std::vector<PyMethodDef>& methods);

void add_selection(py::module_& module);
void append_selection_methods(std::vector<PyMethodDef>& methods);

}  // namespace lanewise::python
