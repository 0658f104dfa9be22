// The meaning of programs: each kernel evaluated node by node over its whole domain.
#pragma once

#include <span>
#include <vector>

#include "ir/kernel.h"
#include "ir/tensor.h"

namespace lanewise::ir {

struct InterpretOptions {
  int64_t block = 5;     // trips of the outermost loop, if it is not reduced, that run at once
  bool in_place = true;  // buffers lie in the memory of those they start as, where they can
};

// The results of the program, as `interpret` of a graph gives them. Throws ValueError where a check
// fails, naming the element, and InternalError where a kernel breaks a rule of kernel.h that only
// values show: an element outside its array, loaded before it is stored, or stored twice.
std::vector<Tensor> interpret(const Program& program, std::span<const Tensor> inputs,
                              std::span<const Scalar> scalars = {},
                              const InterpretOptions& options = {});

}  // namespace lanewise::ir
