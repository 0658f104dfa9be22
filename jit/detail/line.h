// The innermost loop, by vectors.
#pragma once

#include <functional>

#include "jit/detail/frame.h"

namespace lanewise::jit {

// Emits code for one position; outputs bypass the cache where `streaming`.
using EmitPoints = std::function<void(const Position& position, bool streaming)>;

// After a position: whether the rest of the line does not matter; null if it always does.
using Decided = std::function<llvm::Value*()>;

// Whole vectors while they fit, then the rest of the line under a mask.
void emit_line(Frame& frame, const EmitPoints& points, const Decided& decided = {});

// The same with stores that bypass the cache, for the stores of `walk`.
void emit_streaming_line(Frame& frame, const Walk& walk, const EmitPoints& points);

// Whether any store of the walk can bypass the cache, and whether this one does.
bool can_stream(const Frame& frame, const Walk& walk);
bool is_streamed(const Frame& frame, const ir::Store& store);

}  // namespace lanewise::jit
