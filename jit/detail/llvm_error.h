// LLVM's errors as exceptions.
#pragma once

#include <llvm/Support/Error.h>

#include <string_view>
#include <utility>

namespace lanewise::jit {

// Throws CompileError "llvm: <doing>: <message>".
[[noreturn]] void throw_error(llvm::Error error, std::string_view doing);

inline void throw_if(llvm::Error error, std::string_view doing) {
  if (error) throw_error(std::move(error), doing);
}

template <class T>
T value_or_throw(llvm::Expected<T> expected, std::string_view doing) {
  if (!expected) throw_error(expected.takeError(), doing);
  return std::move(*expected);
}

}  // namespace lanewise::jit
