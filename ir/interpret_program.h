// The meaning of programs: each kernel evaluated node by node over its whole domain.
#pragma once

#include <span>
#include <vector>

#include "ir/kernel.h"
#include "ir/tensor.h"

namespace lanewise::ir {

// The results of the program, as `interpret` of a graph gives them. Blocked steps run over blocks
// of `block` trips. Throws ValueError where a check fails, naming the element, and InternalError
// where a kernel breaks a rule of kernel.h that only values show: an element outside its array,
// loaded before it is stored, or stored twice.
std::vector<Tensor> interpret(const Program& program, std::span<const Tensor> inputs,
                              std::span<const Scalar> scalars = {}, int64_t block = 5);

}  // namespace lanewise::ir
