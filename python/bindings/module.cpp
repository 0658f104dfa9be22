// lanewise._core: the compiled part of the package.
#include <pybind11/pybind11.h>

#include "frontend/system.h"
#include "python/bindings/aot.h"
#include "python/bindings/array_object.h"
#include "python/bindings/creation.h"
#include "python/bindings/elementwise.h"
#include "python/bindings/evaluation.h"
#include "python/bindings/function.h"
#include "python/bindings/manipulation.h"
#include "python/bindings/numpy.h"
#include "python/bindings/protocols.h"
#include "python/bindings/reductions.h"
#include "python/bindings/size.h"

namespace {

namespace py = pybind11;

// What `from lanewise._core import *` gives to the package: all but the op table and exceptions,
// some of which have the names of built-in ones.
py::list public_names(const py::module_& module) {
  py::list names;
  for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(module.attr("__dict__"))) {
    const auto text = py::cast<std::string>(name);
    const bool is_exception = PyExceptionClass_Check(value.ptr());
    if (!is_exception && !text.starts_with('_') && text != "op_table") names.append(name);
  }
  return names;
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  using namespace lanewise;
  using namespace lanewise::python;
  try {
    frontend::check_target();
  } catch (const Error& error) {
    throw py::import_error(error.what());
  }
  module.doc() = "The compiled part of lanewise.";
  module.attr("__version__") = LANEWISE_VERSION;
  prepare_numpy();
  add_errors(module);
  add_array_type(module);
  add_size_type(module);
  add_function_type(module);
  add_elementwise(module);
  add_selection(module);
  add_reductions(module);
  add_manipulation(module);
  add_creation(module);
  add_random(module);
  add_evaluation(module);
  add_system(module);
  add_ir_text(module);
  add_protocols(module);
  add_aot(module);
  install_host();
  module.attr("__all__") = public_names(module);
}
