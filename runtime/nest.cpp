#include "runtime/nest.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "runtime/cpu.h"

namespace lanewise::runtime {

namespace {

// a * b as addresses are computed: modulo 2^64 (steps of an index may be any number).
int64_t wrapping_multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

void erase_loop(Nest& nest, int loop) {
  nest.sizes.erase(nest.sizes.begin() + loop);
  for (NestOperand& operand : nest.operands) operand.strides.erase(operand.strides.begin() + loop);
}

int kept_loops(const Nest& nest) { return static_cast<int>(nest.sizes.size()) - nest.reduced; }

// If the kernel reduces, a reduced loop remains for it; else a kept one. Where all would go it is
// the innermost, whose strides are most like those of longer arrays.
void drop_single_trips(Nest& nest) {
  for (int loop = 0; loop < static_cast<int>(nest.sizes.size());) {
    const bool reduced = loop >= kept_loops(nest);
    const bool last = reduced ? nest.reduced == 1 : nest.sizes.size() == 1;
    if (nest.sizes[loop] != 1 || last) {
      ++loop;
      continue;
    }
    erase_loop(nest, loop);
    if (reduced) --nest.reduced;
  }
}

// Walks a kept loop from its end if its first written operand (or, where none moves, its first
// loaded one) would be walked downwards: stores are the ones that like to go forward.
void orient(Nest& nest, int loop) {
  int64_t decisive = 0;
  bool decided_by_store = false;
  for (const NestOperand& operand : nest.operands) {
    if (operand.element_size == 0 || operand.strides[loop] == 0) continue;
    if (decisive == 0 || (operand.written && !decided_by_store)) {
      decisive = operand.strides[loop];
      decided_by_store = operand.written;
    }
  }
  if (decisive >= 0) return;
  for (NestOperand& operand : nest.operands) {
    int64_t& stride = operand.strides[loop];
    operand.base += wrapping_multiply(stride, nest.sizes[loop] - 1);
    stride = wrapping_multiply(stride, -1);
  }
}

// How far apart a loop's accesses are: sorts loops outermost first. Strides of zero say nothing.
struct LoopSpan {
  int64_t written = std::numeric_limits<int64_t>::max();
  int64_t loaded = std::numeric_limits<int64_t>::max();
  int loop = 0;

