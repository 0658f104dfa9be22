// What is computed where: the nodes of a kernel's body by the loops they depend on.
//
// The "row" of a kernel is what lies inside its kept loops: its reduced loops, or where there are
// none the innermost loop. A row consists of lines along the innermost loop. It is walked as often
// as reductions depend on each other: walk 0 computes reductions of values that depend on none,
// walk 1 those that depend on results of walk 0, and so on; values stored at points are computed in
// the first walk that can.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "jit/compiler.h"
#include "jit/detail/section.h"

namespace lanewise::jit {

//
// Where rows are reduced side by side (Layout::columns), vectors hold one element each of
// neighbouring rows, and what is computed once for each of these rows is a vector too: a column.
enum class Level : uint8_t {
  kUniform,  // once
  kRow,      // once for each row, or for all rows side by side
  kLine,     // the same for all vectors of a line, or of neighbouring rows; in each walk
  kColumn,   // once for each vector of neighbouring rows
  kPoint,    // at each vector in each walk
};

// A section with the nodes of it that points use, as vectors.
struct ScalarSection {
  Section section;
  std::vector<uint32_t> broadcast;
};

struct Walk {
  // A point value that an earlier walk leaves where a later one will store its result, because
  // computing it again costs more.
  struct Carried {
    uint32_t node;
    size_t operand;
  };
  std::vector<Carried> saved;    // by this walk
  std::vector<Carried> carried;  // loaded instead of computed
  ScalarSection line;
  Section point;
  std::vector<uint32_t> reductions;      // nodes
  std::vector<const ir::Store*> stores;  // at points
};

struct KernelPlan {
  ScalarSection uniform;
  // rows[i] comes before walk i, the last one after all walks; columns[i] comes after rows[i].
  std::vector<ScalarSection> rows;
  std::vector<Section> columns;
  std::vector<Walk> walks;
  std::vector<const ir::Store*> row_stores;  // after all walks
  int outer_loops = 0;                       // around all of that
  int lanes = 16;
};

// By node: whether some store depends on it.
std::vector<bool> find_needed(const ir::Kernel& kernel);

// Whether the operand moves along one of the last `reduced` loops of the kernel.
bool varies_along_reduced(const ir::Kernel& kernel, size_t operand);

// Whether rows can be reduced range by range: nothing but row values comes of them.
bool can_reduce_ranges(const ir::Kernel& kernel, const KernelPlan& plan,
                       const runtime::Layout& layout);

// The same of scans: none depends on another, and no reduction is at hand.
bool can_scan_ranges(const ir::Kernel& kernel, const KernelPlan& plan,
                     const runtime::Layout& layout);

KernelPlan make_plan(const ir::Kernel& kernel, const ir::Program& program,
                     const runtime::Layout& layout, Target target);

}  // namespace lanewise::jit
