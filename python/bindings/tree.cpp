#include "python/bindings/tree.h"

#include <stdexcept>

#include "support/format.h"

namespace lanewise::python {

TreeKind tree_kind(PyObject* object) {
  if (object == Py_None) return TreeKind::kNone;
  if (PyTuple_CheckExact(object)) return TreeKind::kTuple;
  if (PyList_Check(object)) return TreeKind::kList;
  if (PyDict_Check(object)) return TreeKind::kDict;
  if (PyTuple_Check(object)) {
    return PyObject_HasAttrString(object, "_fields") == 1 ? TreeKind::kNamedTuple
                                                          : TreeKind::kTuple;
  }
  return TreeKind::kLeaf;
}

void fail_changed() {
  throw std::runtime_error(
      "jit: a list or dict among the arguments changed while its items were read");
}

py::object make_named_tuple(PyTypeObject* type, const py::tuple& items) {
  return checked(PyObject_CallObject(reinterpret_cast<PyObject*>(type), items.ptr()));
}

namespace {

std::string key_text(PyObject* key) {
  if (!PyUnicode_Check(key)) {
    throw py::type_error(format("jit: the key {} of a dict is not a string",
                                py::cast<std::string>(py::repr(py::handle(key)))));
  }
  return py::cast<std::string>(py::handle(key));
}

py::tuple map_items(PyObject* sequence, const LeafMap& map, const std::string& path) {
  const auto items = py::reinterpret_borrow<py::sequence>(sequence);
  const size_t count = items.size();
  py::tuple result(count);
  for (size_t i = 0; i < count; ++i) {
    result[i] = map_tree(py::object(items[i]).ptr(), map, format("{}[{}]", path, i));
    expect_size(static_cast<py::ssize_t>(items.size()), static_cast<py::ssize_t>(count));
  }
  return result;
}

}  // namespace

py::object map_tree(PyObject* tree, const LeafMap& map, const std::string& path) {
  const TreeKind kind = tree_kind(tree);
  if (kind == TreeKind::kLeaf) return map(tree, path);
  if (kind == TreeKind::kNone) return py::none();
  const RecursionGuard guard;
  switch (kind) {
    case TreeKind::kDict: {
      py::dict result;
      const py::ssize_t count = PyDict_GET_SIZE(tree);
      for (const auto& item : py::reinterpret_borrow<py::dict>(tree)) {
        const auto key = py::reinterpret_borrow<py::object>(item.first);
        const auto value = py::reinterpret_borrow<py::object>(item.second);
        const std::string name = key_text(key.ptr());
        result[key] = map_tree(value.ptr(), map, path.empty() ? name : path + "." + name);
        expect_size(PyDict_GET_SIZE(tree), count);
      }
      return result;
    }
    case TreeKind::kList:
      return py::list(map_items(tree, map, path));
    case TreeKind::kNamedTuple:
      return make_named_tuple(Py_TYPE(tree), map_items(tree, map, path));
    default:
      return map_items(tree, map, path);
  }
}

namespace {

[[noreturn]] void fail_structure(std::string_view what, PyObject* expected, PyObject* given) {
  throw py::type_error(format("{}: the structure differs: {} in place of {}", what,
                              Py_TYPE(given)->tp_name, Py_TYPE(expected)->tp_name));
}

}  // namespace

void zip_trees(PyObject* tree, PyObject* other, std::string_view what, const LeafPair& visit) {
  const TreeKind kind = tree_kind(tree);
  if (kind == TreeKind::kLeaf) {
    visit(tree, other);
    return;
  }
  if (kind != tree_kind(other)) fail_structure(what, tree, other);
  if (kind == TreeKind::kNone) return;
  const RecursionGuard guard;
  if (kind == TreeKind::kDict) {
    const auto values = py::reinterpret_borrow<py::dict>(other);
    const auto wanted = py::reinterpret_borrow<py::dict>(tree);
    for (const auto& [key, value] : wanted) {
      if (!values.contains(key)) {
        throw py::type_error(format("{}: the key '{}' is missing", what, key_text(key.ptr())));
      }
      zip_trees(value.ptr(), py::object(values[key]).ptr(), what, visit);
    }
    if (values.size() != wanted.size()) {
      throw py::type_error(
          format("{}: {} keys in place of {}", what, values.size(), wanted.size()));
    }
    return;
  }
  const auto wanted = py::reinterpret_borrow<py::sequence>(tree);
  const auto values = py::reinterpret_borrow<py::sequence>(other);
  if (wanted.size() != values.size()) {
    throw py::type_error(format("{}: {} items in place of {}", what, values.size(), wanted.size()));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    zip_trees(py::object(wanted[i]).ptr(), py::object(values[i]).ptr(), what, visit);
  }
}

}  // namespace lanewise::python
