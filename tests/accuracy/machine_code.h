// One op as machine code, on whole arrays.
#pragma once

#include <memory>
#include <string>

#include "ir/kernel.h"
#include "jit/compiler.h"
#include "tests/accuracy/functions.h"

namespace lanewise::accuracy {

// The passes run on the function for `dtype`: what is compiled.
ir::Program program_of(const Function& function, DType dtype);

class MachineCode {
 public:
  MachineCode(const Function& function, const ir::Program& program, jit::Target target);

  // The arrays are of the dtype; a function of one argument ignores y.
  void run(const void* x, const void* y, void* result, size_t count) const;

 private:
  std::shared_ptr<const jit::Code> code_;
  int arity_;
  int64_t size_;
};

}  // namespace lanewise::accuracy
