// Evaluating, showing what was recorded, IR as text, and the process as a whole.
#pragma once

#include "python/bindings/signature.h"

namespace lanewise::python {

// Tells the frontend how to let go of the GIL, how to notice Ctrl-C, how to name lines.
void install_host();

void add_evaluation(py::module_& module);
void add_system(py::module_& module);
void add_ir_text(py::module_& module);

}  // namespace lanewise::python
