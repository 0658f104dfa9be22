// Types of Python objects in messages.
#pragma once

#include <string>
#include <string_view>

#include "python/bindings/errors.h"

namespace lanewise::python {

// "an int", "a list": the type of an object with its article. Names with u sound like "uint".
inline std::string a_type(PyObject* object) {
  const std::string name = Py_TYPE(object)->tp_name;
  const bool has_vowel = std::string_view("aeioAEIO").find(name[0]) != std::string_view::npos;
  return (has_vowel ? "an " : "a ") + name;
}

}  // namespace lanewise::python
