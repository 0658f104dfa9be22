#include "frontend/system.h"

namespace lanewise::frontend {

Configuration configuration() {
  return {runtime::cpu_name(), std::string(jit::to_string(jit::default_target())),
          jit::llvm_version(), runtime::usable_cores(), runtime::num_threads()};
}

void check_target() { jit::default_target(); }

jit::CacheStatistics cache_statistics() { return jit::cache_statistics(); }

}  // namespace lanewise::frontend
