// Which line of Python wrote an op.
#pragma once

#include <string>

#include "frontend/node.h"

namespace lanewise::python {

// The instruction that the innermost Python frame is at. Costs a few nanoseconds; the line is
// looked up by `describe` only.
frontend::Source current_source();

// "file.py:12", or empty if the source is unknown or its code is no longer kept.
std::string describe(frontend::Source source);

}  // namespace lanewise::python
