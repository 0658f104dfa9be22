#include "python/bindings/tracing.h"

#include <algorithm>
#include <cctype>

#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/tree.h"
#include "python/bindings/type_text.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;
using frontend::Number;
using frontend::Trace;

namespace {

// A name that the text form of the IR takes.
std::string identifier(std::string text) {
  std::erase(text, ']');
  for (char& c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text[0])) != 0) text = "_" + text;
  return text;
}

}  // namespace

py::object traced_argument(const Trace& trace, size_t i) {
  const frontend::Argument argument = trace.argument(i);
  if (const auto* number = std::get_if<Number>(&argument)) {
    return wrap(Array(number->traced), number->weak);
  }
  return wrap(std::get<Array>(argument));
}

PythonCall map_arguments(const Parameters& parameters, PyObject* const* args, size_t count,
                         PyObject* names, const LeafMap& map) {
  PythonCall call{py::tuple(count), {}};
  for (size_t i = 0; i < count; ++i) {
    const bool is_static = i < parameters.is_static.size() && parameters.is_static[i];
    const std::string path = i < parameters.names.size() ? parameters.names[i] : format("arg{}", i);
    call.args[i] =
        is_static ? py::reinterpret_borrow<py::object>(args[i]) : map_tree(args[i], map, path);
  }
  const py::ssize_t named = names == nullptr ? 0 : PyTuple_GET_SIZE(names);
  for (py::ssize_t i = 0; i < named; ++i) {
    const py::handle name = PyTuple_GET_ITEM(names, i);
    const bool is_static = std::ranges::any_of(
        parameters.static_names, [&](const py::object& other) { return other.equal(name); });
    PyObject* value = args[count + static_cast<size_t>(i)];
    call.keywords[name] = is_static ? py::reinterpret_borrow<py::object>(value)
                                    : map_tree(value, map, py::cast<std::string>(name));
  }
  return call;
}

namespace {

std::vector<Trace::Parameter> trace_parameters(const Parameters& parameters,
                                               const CallArguments& arguments,
                                               PyObject* const* args, size_t count,
                                               PyObject* names) {
  std::vector<Trace::Parameter> result;
  size_t arrays = 0;
  const size_t total = arguments.array_count();
  map_arguments(parameters, args, count, names,
                [&](PyObject* leaf, const std::string& path) -> py::object {
                  if (is_python_number(leaf)) {
                    const frontend::Weak weak = python_number(leaf, "jit")->weak;
                    result.push_back({{}, frontend::default_dtype(weak), {}, weak});
                  } else {
                    if (arrays == total) fail_changed();
                    result.push_back(arguments.describe(arrays++));
                  }
                  result.back().name = identifier(path);
                  return py::none();
                });
  if (arrays != total || result.size() != total + arguments.numbers().size()) fail_changed();
  return result;
}

}  // namespace

Array result_array(const std::string& name, PyObject* leaf, const std::string& path) {
  if (is_array(leaf)) return array_of(leaf);
  if (is_python_number(leaf) || is_ndarray(leaf) || is_numpy_scalar(leaf)) {
    return array_from(leaf, "jit");
  }
  throw py::type_error(
      format("jit: {} returned {}{}; results are arrays, numbers and tuples, "
             "lists or dicts of them",
             name, a_type(leaf), path.empty() ? "" : " in " + path));
}

std::shared_ptr<TracedFunction> trace_function(const std::string& name, PyObject* function,
                                               const Parameters& parameters,
                                               CallArguments& arguments, PyObject* const* args,
                                               size_t count, PyObject* names, bool fast) {
  auto traced = std::make_shared<TracedFunction>();
  traced->named = arguments.take_named();
  traced->trace = std::make_shared<Trace>(
      identifier(name), trace_parameters(parameters, arguments, args, count, names), fast);
  std::vector<Array> results;
  {
    const frontend::TracingScope scope;
    size_t next = 0;
    const size_t leaves = arguments.array_count() + arguments.numbers().size();
    const PythonCall call = map_arguments(parameters, args, count, names,
                                          [&](PyObject*, const std::string&) -> py::object {
                                            if (next == leaves) fail_changed();
                                            return traced_argument(*traced->trace, next++);
                                          });
    const py::object result =
        checked(PyObject_Call(function, call.args.ptr(), call.keywords.ptr()));
    traced->results =
        map_tree(result.ptr(), [&](PyObject* leaf, const std::string& path) -> py::object {
          results.push_back(result_array(name, leaf, path));
          return py::bool_(true);
        });
  }
  traced->trace->finish(results);
  traced->result_count = results.size();
  traced->single = tree_kind(traced->results.ptr()) == TreeKind::kLeaf;
  return traced;
}

}  // namespace lanewise::python
