// Which build of lanewise, and of LLVM, this is.
#pragma once

#include <string>

namespace lanewise::jit {

// Hexadecimal build ids of the libraries with our code and LLVM's: builds that could generate
// different code differ here. "" where the linker put no build id in.
const std::string& build_identity();

}  // namespace lanewise::jit
