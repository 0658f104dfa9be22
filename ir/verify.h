// What must hold of a graph and of a program. Passes are checked with it in debug builds, parsed
// text always.
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace lanewise::ir {

// What is wrong, and where: a node of the graph, or of the body of kernel number `kernel`, counted
// through all steps.
struct Problem {
  std::string message;
  int kernel = -1;
  Value node = {};
};

std::optional<Problem> find_problem(const Graph& graph);
std::optional<Problem> find_problem(const Program& program);

// Throw InternalError with the text of the graph or program. `after` says what made it.
void verify(const Graph& graph, std::string_view after);
void verify(const Program& program, std::string_view after);

}  // namespace lanewise::ir
