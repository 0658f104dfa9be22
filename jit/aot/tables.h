// The tables of a function, as the runtime of artefact.h reads them.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/aot.h"
#include "runtime/nest.h"

namespace lanewise::jit {

// Code that the tables name by its number among all codes of the function.
struct ArtefactCode {
  const ir::Kernel* kernel;
  runtime::Layout layout;
};

struct Tables {
  std::vector<int64_t> words;
  std::vector<ArtefactCode> codes;  // each once for x86-64-v3 and once for x86-64-v4
};

Tables make_tables(const AotFunction& function);

}  // namespace lanewise::jit
