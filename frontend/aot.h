// Functions compiled ahead of time: signatures, libraries under construction, and libraries that
// are loaded again.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/sizes.h"
#include "frontend/trace.h"

namespace lanewise::frontend {

// "f32[n,2], f64": arrays with their shapes, and numbers. f64, i64 and bool without brackets are
// Python's numbers, other dtypes numbers of their own. ValueError with a caret under the place.
// The parameters have no names yet.
std::vector<Trace::Parameter> parse_signature(std::string_view text);

// What callers of a compiled function need to know.
struct AotInterface {
  struct Argument {
    std::string name;
    DType dtype;
    Shape shape;
    bool is_number = false;
  };
  std::string symbol;
  std::vector<Argument> parameters;
  std::vector<Argument> results;
  std::vector<SizeConstraint> constraints;
  // A result may be the very memory of a parameter (numbers of both).
  std::vector<std::pair<size_t, size_t>> aliases;
  bool has_checks = false;  // some elements may be values that the function refuses
  bool can_split = false;   // over a loop, between threads
};

class AotBuilder {
 public:
  AotBuilder(std::string name, std::string version);
  ~AotBuilder();
  AotBuilder(const AotBuilder&) = delete;
  AotBuilder& operator=(const AotBuilder&) = delete;

  // A finished trace under sizes with names.
  AotInterface add(const std::string& symbol, const Trace& trace, const SymbolicSizes& sizes);
  // The object file; `manifest` comes back from LoadedLibrary. Can take a while.
  std::string compile(const std::string& manifest) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// A static archive of that object file.
std::string make_archive(const std::string& object, const std::string& member_name);

// Memory that a loaded function reads or writes.
struct AotTensor {
  DType dtype = DType::kF64;
  char* data = nullptr;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // elements
};

// Stays loaded for the rest of the process.
class LoadedLibrary {
 public:
  // An object file or archive of one; the linker of LLVM's JIT makes it runnable.
  static LoadedLibrary from_object(const std::string& bytes, const std::string& name);
  // A shared library, by the system's loader.
  static LoadedLibrary from_shared_library(const std::string& path);

  std::string version() const;  // of lanewise that built it
  std::string manifest() const;
  size_t function_count() const;
  // Inputs, then outputs; bits of the numbers. Returns an error code.
  int32_t call(size_t function, std::span<const AotTensor> tensors,
               std::span<const uint64_t> numbers) const;
  std::string message(int32_t code) const;

 private:
  LoadedLibrary(const void* record, const std::string& name);
  const void* record_;
};

}  // namespace lanewise::frontend
