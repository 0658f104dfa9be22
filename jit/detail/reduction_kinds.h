// The ways to reduce, one a source.
#pragma once

#include "jit/detail/reductions.h"

namespace lanewise::jit {

std::unique_ptr<Reductions> reduce_rows(Frame& frame, const Walk& walk);
std::unique_ptr<Reductions> reduce_columns(Frame& frame, const Walk& walk);

// Appends parts to a state; `state` goes on to where the next ones belong.
void store_parts(VectorBuilder& b, const Parts& parts, llvm::Value*& state);

}  // namespace lanewise::jit
