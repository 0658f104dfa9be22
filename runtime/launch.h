// Running kernels over their loops: whole on the calling thread where work is small, else cut into
// boxes for the threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/nest.h"
#include "runtime/transpose.h"

namespace lanewise::runtime {

// A kernel and where its operands are. Its nest's bases count from addresses that are known at each
// run only.
struct LaunchSpec {
  static constexpr int kAbsolute = -1;  // the nest's base is all: an index

  KernelFunction kernel = nullptr;
  Nest nest;                 // simplified, as it was classified for this kernel
  std::vector<int> origins;  // for each operand: which address of the run its base is added to
  std::vector<int> scalars;  // for each scalar of the kernel: which scalar of the run it is
  // A guess at the time a point of the nest takes on one thread; runs correct it.
  double nanoseconds_per_point = 1;

  // Code that reduces rows range by range (see Portion), for rows of more than one range; ranges
  // are powers of two times `granule` elements.
  struct Ranges {
    KernelFunction range;
    KernelFunction join;
    int64_t state_bytes;
    int64_t granule;
    // Of scans: runs over the ranges once more in the end. There is a state for each granule then.
    KernelFunction resume = nullptr;
    // States of one byte: the one after which no other range matters. Theirs are then its opposite.
    std::optional<bool> decisive = {};
  };
  std::optional<Ranges> ranges = {};
};

namespace detail {

// What a piece of work costs, as measured. Affects how it is cut, never what it gives.
class Cost {
 public:
  explicit Cost(double nanoseconds) : nanoseconds_(static_cast<float>(nanoseconds)) {}
  Cost(const Cost& other) : nanoseconds_(other.nanoseconds_.load(std::memory_order_relaxed)) {}
  Cost& operator=(const Cost&) = delete;

  double nanoseconds() const { return nanoseconds_.load(std::memory_order_relaxed); }
  // Believes better news at once and worse news (a cold cache, a busy machine) bit by bit.
  void learn(double measured) const {
    const double known = nanoseconds();
    const double better = measured < known ? measured : known + (measured - known) / 8;
    nanoseconds_.store(static_cast<float>(better), std::memory_order_relaxed);
  }

 private:
  mutable std::atomic<float> nanoseconds_;
};

// A kernel as its code wants it, but for what differs between runs.
struct Stage {
  explicit Stage(const LaunchSpec& spec);

  KernelFunction kernel;
  int rank;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // [operand * rank + loop]
  std::vector<intptr_t> bases;
  std::vector<int> origins;
  std::vector<int> scalars;
};

}  // namespace detail

// One kernel, ready to run any number of times with arrays of these shapes and strides. Safe to run
// from several threads at once. Whoever owns it keeps the kernel's code alive.
class PreparedLaunch {
 public:
  explicit PreparedLaunch(const LaunchSpec& spec);

  // Returns when all is written. Throws only what the interrupt check throws.
  void run(const intptr_t* origins, const uint64_t* scalars) const;

 private:
  void run_in_boxes(const KernelArguments& whole) const;
  void run_in_tiles(const KernelArguments& whole) const;
  void run_in_ranges(const KernelArguments& whole, double wanted, int threads) const;

  detail::Stage stage_;
  std::optional<LaunchSpec::Ranges> ranges_;
  double points_;
  int cut_loop_ = -1;        // the loop that is cut, or -1 where all loops are reduced
  int64_t cut_granule_ = 1;  // boxes are multiples of it along that loop, but for the last
  detail::Tiling tiling_;
  std::vector<int64_t> tile_strides_;  // as stage_.strides, but packed operands move in their copy
  detail::Cost cost_;                  // of a point
};

// Kernels over one and the same loop, run one after the other on block after block of it, so that
// what they hand to each other stays in cache: scratch arrays that hold one block. Nests are not
// simplified here; each has one loop of equal size.
class PreparedBlocks {
 public:
  // As an origin: scratch array number i, in which an operand with base 0 and a stride of one
  // element is at the start of the current block.
  static constexpr int scratch(int i) { return -2 - i; }

  PreparedBlocks(const std::vector<LaunchSpec>& kernels,
                 const std::vector<int>& scratch_element_sizes);

  // Throws what the interrupt check throws, and MemoryError.
  void run(const intptr_t* origins, const uint64_t* scalars) const;

 private:
  void run_block(const intptr_t* origins, const uint64_t* scalars, const intptr_t* scratch,
                 int64_t first, int64_t last) const;

  std::vector<detail::Stage> stages_;
  int64_t size_;
  int64_t block_;                         // points in one
  std::vector<int64_t> scratch_offsets_;  // of each array in a worker's memory, and their end
  detail::Cost cost_;                     // of a point
};

}  // namespace lanewise::runtime
