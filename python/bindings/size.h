// lanewise.Size: a size that is a name while a function is traced for ahead-of-time compilation.
#pragma once

#include "frontend/sizes.h"
#include "python/bindings/errors.h"

namespace lanewise::python {

bool is_size(PyObject* object);
const frontend::Dim& size_of_object(PyObject* object);
// A Python integer, or a Size.
py::object size_object(const frontend::Dim& dim);

void add_size_type(py::module_& module);

}  // namespace lanewise::python
