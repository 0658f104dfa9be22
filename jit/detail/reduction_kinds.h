// The ways to reduce, one a source.
#pragma once

#include "jit/detail/reductions.h"

namespace lanewise::jit {

std::unique_ptr<Reductions> reduce_rows(Frame& frame, const Walk& walk);
std::unique_ptr<Reductions> reduce_columns(Frame& frame, const Walk& walk);

}  // namespace lanewise::jit
