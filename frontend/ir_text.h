// IR as text, for tools: what passes make of it, and running it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/array.h"

namespace lanewise::frontend {

// Names that optimize_text takes: every pass in order, the last two of which make and order
// kernels.
std::vector<std::string> pass_names();

// Reads a graph ("func") or a program, runs these passes one after the other, verifies after each,
// and prints what came out. `each` gets the name of every pass that ran and the text after it.
// Throws ValueError for text that cannot be read (with line, column and a caret), a name that is no
// pass, and a pass that does not apply to graphs or to programs.
using PassObserver = std::function<void(std::string_view pass, std::string_view text)>;
std::string optimize_text(std::string_view text, std::span<const std::string> passes,
                          const PassObserver& each = {});

// Runs a graph on arrays, one for each parameter, then one (0-d) for each scalar argument. Symbolic
// sizes follow from the arrays. Throws ValueError, ShapeError or DTypeError where these do not fit.
std::vector<Array> run_text(std::string_view text, std::span<const Array> arguments);

}  // namespace lanewise::frontend
