// Object files made runnable: the one LLJIT of the process.
#pragma once

#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string>

namespace llvm::orc {
class LLJIT;
}

namespace lanewise::jit {

// Each object goes into a JITDylib of its own, so that names in different objects may be equal.
// Errors are reported through what it returns.
llvm::orc::LLJIT& object_linker();

// Machine code in memory, given back on destruction.
class LoadedObject {
 public:
  // `symbol` is a function of the object. Other objects may have one of that name. Throws
  // CompileError.
  LoadedObject(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& symbol);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  void* address() const { return address_; }

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  void* address_ = nullptr;
};

}  // namespace lanewise::jit
