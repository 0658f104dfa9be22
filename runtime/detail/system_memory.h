// Memory from the operating system.
#pragma once

#include <cstddef>

namespace lanewise::runtime::detail {

// Blocks from this size on are mappings of their own.
inline constexpr size_t kMappedFrom = 256 << 10;

// `bytes` (a multiple of 64; from kMappedFrom on, of 32 KiB) aligned to 64; huge pages where they
// fit. nullptr if there is no memory.
void* system_allocate(size_t bytes);
void system_free(void* address, size_t bytes);

}  // namespace lanewise::runtime::detail
