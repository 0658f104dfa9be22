// Examples for the docstrings of elementwise functions; they run as doctests.
#pragma once

#include <string_view>

namespace lanewise::python {

struct Example {
  std::string_view op, call, result;
};

// nullptr if there is none.
const Example* find_example(std::string_view op);

}  // namespace lanewise::python
