// Reductions, as functions and as methods of arrays.
#pragma once

#include "python/bindings/signature.h"

namespace lanewise::python {

void add_reductions(py::module_& module);
void append_reduction_methods(std::vector<PyMethodDef>& methods);

}  // namespace lanewise::python
