// Nested Python structures: tuples, named tuples, lists, dicts with string keys, None. What lies in
// them is a leaf.
#pragma once

#include <functional>
#include <string>

#include "python/bindings/errors.h"

namespace lanewise::python {

enum class TreeKind : uint8_t { kNone, kTuple, kNamedTuple, kList, kDict, kLeaf };
TreeKind tree_kind(PyObject* object);

// The same structure with other leaves, in order. `path` says where a leaf is: "params[0].w".
using LeafMap = std::function<py::object(PyObject* leaf, const std::string& path)>;
py::object map_tree(PyObject* tree, const LeafMap& map, const std::string& path = {});

// Calls `visit` for each leaf of `tree` with what lies there in `other`. TypeError that begins with
// `what` if the structures differ.
using LeafPair = std::function<void(PyObject* leaf, PyObject* other)>;
void zip_trees(PyObject* tree, PyObject* other, std::string_view what, const LeafPair& visit);

// RuntimeError: a list or dict has other items than before. The protocols of an item (__dlpack__)
// are Python code, which may change what holds it.
[[noreturn]] void fail_changed();
inline void expect_size(py::ssize_t now, py::ssize_t before) {
  if (now != before) fail_changed();
}

// A named tuple or whatever is made like one.
py::object make_named_tuple(PyTypeObject* type, const py::tuple& items);

// Guards against structures that contain themselves.
class RecursionGuard {
 public:
  RecursionGuard() {
    if (Py_EnterRecursiveCall(" in a nested structure") != 0) throw py::error_already_set();
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;
};

}  // namespace lanewise::python
