#include "jit/detail/reductions.h"

#include "jit/detail/reduction_kinds.h"

namespace lanewise::jit {

std::unique_ptr<Reductions> Reductions::make(Frame& frame, const Walk& walk) {
  return frame.layout.columns ? reduce_columns(frame, walk) : reduce_rows(frame, walk);
}

}  // namespace lanewise::jit
