// The order in which a program's kernels run, and how long its buffers live.
#pragma once

#include <compare>
#include <vector>

#include "ir/kernel.h"

namespace lanewise::ir {

// Orders the steps: after what they load, and reads of a buffer before the update that starts with
// its contents, so that the update can happen in place. Makes blocked steps of neighbours where
// the rows that cross between them are all that a kernel needs of the one before.
void schedule(Program& program);

// A kernel of a program: kernel number `kernel` of step `step`.
struct Moment {
  int step = -1;
  int kernel = -1;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

// The first and the last kernel that need a buffer, by storing, loading or starting with it; both
// {-1, -1} if none does. Through a blocked step all buffers but blocks live as a whole.
struct Lifetime {
  Moment first;
  Moment last;
};
std::vector<Lifetime> lifetimes(const Program& program);

// Whether `buffer`, which starts as another, may take over that one's memory: nothing needs the old
// contents any more once they are overwritten. (Whoever owns an input must agree, too.)
bool can_start_in_place(const Program& program, int buffer);

}  // namespace lanewise::ir