  bool outside(const LoopSpan& other) const {
    if (written != other.written) return written > other.written;
    return loaded != other.loaded ? loaded > other.loaded : loop < other.loop;
  }
};

LoopSpan span_of(const Nest& nest, int loop) {
  LoopSpan span{.loop = loop};
  for (const NestOperand& operand : nest.operands) {
    if (operand.element_size == 0 || operand.strides[loop] == 0) continue;
    int64_t& smallest = operand.written ? span.written : span.loaded;
    smallest = std::min<int64_t>(smallest, std::abs(operand.strides[loop]));
  }
  return span;
}

void permute(std::vector<int64_t>& values, const std::vector<LoopSpan>& order) {
  const std::vector<int64_t> old(values.begin(), values.begin() + order.size());
  for (size_t i = 0; i < order.size(); ++i) values[i] = old[order[i].loop];
}

void order_kept_loops(Nest& nest) {
  const int kept = kept_loops(nest);
  if (kept < 2) return;
  std::vector<LoopSpan> order(kept);
  for (int loop = 0; loop < kept; ++loop) order[loop] = span_of(nest, loop);
  const auto outside = [](const LoopSpan& a, const LoopSpan& b) { return a.outside(b); };
  if (std::is_sorted(order.begin(), order.end(), outside)) return;
  std::sort(order.begin(), order.end(), outside);
  permute(nest.sizes, order);
  for (NestOperand& operand : nest.operands) permute(operand.strides, order);
}

// Whether each operand walks loops `outer` and outer + 1 as one loop.
bool walked_as_one(const Nest& nest, int outer) {
  for (const NestOperand& operand : nest.operands) {
    const int64_t inner_stride = operand.strides[outer + 1];
    if (operand.strides[outer] != wrapping_multiply(inner_stride, nest.sizes[outer + 1])) {
      return false;
    }
  }
  return true;
}

void merge_loops(Nest& nest) {
  for (int outer = static_cast<int>(nest.sizes.size()) - 2; outer >= 0; --outer) {
    const int kept = kept_loops(nest);
    if (outer + 1 == kept || !walked_as_one(nest, outer)) continue;
    if (outer >= kept) --nest.reduced;
    nest.sizes[outer + 1] *= nest.sizes[outer];
    erase_loop(nest, outer);
  }
}

}  // namespace

Nest simplify(Nest nest) {
  assert(nest.reduced >= 0 && static_cast<size_t>(nest.reduced) <= nest.sizes.size());
  assert(std::all_of(nest.sizes.begin(), nest.sizes.end(), [](int64_t n) { return n > 0; }));
  if (nest.sizes.empty()) {
    nest.sizes.push_back(1);
    for (NestOperand& operand : nest.operands) operand.strides.assign(1, operand.element_size);
  }
  drop_single_trips(nest);
  for (int loop = 0; loop < kept_loops(nest); ++loop) orient(nest, loop);
  order_kept_loops(nest);
  merge_loops(nest);
  return nest;
}

// ---- layout classes -----------------------------------------------------------------------

namespace {

constexpr int kLargestSmallStep = 4;

OperandLayout layout_of(const NestOperand& operand, int loop) {
  const int64_t stride = operand.strides[loop];
  const int64_t unit = operand.element_size == 0 ? 1 : operand.element_size;
  if (stride == 0) return {.stride = Stride::kBroadcast};
  if (stride == unit || operand.packed) return {.stride = Stride::kUnit};
  if (operand.element_size == 0) return {.stride = Stride::kOther};
  if (stride == -unit) return {.stride = Stride::kReversed};
  if (stride > 0 && stride % unit == 0 && stride / unit <= kLargestSmallStep) {
    return {.stride = Stride::kSmall, .step = static_cast<int>(stride / unit)};
  }
  return {.stride = Stride::kOther};
}

// Numbers the groups of columns in the order of their first members.
void find_groups(const Nest& nest, int loop, std::vector<OperandLayout>& layouts) {
  std::vector<int> columns;
  for (size_t i = 0; i < layouts.size(); ++i) {
    if (layouts[i].stride == Stride::kSmall && !nest.operands[i].written) {
      columns.push_back(static_cast<int>(i));
    }
  }
  if (columns.size() < 2) return;
  std::sort(columns.begin(), columns.end(), [&](int a, int b) {
    const intptr_t base_a = nest.operands[a].base;
    const intptr_t base_b = nest.operands[b].base;
    return base_a != base_b ? base_a < base_b : a < b;
  });
  const auto distance = [&](int from, int to) {
    return nest.operands[to].base - nest.operands[from].base;
  };
  const auto same_rows = [&](int first, int other) {
    const NestOperand& a = nest.operands[first];
    const NestOperand& b = nest.operands[other];
    return a.element_size == b.element_size && a.strides == b.strides &&
           distance(first, other) < a.strides[loop] && distance(first, other) % a.element_size == 0;
  };
  // Members first point to the group's lowest column, by its operand's number.
  std::vector<int> lowest(layouts.size(), -1);
  for (size_t i = 0; i < columns.size(); ++i) {
    const int first = columns[i];
    if (lowest[first] >= 0) continue;
    for (size_t j = i + 1; j < columns.size(); ++j) {
      const int other = columns[j];
      if (lowest[other] >= 0 || !same_rows(first, other)) continue;
      lowest[first] = lowest[other] = first;
      layouts[other].column =
          static_cast<int>(distance(first, other) / nest.operands[first].element_size);
    }
  }
  int groups = 0;
  for (size_t i = 0; i < layouts.size(); ++i) {
    if (lowest[i] < 0 || layouts[i].group >= 0) continue;
    for (size_t j = i; j < layouts.size(); ++j) {
      if (lowest[j] == lowest[i]) layouts[j].group = groups;
    }
    ++groups;
  }
}

// ---- rows or columns ----------------------------------------------------------------------

// What an element costs in vectors along a loop, in nanoseconds: roughly, as measured.
double cost_along(const Nest& nest, int loop) {
  double cost = 0;
  for (const NestOperand& operand : nest.operands) {
    switch (layout_of(operand, loop).stride) {
      case Stride::kUnit:
      case Stride::kReversed:
        cost += .05;
        break;
      case Stride::kBroadcast:
        cost += .01;
        break;
      case Stride::kSmall:
        cost += .08;
        break;
      case Stride::kOther:
        cost += operand.element_size == 0 ? .05 : .15;
        break;
    }
  }
  return cost;
}

// Whether to reduce many rows side by side, with vectors along the innermost kept loop, rather than
// one after the other.
bool reduces_by_columns(const Nest& nest) {
  const int column_loop = kept_loops(nest) - 1;
  if (nest.reduced == 0 || column_loop < 0) return false;
  constexpr double kVector = 16;
  constexpr double kCombiningLanes = 20;  // at the end of each row
  const auto innermost = static_cast<int>(nest.sizes.size()) - 1;
  double length = 1;
  for (int loop = column_loop + 1; loop <= innermost; ++loop) {
    length *= static_cast<double>(nest.sizes[loop]);
  }
  const auto columns = static_cast<double>(nest.sizes[column_loop]);
  const double lanes_in_use = columns / (std::ceil(columns / kVector) * kVector);
  const double line_in_use = std::min(1.0, static_cast<double>(nest.sizes[innermost]) / kVector);
  const double row = length * cost_along(nest, innermost) / line_in_use + kCombiningLanes;
  const double column = length * cost_along(nest, column_loop) / lanes_in_use;
  return column < row;
}

// ---- sizes against caches -----------------------------------------------------------------

// Bytes of an operand's elements over the loops from `first_loop` on that it moves along.
double bytes_touched(const Nest& nest, const NestOperand& operand, size_t first_loop) {
  double bytes = operand.element_size;
  for (size_t loop = first_loop; loop < nest.sizes.size(); ++loop) {
    if (operand.strides[loop] != 0) bytes *= static_cast<double>(nest.sizes[loop]);
  }
  return bytes;
}

// An output that is also an input is in cache by the time it is stored.
bool updated_in_place(const Nest& nest, const NestOperand& output) {
  return std::any_of(nest.operands.begin(), nest.operands.end(), [&](const NestOperand& operand) {
    return !operand.written && operand.element_size > 0 && operand.base == output.base;
  });
}

// Whether storing past the cache is faster. It saves reading what is overwritten and leaves the
// cache to the inputs, but has less bandwidth than a cache with room. Measured, it pays from .4, .8
// and 1.5 times the last-level cache on, for inputs and outputs together, where outputs are 1/3,
// 1/2 and all of the bytes.
bool outputs_exceed_cache(const Nest& nest, const std::vector<OperandLayout>& layouts) {
  double written = 0;
  double loaded = 0;
  for (size_t i = 0; i < layouts.size(); ++i) {
    const NestOperand& operand = nest.operands[i];
    const double bytes = bytes_touched(nest, operand, 0);
    if (!operand.written) {
      const bool alone = layouts[i].group < 0;  // others of a group use the lines' other elements
      loaded += alone ? bytes * layouts[i].step : bytes;
    } else if (layouts[i].stride == Stride::kUnit) {
      if (updated_in_place(nest, operand)) return false;
      written += bytes;
    }
  }
  const double all = written + loaded;
  return all * all > 1.5 * static_cast<double>(cache_sizes().l3) * written && written > 0;
}

bool rows_exceed_cache(const Nest& nest) {
  const size_t first_reduced = nest.sizes.size() - nest.reduced;
  double bytes = 0;
  for (const NestOperand& operand : nest.operands) {
    const double row = bytes_touched(nest, operand, first_reduced);
    if (row > operand.element_size) bytes += row;
  }
  return bytes > static_cast<double>(cache_sizes().l2) / 2;
}

}  // namespace

Layout classify(const Nest& nest, bool columns) {
  Layout layout;
  layout.rank = static_cast<int>(nest.sizes.size());
  layout.reduced = nest.reduced;
  layout.operands.reserve(nest.operands.size());
  layout.columns = columns && reduces_by_columns(nest);
  const int loop = vector_loop(layout);
  for (const NestOperand& operand : nest.operands) {
    layout.operands.push_back(layout_of(operand, loop));
  }
  find_groups(nest, loop, layout.operands);
  layout.streaming = !layout.columns && outputs_exceed_cache(nest, layout.operands);
  layout.long_rows = nest.reduced > 0 && rows_exceed_cache(nest);
  return layout;
}

}  // namespace lanewise::runtime
