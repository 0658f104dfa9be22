// The terms of a size, for those who write sizes in another form.
#pragma once

#include <string>
#include <vector>

#include "ir/dim.h"

namespace lanewise::ir {

// coefficient * symbols[0] * symbols[1] * ...
struct DimTerm {
  int64_t coefficient = 0;
  std::vector<std::string> symbols;
};

// A size is the sum of these; 0 has none.
std::vector<DimTerm> terms(const Dim& dim);

}  // namespace lanewise::ir
