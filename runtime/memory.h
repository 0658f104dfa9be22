// Memory of arrays: reference-counted buffers, and the allocator that keeps freed ones for reuse.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace lanewise::runtime {

class Buffer;

// A counted reference to a buffer. Counts are atomic; dropping the last one frees the memory.
class BufferRef {
 public:
  BufferRef() = default;
  BufferRef(const BufferRef& other) : BufferRef(other.buffer_) {}
  BufferRef(BufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  BufferRef& operator=(BufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~BufferRef();

  Buffer* get() const { return buffer_; }
  Buffer& operator*() const { return *buffer_; }
  Buffer* operator->() const { return buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }
  friend bool operator==(const BufferRef&, const BufferRef&) = default;

 private:
  friend class Buffer;
  explicit BufferRef(Buffer* buffer);  // takes a further reference

  Buffer* buffer_ = nullptr;
};

class Buffer {
 public:
  // Called once, by whichever thread drops the last reference. Must not throw.
  struct Release {
    void (*function)(void* context) = nullptr;
    void* context = nullptr;
  };

  // Memory of ours: aligned to 64 bytes, contents undefined, and usable up to the next multiple of
  // 64 bytes. Throws MemoryError.
  static BufferRef allocate(size_t bytes);
  // Memory of others, which stays valid until `release` is called.
  static BufferRef foreign(void* data, size_t bytes, Release release);

  char* data() const { return data_; }
  size_t size() const { return size_; }
  bool is_foreign() const { return size_class_ < 0; }
  // Whether the only reference is the caller's: nobody else can come to see the memory.
  bool is_unique() const { return references_.load(std::memory_order_acquire) == 1; }

 private:
  friend class BufferRef;
  Buffer(char* data, size_t size, int size_class, Release release)
      : size_class_(size_class), data_(data), size_(size), release_(release) {}
  ~Buffer() = default;
  static void destroy(Buffer* buffer);

  std::atomic<uint32_t> references_ = 0;
  int32_t size_class_;  // of the block that starts with this object; -1 for foreign memory
  char* data_;
  size_t size_;
  Release release_;
};

inline BufferRef::BufferRef(Buffer* buffer) : buffer_(buffer) {
  if (buffer_ != nullptr) buffer_->references_.fetch_add(1, std::memory_order_relaxed);
}

inline BufferRef::~BufferRef() {
  if (buffer_ == nullptr) return;
  // Whoever sees a count of 1 holds the only reference and needs no atomic decrement.
  if (buffer_->is_unique() || buffer_->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    Buffer::destroy(buffer_);
  }
}

// ---- the allocator as a whole -------------------------------------------------------------

// Bytes are those of whole blocks: what was asked for, a header, and up to an eighth more.
struct MemoryStatistics {
  uint64_t in_use = 0;       // bytes of live buffers
  uint64_t cached = 0;       // bytes of freed blocks kept for reuse
  uint64_t peak = 0;         // largest `in_use`, to within what threads keep for themselves
  uint64_t allocations = 0;  // buffers made so far
  uint64_t from_system = 0;  // of which needed new memory, which costs page faults
  uint64_t limit = 0;        // of in_use + cached; 0: none
  uint64_t cache_limit = 0;  // of cached
};

MemoryStatistics memory_statistics();
// Starts `peak` anew from what is in use.
void reset_peak_memory();

// Gives cached blocks back to the system, but for up to 2 MB that each other thread keeps.
void free_cached_memory();

// Beyond it `allocate` gives cached blocks back, and then throws MemoryError. 0: none.
void set_memory_limit(uint64_t bytes);
// Beyond it the blocks that were freed first go back to the system. At first an eighth of the
// machine's memory.
void set_cache_limit(uint64_t bytes);

}  // namespace lanewise::runtime
