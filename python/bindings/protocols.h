// NumPy's functions called with our arrays.
#pragma once

#include "python/bindings/errors.h"

namespace lanewise::python {

// Looks up NumPy's ufuncs for our ops.
void add_protocols(py::module_& module);

}  // namespace lanewise::python
