#include "python/bindings/evaluation.h"

#include "frontend/dump.h"
#include "frontend/evaluate.h"
#include "frontend/system.h"
#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/function.h"
#include "python/bindings/source.h"
#include "python/bindings/tree.h"
#include "python/bindings/type_text.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;

namespace {

void unlocked(const std::function<void()>& work) {
  const py::gil_scoped_release release;
  work();
}

void check_interrupt() {
  const py::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void warn(const std::string& message) {
  const py::gil_scoped_acquire acquire;
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), 1) != 0) throw py::error_already_set();
}

std::string describe_source(frontend::Source source) {
  const py::gil_scoped_acquire acquire;
  return describe(source);
}

py::object evaluate(const Bound& bound) {
  std::vector<Array> arrays;
  for (PyObject* tree : bound.rest) {
    map_tree(tree, [&](PyObject* leaf, const std::string&) -> py::object {
      if (!is_array(leaf)) {
        throw py::type_error(format("eval: {} is no Array", a_type(leaf)));
      }
      require_value(array_of(leaf), "eval");
      arrays.push_back(array_of(leaf));
      return py::none();
    });
  }
  frontend::evaluate(arrays);
  return py::none();
}

py::object dump(const Bound& bound) {
  enum { kObject, kStage };
  const auto stage_name =
      bound[kStage] == nullptr ? "optimized" : py::cast<std::string>(py::handle(bound[kStage]));
  const frontend::Stage stage = frontend::stage_from_name(stage_name);
  PyObject* object = bound[kObject];
  if (is_function(object)) {
    return py::str(frontend::dump(*trace_for(object, bound.rest), stage));
  }
  std::vector<Array> arrays;
  const auto add = [&](PyObject* leaf, const std::string&) -> py::object {
    if (!is_array(leaf)) {
      throw py::type_error(format("dump: {} is no Array or jitted function", a_type(leaf)));
    }
    require_value(array_of(leaf), "dump");
    arrays.push_back(array_of(leaf));
    return py::none();
  };
  map_tree(object, add);
  for (PyObject* other : bound.rest) map_tree(other, add);
  return py::str(frontend::dump(arrays, stage));
}

constexpr Definition kEval{"eval", "*arrays", evaluate,
                           R"(Computes arrays now, sharing work between them.

    Tuples, lists and dicts of arrays are taken apart. Raises what their values demand, such as
    ValueError for an integer to a negative integer power; then nothing has changed.

    >>> x = lw.arange(3)
    >>> y, z = x + 1, (x + 1) * 2
    >>> lw.eval(y, z)
    >>> z
    array([2, 4, 6])
)"};

constexpr Definition kDump{
    "dump", "expression, /, *args, stage='optimized'", dump,
    R"(What becomes of an expression, or of a jitted function for these arguments, as text.

    stage is "graph" for what was recorded, "optimized" for the kernels that run, "llvm" for their
    LLVM IR, "asm" for their machine code. Nothing is computed. Raises ValueError for another stage.

    >>> print(lw.dump(lw.ones(3, dtype=lw.float32) * 3, stage="graph"))  # doctest: +ELLIPSIS
    func @f...
    ...multiply...
)"};

}  // namespace

void install_host() {
  frontend::set_host({unlocked, describe_source});
  frontend::set_warning_handler(warn);
  runtime::set_interrupt_check(check_interrupt);
}

void add_evaluation(py::module_& module) {
  add_functions(module, {python_function<kEval>(), python_function<kDump>()});
}

}  // namespace lanewise::python
