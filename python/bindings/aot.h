// What lanewise/_aot.py is made of.
#pragma once

#include "python/bindings/errors.h"

namespace lanewise::python {

void add_aot(py::module_& module);

}  // namespace lanewise::python
