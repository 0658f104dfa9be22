// docs/accuracy.md: what a full measurement found.
#pragma once

#include <string>
#include <vector>

#include "tests/accuracy/measure.h"

namespace lanewise::accuracy {

struct Row {
  const Function* function;
  DType dtype;
  Measurement measured;
  bool is_exhaustive;
};

// "" if the row keeps what the op table promises, else what is wrong.
std::string fault_of(const Row& row);

// One line for terminals: "exp f32: .7713 ULP of .8 at 0x1.8p+3, ...".
std::string summary(const Row& row);

std::string accuracy_page(const std::vector<Row>& rows, const std::vector<jit::Target>& targets);

}  // namespace lanewise::accuracy
