// Object files made runnable: the one LLJIT of the process.
#pragma once

#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string>

namespace lanewise::jit {

// Machine code in memory, given back on destruction.
class LoadedObject {
 public:
  // `symbol`, a function of the object, must be unique in the process. Throws CompileError.
  LoadedObject(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& symbol);
  ~LoadedObject();
  LoadedObject(const LoadedObject&) = delete;
  LoadedObject& operator=(const LoadedObject&) = delete;

  void* address() const { return address_; }

 private:
  struct Tracker;
  std::unique_ptr<Tracker> tracker_;
  void* address_ = nullptr;
};

}  // namespace lanewise::jit
