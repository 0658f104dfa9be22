// IR as text, for the command line.
#include "frontend/ir_text.h"

#include <pybind11/stl.h>

#include "python/bindings/arguments.h"
#include "python/bindings/evaluation.h"

namespace lanewise::python {

namespace {

std::string text_from(PyObject* object) { return py::cast<std::string>(py::handle(object)); }

py::object optimize_text(const Bound& bound) {
  enum { kText, kPasses };
  const auto passes = py::cast<std::vector<std::string>>(py::handle(bound[kPasses]));
  py::list after;
  const std::string text = frontend::optimize_text(
      text_from(bound[kText]), passes, [&](std::string_view pass, std::string_view shown) {
        after.append(py::make_tuple(std::string(pass), std::string(shown)));
      });
  return py::make_tuple(text, after);
}

py::object pass_names(const Bound&) { return py::cast(frontend::pass_names()); }

py::object run_text(const Bound& bound) {
  std::vector<frontend::Array> arguments;
  for (PyObject* object : bound.rest) arguments.push_back(array_from(object, "run"));
  py::list results;
  for (frontend::Array& array : frontend::run_text(text_from(bound[0]), arguments)) {
    results.append(wrap(std::move(array)));
  }
  return results;
}

constexpr Definition kOptimizeText{
    "_optimize_text", "text, passes, /", optimize_text,
    "IR text after these passes, and a list of (pass, text after it)."};
constexpr Definition kPassNames{"_pass_names", "", pass_names, "The passes in order."};
constexpr Definition kRunText{"_run_text", "text, /, *arguments", run_text,
                              "Runs a graph given as text: a list of arrays."};

}  // namespace

void add_ir_text(py::module_& module) {
  add_functions(module, {python_function<kOptimizeText>(), python_function<kPassNames>(),
                         python_function<kRunText>()});
}

}  // namespace lanewise::python
