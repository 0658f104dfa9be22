// Reducing rows side by side in one walk, tile by tile.
#pragma once

#include "jit/detail/frame.h"

namespace lanewise::jit {

bool reduces_by_tiles(const Frame& frame);

// Inside the loops around the rows: all of these rows and what is stored of them.
void emit_column_tiles(Frame& frame);

}  // namespace lanewise::jit
