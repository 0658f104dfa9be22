#include "frontend/system.h"

namespace lanewise::frontend {

Configuration configuration() {
  return {runtime::cpu_name(), std::string(jit::to_string(jit::default_target())),
          jit::llvm_version(), runtime::usable_cores(), runtime::num_threads()};
}

void check_target() { jit::default_target(); }

jit::CacheStatistics cache_statistics() { return jit::cache_statistics(); }
jit::DiskCacheStatistics disk_cache_statistics() { return jit::disk_cache_statistics(); }
std::vector<jit::DiskCacheEntry> disk_cache_entries() { return jit::disk_cache_entries(); }
jit::DiskCacheSize disk_cache_size() { return jit::disk_cache_size(); }
jit::DiskCacheSize clear_disk_cache() { return jit::clear_disk_cache(); }
void set_warning_handler(std::function<void(const std::string& message)> handler) {
  jit::set_warning_handler(std::move(handler));
}

}  // namespace lanewise::frontend
