// Loop nests over strided operands in memory: merging loops, and the layout class that picks the
// machine code. Sizes and strides are run-time numbers here; only the class enters a kernel's key.
#pragma once

#include <cstdint>
#include <vector>

namespace lanewise::runtime {

// One operand of a nest. An array has a base address and byte strides; an index (iota) has its
// start value as `base` and steps of the value as strides, so that both move alike.
struct NestOperand {
  intptr_t base = 0;
  std::vector<int64_t> strides;  // one for each loop, outermost first; bytes, or steps of an index
  int element_size = 0;          // bytes; 0 for an index
  bool written = false;
  bool packed = false;  // see transpose.h
};

// The last `reduced` loops are reduced.
struct Nest {
  std::vector<int64_t> sizes;  // outermost first; all > 0
  int reduced = 0;
  std::vector<NestOperand> operands;
};

// Drops loops of one trip, merges neighbouring loops that all operands walk as one, orders the
// loops that are not reduced so that the innermost has the smallest strides (those of written
// operands first), and walks them so that written operands move forward; bases move along. Reduced
// loops keep their order and direction and stay innermost; if there were any, one remains, and one
// loop always does. Each set of addresses that belong together is visited as often as before.
//
// Bases are only added to, so they may stand for addresses not known yet: offsets into a buffer,
// plus a number of its own (far from the others) for each buffer.
Nest simplify(Nest nest);

// How an operand moves along the loop that vectors lie along: the innermost, but see
// Layout::columns.
enum class Stride : uint8_t {
  kUnit,       // one element; an index: by one
  kBroadcast,  // does not move
  kSmall,      // `step` elements, 2 to 4: wide loads and shuffles
  kReversed,   // minus one element
  kOther,      // any other byte stride: element by element; any other step of an index
};

struct OperandLayout {
  Stride stride = Stride::kUnit;
  int step = 1;  // elements, for kSmall
  // Loaded operands of one group are columns of the same rows: same strides, bases less than
  // `step` elements apart. They share wide loads from the group's lowest base, which is
  // `column` elements before each member's base.
  int group = -1;  // -1: alone
  int column = 0;
  friend bool operator==(const OperandLayout&, const OperandLayout&) = default;
};

// Long rows can be reduced range by range: into states, which are then joined. Scans have a state
// for each block of a range, and joining makes of them where each block starts.
enum class Portion : uint8_t {
  kWhole,
  kRange,   // what becomes of part of each row goes to a further operand
  kJoin,    // the reduced loop is over the states in that operand; then all that follows
  kResume,  // of scans: part of each row, from the state in that operand on
};

// All that machine code for a kernel depends on besides the kernel itself.
struct Layout {
  int rank = 1;            // loops after `simplify`
  int reduced = 0;         // of which reduced
  bool streaming = false;  // outputs bypass the cache
  // Vectors lie along the innermost kept loop: many rows are reduced side by side.
  bool columns = false;
  bool long_rows = false;  // reduced rows exceed the cache: walk them as few times as possible
  Portion portion = Portion::kWhole;
  std::vector<OperandLayout> operands;
  friend bool operator==(const Layout&, const Layout&) = default;
};

// The loop that vectors lie along.
inline int vector_loop(const Layout& layout) {
  return layout.columns ? layout.rank - layout.reduced - 1 : layout.rank - 1;
}

// `nest` must be simplified. Without `columns`, rows are reduced one after the other in any case.
Layout classify(const Nest& nest, bool columns = true);

// ---- calling kernels ----------------------------------------------------------------------

// What machine code gets. Its loops run over the whole of `sizes`.
struct KernelArguments {
  const intptr_t* bases;    // one for each operand
  const int64_t* strides;   // [operand * rank + loop]
  const int64_t* sizes;     // [rank]
  const uint64_t* scalars;  // bits of each kernel scalar
  int64_t first = 0;        // of Portion::kRange: where in the rows the range starts
};

using KernelFunction = void (*)(const KernelArguments*);

}  // namespace lanewise::runtime
