#include "python/bindings/elementwise.h"

#include <algorithm>
#include <array>
#include <utility>

#include "python/bindings/arguments.h"
#include "python/bindings/examples.h"
#include "python/bindings/signature.h"
#include "python/bindings/source.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Argument;
using frontend::Array;
using frontend::Op;

py::object apply_op(Op op, std::span<const Argument> arguments) {
  Array result = frontend::apply(op, arguments, current_source());
  const auto number = number_result(arguments, result);
  return wrap(std::move(result), number);
}

namespace {

constexpr std::array<std::string_view, ir::kMaxArity> kParameterNames{"x1", "x2", "x3"};

std::string_view parameter_name(const ir::OpSpec& row, size_t i) {
  return row.arity == 1 ? "x" : kParameterNames[i];
}

// out= is the only keyword.
PyObject* out_argument(std::string_view op, PyObject* value, PyObject* names) {
  if (names == nullptr) return nullptr;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    const std::string name = py::cast<std::string>(py::handle(PyTuple_GET_ITEM(names, i)));
    if (name != "out") {
      throw py::type_error(format("{}() got an unexpected keyword argument '{}'", op, name));
    }
  }
  return PyTuple_GET_SIZE(names) == 0 || value == Py_None ? nullptr : value;
}

PyObject* elementwise(Op op, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const ir::OpSpec& row = ir::spec(op);
  if (count != row.arity) {
    throw py::type_error(format("{}() takes {} positional argument{} ({} given)", row.name,
                                row.arity, row.arity == 1 ? "" : "s", static_cast<int64_t>(count)));
  }
  const bool has_names = names != nullptr && PyTuple_GET_SIZE(names) > 0;
  PyObject* out = out_argument(row.name, has_names ? args[count] : nullptr, names);
  std::array<Argument, ir::kMaxArity> arguments;
  const auto arity = static_cast<size_t>(count);
  for (size_t i = 0; i < arity; ++i) {
    if (!to_argument(args[i], row.name, arguments[i])) {
      arguments[i] = require_argument(args[i], row.name, parameter_name(row, i));
    }
  }
  const std::span<const Argument> given(arguments.data(), arity);
  if (out == nullptr) return apply_op(op, given).release().ptr();
  return store(out, frontend::apply(op, given, current_source()), row.name).release().ptr();
}

// Functions get no data of their own from CPython, hence one for each op.
template <size_t index>
PyObject* call(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) noexcept {
  return guarded([&] { return elementwise(static_cast<Op>(index), args, count, names); });
}

template <size_t... indices>
constexpr auto calls(std::index_sequence<indices...>) {
  return std::array<FastFunction, sizeof...(indices)>{call<indices>...};
}
// An Op is one byte.
constexpr auto kCalls = calls(std::make_index_sequence<256>());

std::string signature(const ir::OpSpec& row) {
  std::string text;
  for (int i = 0; i < row.arity; ++i) {
    text += std::string(parameter_name(row, static_cast<size_t>(i))) + ", ";
  }
  return text + "/, *, out=None";
}

std::string dtypes_text(const ir::OpSpec& row) {
  using enum ir::Promotion;
  std::string result = "    Result: ";
  result += row.arity == 1 ? "the shape of x, " : "the shape that the arguments broadcast to, ";
  if (row.result == ir::ResultRule::kBool) return result + "dtype bool.";
  switch (row.promotion) {
    case kInexact:
      return result +
             "in a floating-point dtype: that of the arguments, or the one that holds "
             "their integers.";
    case kLogical:
      return result + "dtype bool.";
    default:
      return result + "in the common dtype of the arguments.";
  }
}

std::string error_text(const ir::OpSpec& row) {
  if (row.max_ulp == 0) return {};
  if (row.max_ulp == .5) return "    Floating-point results are correctly rounded.\n";
  return format("    Largest error: {} units in the last place.\n", row.max_ulp);
}

std::string docstring(const ir::OpSpec& row) {
  std::string text = std::string(row.doc) + "\n\n" + dtypes_text(row) + "\n" + error_text(row);
  text += "    Raises DTypeError for dtypes that have no such operation";
  text += row.arity == 1 ? ".\n" : ", ShapeError if shapes do not broadcast.\n";
  if (const Example* example = find_example(row.name)) {
    text += format("\n    >>> lw.{}\n    {}\n", example->call, example->result);
  }
  return text;
}

}  // namespace

std::vector<std::string> python_names(const ir::OpSpec& row) {
  std::vector<std::string> names{std::string(row.name)};
  std::string_view rest = row.numpy;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string name(rest.substr(0, comma));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

void add_elementwise(py::module_& module) {
  std::vector<PyMethodDef> functions;
  const auto table = ir::op_table();
  const auto is_function = [](const ir::OpSpec& row) {
    return row.promotion != ir::Promotion::kInternal && row.name != "clip";  // has optional bounds
  };
  for (size_t i = 0; i < table.size(); ++i) {
    if (!is_function(table[i])) continue;
    const std::string name(table[i].name);
    const char* doc = documentation(name, signature(table[i]), docstring(table[i]));
    functions.push_back({table[i].name.data(),
                         reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(kCalls[i])),
                         METH_FASTCALL | METH_KEYWORDS, doc});
  }
  add_functions(module, std::move(functions));
  for (const ir::OpSpec& row : table) {
    if (!is_function(row)) continue;
    for (const std::string& name : python_names(row)) {
      module.attr(name.c_str()) = module.attr(std::string(row.name).c_str());
    }
  }
}

}  // namespace lanewise::python
