#include "python/bindings/signature.h"

#include <algorithm>
#include <deque>

#include "support/format.h"

namespace lanewise::python {

namespace {

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

PyObject* interned(std::string_view name) {
  PyObject* text = PyUnicode_FromStringAndSize(name.data(), static_cast<Py_ssize_t>(name.size()));
  if (text == nullptr) throw py::error_already_set();
  PyUnicode_InternInPlace(&text);
  return text;
}

}  // namespace

Signature::Signature(const Definition& definition)
    : function_(definition.name), first_(definition.is_method ? 1 : 0) {
  bool keyword_only = false;
  std::string_view rest = definition.signature;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view item = trim(rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    if (item == "/") {
      positional_only_ = parameters_.size();
    } else if (item.starts_with('*')) {
      keyword_only = true;
      has_rest_ = item.size() > 1;
    } else {
      const size_t equals = item.find('=');
      const std::string_view name = item.substr(0, equals);
      parameters_.push_back({std::string(name), interned(name), equals == std::string_view::npos});
      if (!keyword_only) positional_ = parameters_.size();
    }
  }
  if (first_ + parameters_.size() > kMaxParameters) {
    throw InternalError(format("{}: too many parameters", function_));
  }
}

Bound Signature::bind(PyObject* self, PyObject* const* args, Py_ssize_t count,
                      PyObject* names) const {
  Bound bound;
  if (first_ == 1) bound.values[0] = self;
  const auto given = static_cast<size_t>(count);
  const size_t direct = std::min(given, positional_);
  std::copy(args, args + direct, bound.values.begin() + first_);
  if (given > direct) {
    if (!has_rest_) fail_too_many(count);
    bound.rest = {args + direct, given - direct};
  }
  if (names != nullptr) bind_names(bound, args + count, names);
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].required && bound.values[first_ + i] == nullptr) fail_missing(i);
  }
  return bound;
}

void Signature::bind_names(Bound& bound, PyObject* const* values, PyObject* names) const {
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(names); ++k) {
    PyObject* name = PyTuple_GET_ITEM(names, k);
    size_t i = positional_only_;
    while (i < parameters_.size() && parameters_[i].name != name) ++i;
    if (i == parameters_.size()) {  // not the interned string, then
      const std::string text = py::cast<std::string>(py::handle(name));
      for (i = positional_only_; i < parameters_.size(); ++i) {
        if (parameters_[i].text == text) break;
      }
      if (i == parameters_.size()) {
        throw py::type_error(
            format("{}() got an unexpected keyword argument '{}'", function_, text));
      }
    }
    PyObject*& place = bound.values[first_ + i];
    if (place != nullptr) {
      throw py::type_error(
          format("{}() got multiple values for argument '{}'", function_, parameters_[i].text));
    }
    place = values[k];
  }
}

void Signature::fail_missing(size_t i) const {
  throw py::type_error(
      format("{}() missing required argument: '{}'", function_, parameters_[i].text));
}

void Signature::fail_too_many(Py_ssize_t count) const {
  throw py::type_error(format("{}() takes at most {} positional argument{} ({} given)", function_,
                              positional_, positional_ == 1 ? "" : "s",
                              static_cast<int64_t>(count)));
}

const char* documentation(const std::string& name, const std::string& signature,
                          const std::string& doc) {
  static auto& texts = *new std::deque<std::string>();
  return texts.emplace_back(name + "(" + signature + ")\n--\n\n" + doc).c_str();
}

PyMethodDef detail::method_def(const Definition& definition, FastFunction call) {
  std::string signature = definition.signature;
  if (definition.is_method) signature = signature.empty() ? "$self" : "$self, " + signature;
  // CPython stores functions of all calling conventions under the type of one.
  return {definition.name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
          METH_FASTCALL | METH_KEYWORDS, documentation(definition.name, signature, definition.doc)};
}

void add_functions(py::module_& module, std::vector<PyMethodDef> functions) {
  static auto& tables = *new std::deque<std::vector<PyMethodDef>>();
  functions.push_back({nullptr, nullptr, 0, nullptr});
  tables.push_back(std::move(functions));
  checked(PyModule_AddFunctions(module.ptr(), tables.back().data()));
}

}  // namespace lanewise::python
