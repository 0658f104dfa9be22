#include "ir/kernel.h"

#include <algorithm>

namespace lanewise::ir {

namespace {

bool same_buffer(const Buffer& a, const Buffer& b) {
  return a.kind == b.kind && a.index == b.index && a.dtype == b.dtype && a.shape == b.shape &&
         a.contiguous == b.contiguous && a.starts_as == b.starts_as;
}

bool same_step(const Step& a, const Step& b) {
  return a.blocked == b.blocked && a.kernels == b.kernels;
}

bool same_failure(const FirstFailure& a, const FirstFailure& b) {
  return a.buffer == b.buffer && a.shape == b.shape && a.message == b.message;
}

}  // namespace

bool operator==(const Kernel& a, const Kernel& b) {
  return a.name == b.name && a.loops == b.loops && a.domain == b.domain && a.reduced == b.reduced &&
         a.operands == b.operands && a.scalars == b.scalars && a.body.scalars == b.body.scalars &&
         a.stores == b.stores && std::ranges::equal(a.body.nodes(), b.body.nodes(), same);
}

bool operator==(const Program& a, const Program& b) {
  return a.name == b.name && a.inputs == b.inputs && a.scalars == b.scalars &&
         a.outputs == b.outputs && a.check_steps == b.check_steps &&
         std::ranges::equal(a.buffers, b.buffers, same_buffer) &&
         std::ranges::equal(a.steps, b.steps, same_step) &&
         std::ranges::equal(a.checks, b.checks, same_failure);
}

}  // namespace lanewise::ir
