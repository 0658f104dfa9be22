// The order in which a program's kernels run, and how long its buffers live.
#pragma once

#include <compare>
#include <vector>

#include "ir/kernel.h"

namespace lanewise::ir {

// Orders the steps: after what they load, reads of a buffer before the update that starts with
// its contents, so that the update can happen in place. Puts neighbouring steps together into
// blocked ones where each row that crosses between them is used at once and never again.
void schedule(Program& program);

// A kernel of a program: kernel number `kernel` of step `step`.
struct Moment {
  int step = -1;
  int kernel = -1;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

// When a buffer is first stored or loaded, and last; {-1, -1} for never. In a blocked step a buffer
// that is not of kind kBlock lives through the whole step.
struct Lifetime {
  Moment first;
  Moment last;
};
std::vector<Lifetime> lifetimes(const Program& program);

// Whether the buffer may lie in the memory of the one it starts as: all loads of that one come
// before, or are of just the element that is stored. Whether its owner may lose it is not asked.
bool can_start_in_place(const Program& program, int buffer);

}  // namespace lanewise::ir
