// The meaning of composite ops: each function writes its op with primitives. All operands have
// one dtype and shape. Declared here, one family a file; `expand` (ir/passes/expand.cpp) calls
// them for the nodes of a graph, and expansions call each other.
#pragma once

#include "ir/builder.h"

namespace lanewise::ir::math {

// simple.cpp
Expr square(const Expr& x);
Expr reciprocal(const Expr& x);
Expr clip(const Expr& x, const Expr& lower, const Expr& upper);

}  // namespace lanewise::ir::math
