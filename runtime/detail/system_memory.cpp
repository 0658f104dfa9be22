#include "runtime/detail/system_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "runtime/detail/size_class.h"

namespace lanewise::runtime::detail {

namespace {

constexpr size_t kHugePage = 2 << 20;

void* map(size_t bytes) {
  void* const address =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return address == MAP_FAILED ? nullptr : address;
}

// Starts at a multiple of the huge page size: maps more and gives the ends back.
void* map_aligned(size_t bytes) {
  const size_t padded = bytes + kHugePage;
  char* const start = static_cast<char*>(map(padded));
  if (start == nullptr) return nullptr;
  const size_t before = -reinterpret_cast<uintptr_t>(start) % kHugePage;
  const size_t after = padded - before - bytes;
  if (before > 0) munmap(start, before);
  if (after > 0) munmap(start + before + bytes, after);
  return start + before;
}

}  // namespace

void* system_allocate(size_t bytes) {
  if (bytes < kMappedFrom) return std::aligned_alloc(kGranule, bytes);
  if (bytes < kHugePage) return map(bytes);
  void* const address = map_aligned(bytes);
  // Only a hint: small pages will do.
  if (address != nullptr) madvise(address, bytes, MADV_HUGEPAGE);
  return address;
}

void system_free(void* address, size_t bytes) {
  if (bytes < kMappedFrom) {
    std::free(address);
  } else {
    munmap(address, bytes);
  }
}

}  // namespace lanewise::runtime::detail
