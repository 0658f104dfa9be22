// Arrays on memory that belongs to others.
#pragma once

#include "frontend/array.h"
#include "python/bindings/numpy.h"

namespace lanewise::python {

// An array on this memory; `release(context)` is called once when nothing uses it any more, by
// whichever thread, perhaps without the GIL, and also if this throws. ValueError for strides that
// are no multiples of the element size.
frontend::Array alias_memory(const Memory& memory, void (*release)(void*), void* context);

// Drops a reference from any thread: at once where it holds the GIL, else as soon as some thread
// does. Never waits for the GIL, since the caller may hold locks.
void release_object(void* object);

}  // namespace lanewise::python
