// Loop nests as runtime/nest.cpp has them, and which code fits a nest. Part of runtime.c.
#pragma once

#include "jit/aot/artefact.h"
#include "jit/aot/runtime_cpu.h"

typedef struct nest {
  int64_t rank, reduced, operand_count;
  double parts;      // as many as this make up the whole
  int64_t width;     // from one operand's strides to the next's
  int64_t* sizes;    // [rank]
  int64_t* strides;  // [operand][rank]
  intptr_t* bases;
  const lw_operand* operands;
} nest;

static int64_t* stride_of(const nest* nest, int64_t operand, int64_t loop) {
  return nest->strides + operand * nest->width + loop;
}

static int64_t times(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

static void erase_loop(nest* nest, int64_t loop) {
  for (int64_t i = loop; i + 1 < nest->rank; ++i) {
    nest->sizes[i] = nest->sizes[i + 1];
    for (int64_t k = 0; k < nest->operand_count; ++k) {
      *stride_of(nest, k, i) = *stride_of(nest, k, i + 1);
    }
  }
  --nest->rank;
}

static void drop_single_trips(nest* nest) {
  for (int64_t loop = 0; loop < nest->rank;) {
    const int is_reduced = loop >= nest->rank - nest->reduced;
    const int is_last = is_reduced ? nest->reduced == 1 : nest->rank == 1;
    if (nest->sizes[loop] != 1 || is_last) {
      ++loop;
      continue;
    }
    erase_loop(nest, loop);
    if (is_reduced) --nest->reduced;
  }
}

static void orient(nest* nest, int64_t loop) {
  int64_t decisive = 0;
  int by_store = 0;
  for (int64_t k = 0; k < nest->operand_count; ++k) {
    const int64_t stride = *stride_of(nest, k, loop);
    if (nest->operands[k].item_size == 0 || stride == 0) continue;
    if (decisive == 0 || (nest->operands[k].written && !by_store)) {
      decisive = stride;
      by_store = nest->operands[k].written != 0;
    }
  }
  if (decisive >= 0) return;
  for (int64_t k = 0; k < nest->operand_count; ++k) {
    int64_t* stride = stride_of(nest, k, loop);
    nest->bases[k] += times(*stride, nest->sizes[loop] - 1);
    *stride = times(*stride, -1);
  }
}

// The smallest stride of written (or of loaded) operands along a loop.
static uint64_t span_of(const nest* nest, int64_t loop, int written) {
  uint64_t smallest = INT64_MAX;
  for (int64_t k = 0; k < nest->operand_count; ++k) {
    const int64_t stride = *stride_of(nest, k, loop);
    if (nest->operands[k].item_size == 0 || stride == 0) continue;
    if ((nest->operands[k].written != 0) != written) continue;
    const uint64_t distance = stride < 0 ? -(uint64_t)stride : (uint64_t)stride;
    if (distance < smallest) smallest = distance;
  }
  return smallest;
}

static void swap(int64_t* a, int64_t* b) {
  const int64_t old = *a;
  *a = *b;
  *b = old;
}

// Insertion sort: outermost the loop with the largest strides.
static void order_kept_loops(nest* nest) {
  const int64_t kept = nest->rank - nest->reduced;
  for (int64_t i = 1; i < kept; ++i) {
    for (int64_t loop = i; loop > 0; --loop) {
      const uint64_t written = span_of(nest, loop, 1), before = span_of(nest, loop - 1, 1);
      if (written < before) break;
      if (written == before && span_of(nest, loop, 0) <= span_of(nest, loop - 1, 0)) break;
      swap(&nest->sizes[loop], &nest->sizes[loop - 1]);
      for (int64_t k = 0; k < nest->operand_count; ++k) {
        swap(stride_of(nest, k, loop), stride_of(nest, k, loop - 1));
      }
    }
  }
}

static int walked_as_one(const nest* nest, int64_t outer) {
  for (int64_t k = 0; k < nest->operand_count; ++k) {
    const int64_t inner = *stride_of(nest, k, outer + 1);
    if (*stride_of(nest, k, outer) != times(inner, nest->sizes[outer + 1])) return 0;
  }
  return 1;
}

static void merge_loops(nest* nest) {
  for (int64_t outer = nest->rank - 2; outer >= 0; --outer) {
    const int64_t kept = nest->rank - nest->reduced;
    if (outer + 1 == kept || !walked_as_one(nest, outer)) continue;
    if (outer >= kept) --nest->reduced;
    nest->sizes[outer + 1] *= nest->sizes[outer];
    erase_loop(nest, outer);
  }
}

static void simplify(nest* nest) {
  if (nest->rank == 0) {
    nest->rank = 1;
    nest->sizes[0] = 1;
    for (int64_t k = 0; k < nest->operand_count; ++k) {
      *stride_of(nest, k, 0) = nest->operands[k].item_size;
    }
  }
  drop_single_trips(nest);
  for (int64_t loop = 0; loop < nest->rank - nest->reduced; ++loop) orient(nest, loop);
  order_kept_loops(nest);
  merge_loops(nest);
}

// ---- choosing code -------------------------------------------------------------------------

static int same_rows(const nest* nest, int64_t a, int64_t b) {
  for (int64_t loop = 0; loop < nest->rank; ++loop) {
    if (*stride_of(nest, a, loop) != *stride_of(nest, b, loop)) return 0;
  }
  return 1;
}

// Whether operand k is where its group is expected to be, as seen from the group's first member.
static int fits_group(const nest* nest, const lw_operand_layout* layouts, int64_t k) {
  for (int64_t first = 0; first < k; ++first) {
    if (layouts[first].group != layouts[k].group) continue;
    const int64_t columns = layouts[k].column - layouts[first].column;
    return nest->bases[k] - nest->bases[first] == columns * nest->operands[k].item_size &&
           same_rows(nest, first, k);
  }
  return 1;
}

// Whether storing past the cache is faster: as runtime/nest.cpp decides it.
static int exceeds_cache(const nest* nest) {
  double written = 0, all = 0;
  for (int64_t k = 0; k < nest->operand_count; ++k) {
    double bytes = (double)nest->operands[k].item_size * nest->parts;
    for (int64_t loop = 0; loop < nest->rank; ++loop) {
      if (*stride_of(nest, k, loop) != 0) bytes *= (double)nest->sizes[loop];
    }
    all += bytes;
    if (!nest->operands[k].written) continue;
    written += bytes;
    for (int64_t other = 0; other < nest->operand_count; ++other) {
      if (!nest->operands[other].written && nest->bases[other] == nest->bases[k]) return 0;
    }
  }
  return all * all > 1.5 * size_of_cache() * written;
}

static int fits(const nest* nest, const lw_variant* variant, const lw_operand_layout* layouts) {
  if (variant->rank - variant->reduced < nest->rank - nest->reduced) return 0;
  if (variant->reduced < nest->reduced) return 0;
  if (variant->streaming && !exceeds_cache(nest)) return 0;
  for (int64_t k = 0; k < nest->operand_count; ++k) {
    const lw_operand_layout* layout = &layouts[k];
    const int64_t item = nest->operands[k].item_size;
    const int64_t unit = item == 0 ? 1 : item;
    const int64_t stride = *stride_of(nest, k, nest->rank - 1);
    int64_t expected = stride;
    if (layout->stride == lw_unit) expected = unit;
    if (layout->stride == lw_broadcast) expected = 0;
    if (layout->stride == lw_small) expected = layout->step * unit;
    if (layout->stride == lw_reversed) expected = -unit;
    if (stride != expected) return 0;
    if (layout->group >= 0 && !fits_group(nest, layouts, k)) return 0;
  }
  return 1;
}
