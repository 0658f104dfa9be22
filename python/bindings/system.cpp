// Threads, memory, compiled code, configuration.
#include "frontend/system.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <climits>

#include "python/bindings/arguments.h"
#include "python/bindings/elementwise.h"
#include "python/bindings/evaluation.h"

namespace lanewise::python {

using namespace py::literals;

namespace {

py::object set_num_threads(const Bound& bound) {
  const int64_t count = to_int64(bound[0], "set_num_threads", "count");
  // Out of the range of int is out of the range of threads too.
  runtime::set_num_threads(static_cast<int>(std::clamp<int64_t>(count, -1, INT_MAX)));
  return py::none();
}

py::object get_num_threads(const Bound&) { return py::int_(runtime::num_threads()); }

py::object memory_stats(const Bound&) {
  const runtime::MemoryStatistics statistics = runtime::memory_statistics();
  return py::dict("in_use"_a = statistics.in_use, "cached"_a = statistics.cached,
                  "peak"_a = statistics.peak, "allocations"_a = statistics.allocations,
                  "from_system"_a = statistics.from_system, "limit"_a = statistics.limit,
                  "cache_limit"_a = statistics.cache_limit);
}

py::object free_cached_memory(const Bound&) {
  runtime::free_cached_memory();
  return py::none();
}

py::object set_memory_limit(const Bound& bound) {
  const auto bytes = [](PyObject* object, const char* name) {
    const int64_t value = to_int64(object, "set_memory_limit", name);
    if (value < 0) throw ValueError("set_memory_limit: a negative number of bytes");
    return static_cast<uint64_t>(value);
  };
  if (bound.given(0) != nullptr) runtime::set_memory_limit(bytes(bound[0], "limit"));
  if (bound.given(1) != nullptr) runtime::set_cache_limit(bytes(bound[1], "cache_limit"));
  return py::none();
}

py::object cache_stats(const Bound&) {
  const jit::CacheStatistics statistics = frontend::cache_statistics();
  return py::dict("compilations"_a = statistics.compilations, "hits"_a = statistics.hits,
                  "evictions"_a = statistics.evictions, "kernels"_a = statistics.kernels,
                  "code_bytes"_a = statistics.code_bytes,
                  "kernel_limit"_a = statistics.kernel_limit,
                  "compile_seconds"_a = statistics.compile_seconds);
}

py::object disk_cache_stats(const Bound&) {
  const jit::DiskCacheStatistics statistics = frontend::disk_cache_statistics();
  return py::dict("directory"_a = statistics.directory, "why_off"_a = statistics.why_off,
                  "untrusted"_a = statistics.untrusted, "byte_limit"_a = statistics.byte_limit,
                  "hits"_a = statistics.hits, "misses"_a = statistics.misses,
                  "stored"_a = statistics.stored, "rejected"_a = statistics.rejected,
                  "failures"_a = statistics.failures, "last_failure"_a = statistics.last_failure);
}

py::object size_dict(const jit::DiskCacheSize& size) {
  return py::dict("files"_a = size.files, "bytes"_a = size.bytes);
}
py::object disk_cache_size(const Bound&) { return size_dict(frontend::disk_cache_size()); }
py::object clear_disk_cache(const Bound&) { return size_dict(frontend::clear_disk_cache()); }

py::object disk_cache_entries(const Bound&) {
  py::list entries;
  for (const jit::DiskCacheEntry& entry : frontend::disk_cache_entries()) {
    entries.append(py::dict("kernel"_a = entry.kernel, "identity"_a = entry.identity,
                            "bytes"_a = entry.bytes, "last_used"_a = entry.last_used));
  }
  return entries;
}

py::object configuration(const Bound&) {
  const frontend::Configuration configuration = frontend::configuration();
  return py::dict("cpu"_a = configuration.cpu, "target"_a = configuration.target,
                  "llvm"_a = configuration.llvm, "usable_cores"_a = configuration.usable_cores,
                  "threads"_a = configuration.threads);
}

// What tests and documentation read of the op table.
py::object op_table(const Bound&) {
  py::list rows;
  for (const ir::OpSpec& row : ir::op_table()) {
    if (row.promotion == ir::Promotion::kInternal) continue;
    constexpr const char* kPromotions[] = {"internal", "numeric", "inexact",
                                           "integral", "logical", "comparison"};
    py::list dtypes;
    for (int i = 0; i < kDTypeCount; ++i) {
      if (ir::contains(row.accepts, static_cast<DType>(i))) {
        dtypes.append(python_name(static_cast<DType>(i)));
      }
    }
    rows.append(py::dict(
        "name"_a = row.name, "names"_a = python_names(row), "arity"_a = row.arity,
        "max_ulp"_a = row.max_ulp, "promotion"_a = kPromotions[static_cast<size_t>(row.promotion)],
        "computes_in"_a = dtypes, "gives_bool"_a = row.result == ir::ResultRule::kBool,
        "keeps_integers"_a = (row.traits & ir::kKeepsInts) != 0, "doc"_a = row.doc));
  }
  return rows;
}

constexpr Definition kSetNumThreads{"set_num_threads", "count, /", set_num_threads,
                                    R"(Sets how many threads one evaluation uses at most.

    Results never depend on it. Raises ValueError unless it is 1 to 1024.

    >>> lw.set_num_threads(1)
    >>> lw.get_num_threads()
    1
)"};
constexpr Definition kGetNumThreads{"get_num_threads", "", get_num_threads,
                                    R"(Threads that one evaluation uses at most.

    What set_num_threads set, else the environment variable LANEWISE_NUM_THREADS, else the cores
    that the process may use.

    >>> lw.get_num_threads() >= 1
    True
)"};
constexpr Definition kMemoryStats{"memory_stats", "", memory_stats,
                                  R"(Bytes in use by arrays, kept for reuse, and more, as a dict.

    in_use and cached are now, peak is the most that was in use; allocations counts buffers made,
    from_system those that needed new memory; limit (0: none) and cache_limit are as set.

    >>> lw.memory_stats()["in_use"] >= 0
    True
)"};
constexpr Definition kFreeCachedMemory{
    "free_cached_memory", "", free_cached_memory,
    R"(Gives memory of dead arrays, kept for reuse, back to the system.

    >>> lw.free_cached_memory()
)"};
constexpr Definition kSetMemoryLimit{
    "set_memory_limit", "limit=None, cache_limit=None", set_memory_limit,
    R"(Sets the bytes beyond which arrays raise MemoryError, and the bytes kept for reuse.

    None leaves a limit as it is, 0 is no limit. Raises ValueError for negative numbers.

    >>> lw.set_memory_limit(2**40)
    >>> lw.memory_stats()["limit"] == 2**40
    True
    >>> lw.set_memory_limit(0)
)"};
constexpr Definition kCacheStats{"cache_stats", "", cache_stats,
                                 R"(Kernels compiled, found in the cache, kept, evicted, as a dict.

    >>> lw.cache_stats()["compilations"] >= 0
    True
)"};
constexpr Definition kDiskCacheStats{
    "_disk_cache_stats", "", disk_cache_stats,
    "The cache of compiled kernels on disk: where, and what this process did with it, as a dict."};
constexpr Definition kDiskCacheSize{"_disk_cache_size", "", disk_cache_size,
                                    "Files and bytes of the cache on disk, as a dict."};
constexpr Definition kDiskCacheEntries{"_disk_cache_entries", "", disk_cache_entries,
                                       "The kernels of the cache on disk, as dicts."};
constexpr Definition kClearDiskCache{"_clear_disk_cache", "", clear_disk_cache,
                                     "Removes the cache on disk; files and bytes, as a dict."};
constexpr Definition kConfiguration{"_configuration", "", configuration,
                                    "What the process runs on, as a dict."};
constexpr Definition kOpTable{"op_table", "", op_table,
                              "Rows of the op table that are functions of Python, as dicts."};

}  // namespace

void add_system(py::module_& module) {
  add_functions(module, {python_function<kSetNumThreads>(), python_function<kGetNumThreads>(),
                         python_function<kMemoryStats>(), python_function<kFreeCachedMemory>(),
                         python_function<kSetMemoryLimit>(), python_function<kCacheStats>(),
                         python_function<kDiskCacheStats>(), python_function<kDiskCacheSize>(),
                         python_function<kDiskCacheEntries>(), python_function<kClearDiskCache>(),
                         python_function<kConfiguration>(), python_function<kOpTable>()});
}

}  // namespace lanewise::python
