#include "jit/detail/llvm_error.h"

#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

void throw_error(llvm::Error error, std::string_view doing) {
  throw CompileError(format("llvm: {}: {}", doing, llvm::toString(std::move(error))));
}

}  // namespace lanewise::jit
