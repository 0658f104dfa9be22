// Kernels and programs: the graph after fusion. A kernel is one loop nest; a program is a list of
// them with the buffers they read and write. Sizes may be symbols; nothing here knows strides in
// memory, targets or threads.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace lanewise::ir {

// The index along one axis of an array, in terms of the loop indices i0, i1, ...:
// offset + sum(step * i_loop).
struct AxisIndex {
  struct Term {
    int loop;
    Dim step;
    friend bool operator==(const Term&, const Term&) = default;
  };
  Dim offset;
  std::vector<Term> terms;
  friend bool operator==(const AxisIndex&, const AxisIndex&) = default;
};

// One use of an array by a kernel: element [axes[0], axes[1], ...] of buffer `buffer` seen as a
// row-major array of shape `shape` (the buffer's own shape, or another with as many elements if
// the buffer is contiguous). With buffer kIndex it is no array but the number axes[0] itself.
struct Operand {
  static constexpr int kIndex = -1;
  int buffer = 0;
  Shape shape;
  std::vector<AxisIndex> axes;
  friend bool operator==(const Operand&, const Operand&) = default;
};

// Writes `value` to `operand` at every point of the loops that the operand's axes name.
struct Store {
  int operand = 0;
  Value value;
  friend bool operator==(const Store&, const Store&) = default;
};

// A loop nest. The body is a graph of 0-d nodes, evaluated at each point of the domain:
//   Load      element of operands[slot]
//   Iota      the number operands[slot], wrapped to its dtype
//   Scalar    program scalar scalars[slot]
//   Constant, elementwise primitives
//   reductions and scans: over the last `reduced` loops of the domain, in row-major order; they
//             have no attribute
// A value that depends on a reduced loop or on a scan is a point value; one made of reductions,
// scalars and loads that do not vary along reduced loops is a row value. Point values may use row
// values: the row is then walked more than once (softmax: max, then sum, then the quotient).
// Operands and scalars are numbered in the order of their first use, in the body and then in the
// stores; none is unused, no two are equal. No buffer is both loaded and stored. Of the body only
// the nodes and `scalars` (dtypes of the kernel's scalars) are used; stores say what is kept.
struct Kernel {
  std::string name;
  std::vector<std::string> loops;  // names of the indices, for the text: "i0", ...
  Shape domain;                    // trip count of each loop, outermost first
  int reduced = 0;                 // how many of the last loops are reduced
  std::vector<Operand> operands;
  std::vector<int> scalars;  // program scalar of each kernel scalar
  Graph body;
  std::vector<Store> stores;
};

struct Buffer {
  enum class Kind : uint8_t {
    kInput,      // argument `index` of the program
    kOutput,     // result `index`
    kTemporary,  // lives from its first store to its last load
    kBlock,      // a temporary inside a blocked step: only one block of it ever exists
  };
  Kind kind = Kind::kTemporary;
  int index = 0;
  DType dtype = DType::kF64;
  Shape shape;
  bool contiguous = true;  // row-major without gaps: all buffers but some inputs
  // The buffer whose contents this one starts with (a window of it is then overwritten), or -1.
  // May share its memory where that buffer is used by nobody else afterwards.
  int starts_as = -1;
};

// Kernels that run one after the other. In a blocked step all kernels have the same outermost
// loop, which is not reduced, and run over one block of its range after the other, so that what
// crosses between them (kBlock buffers) stays in cache: axis 0 of such a buffer is that loop.
struct Step {
  std::vector<Kernel> kernels;
  bool blocked = false;
};

// `buffer` is a temporary i64 of rank 0: the first element (its number in row-major order of
// `shape`) for which a check of the graph fails, or kNone.
struct FirstFailure {
  static constexpr int64_t kNone = INT64_MAX;
  int buffer = 0;
  Shape shape;
  std::string message;
  Source source = 0;
};

struct Program {
  std::string name = "f";
  std::vector<Parameter> inputs;
  std::vector<DType> scalars;
  std::vector<Buffer> buffers;  // every input and output has one
  std::vector<Step> steps;
  std::vector<int> outputs;  // buffer of each result; may be an input's, or repeat
  // Decided by the first `check_steps` steps, which store to no output.
  std::vector<FirstFailure> checks;
  int check_steps = 0;
};

// Equal in all but the sources.
bool operator==(const Kernel& a, const Kernel& b);
bool operator==(const Program& a, const Program& b);

}  // namespace lanewise::ir
