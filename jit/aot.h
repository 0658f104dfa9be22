// Compiling programs ahead of time: object files that need nothing but the C library.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/kernel.h"

namespace lanewise::jit {

// What must hold of the sizes of a call.
struct SizeConstraint {
  bool is_equality = true;  // else left >= right
  ir::Dim left, right;
};

// A parameter of the C function: tensor number `index` of the inputs, or number `index`.
struct AotParameter {
  std::string name;
  bool is_number = false;
  int index = 0;
};

// A function of the library. Inputs of the program are the tensors that are arguments, then
// constants. Its scalars are numbers that are arguments, then values of sizes (i64), then literals.
struct AotFunction {
  std::string symbol;  // a C identifier
  ir::Program program;
  std::vector<AotParameter> parameters;
  std::vector<std::string> results;    // names of the outputs
  std::vector<std::string> constants;  // bytes, row-major
  std::vector<ir::Dim> size_scalars;
  std::vector<uint64_t> literals;
  std::vector<SizeConstraint> constraints;

  size_t tensor_inputs() const { return program.inputs.size() - constants.size(); }
  size_t numbers() const { return program.scalars.size() - size_scalars.size() - literals.size(); }
};

struct AotLibrary {
  std::string name;  // a C identifier
  std::string version;
  std::string manifest;  // JSON, handed through to who loads the library
  std::vector<AotFunction> functions;
};

// The code that DLPack has for the kind of a dtype.
int dlpack_code(DType dtype);

// An ELF object file with code for x86-64-v3 and x86-64-v4. It needs malloc, free and getenv.
// Throws CompileError, UnsupportedError.
std::string compile_object(const AotLibrary& library);

// The trips of the loop over which a program can be split between threads, if there is one: all
// kernels have it outermost, and what they hand to each other goes row by row.
std::optional<ir::Dim> splittable_loop(const ir::Program& program);

// Pairs of an output and an input that may be one and the same memory.
std::vector<std::pair<int, int>> possible_aliases(const AotFunction& function);

// A static archive of one object file.
std::string make_archive(const std::string& object, const std::string& member_name);

// An object file (or an archive of one) made runnable, for the rest of the process. The address of
// its lw_library (artefact.h). Throws CompileError.
const void* load_object(const std::string& bytes, const std::string& name);

}  // namespace lanewise::jit
