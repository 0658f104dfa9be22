#include "jit/detail/reductions.h"

#include "jit/detail/reduction_kinds.h"
#include "support/error.h"

namespace lanewise::jit {

Reducer reducer_of(const ir::Kernel& kernel, uint32_t node) {
  const ir::Graph& body = kernel.body;
  return {body[ir::Value{node}].op, body[body[ir::Value{node}].operands[0]].dtype};
}

void Reductions::store_state(llvm::Value*) {
  throw InternalError("jit: neighbouring rows cannot be reduced range by range");
}

std::unique_ptr<Reductions> Reductions::make(Frame& frame, const Walk& walk) {
  return frame.layout.columns ? reduce_columns(frame, walk) : reduce_rows(frame, walk);
}

}  // namespace lanewise::jit
