#include "jit/detail/primitives.h"

#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

Emitter emitter_of(ir::Op op) {
  switch (op) {
#define STRUCTURAL(...)
#define COMPOSITE(...)
#define PRIMITIVE(id, name, emitter, ...) \
  case ir::Op::k##id:                     \
    return &emitter;
#include "ir/ops.def"
#undef STRUCTURAL
#undef COMPOSITE
#undef PRIMITIVE
    default:
      throw InternalError(format("{}: has no machine code of its own", op));
  }
}

}  // namespace lanewise::jit
