// Functions that make arrays.
#pragma once

#include "python/bindings/signature.h"

namespace lanewise::python {

void add_creation(py::module_& module);
void add_random(py::module_& module);

}  // namespace lanewise::python
