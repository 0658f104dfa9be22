// From a module to machine code: passes and LLVM's code generator. One CodeGenerator per thread.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "jit/compiler.h"

namespace lanewise::jit {

// All options that generated code depends on, and that are no part of a kernel, as a line of text.
std::string code_generation_identity(Target target);

class CodeGenerator {
 public:
  // Throws CompileError if LLVM cannot make code for x86-64.
  explicit CodeGenerator(Target target);

  // A module with this target's triple and data layout.
  std::unique_ptr<llvm::Module> new_module(llvm::LLVMContext& context, const std::string& name);

  // Light passes: the code is vector code already.
  void optimize(llvm::Module& module);
  // An object file. Throws InternalError if it needs a symbol from elsewhere (a math library).
  std::unique_ptr<llvm::MemoryBuffer> object(llvm::Module& module);
  // An object file whatever it needs.
  llvm::SmallVector<char, 0> file(llvm::Module& module) {
    return generate(module, llvm::CodeGenFileType::ObjectFile);
  }
  std::string assembly(llvm::Module& module);

 private:
  llvm::SmallVector<char, 0> generate(llvm::Module& module, llvm::CodeGenFileType type);

  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace lanewise::jit
