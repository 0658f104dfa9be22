#include <dlfcn.h>

#include "frontend/aot.h"
#include "jit/aot.h"
#include "jit/aot/artefact.h"
#include "support/dlpack.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

const lw_library& library_at(const void* record) { return *static_cast<const lw_library*>(record); }

lw_tensor as_dlpack(const AotTensor& tensor) {
  return {.data = tensor.data,
          .device_type = dlpack::kCpu,
          .device_id = 0,
          .rank = static_cast<int32_t>(tensor.shape.size()),
          .dtype_code = static_cast<uint8_t>(jit::dlpack_code(tensor.dtype)),
          .dtype_bits = static_cast<uint8_t>(8 * size_of(tensor.dtype)),
          .dtype_lanes = 1,
          .shape = const_cast<int64_t*>(tensor.shape.data()),
          .strides = const_cast<int64_t*>(tensor.strides.data()),
          .byte_offset = 0};
}

}  // namespace

LoadedLibrary::LoadedLibrary(const void* record, const std::string& name) : record_(record) {
  const int64_t format_number = library_at(record).format;
  if (format_number != lw_artefact_format) {
    throw UnsupportedError(
        format("load: {} was built by a version of lanewise with another interface ({}; this one "
               "has {}): compile it again",
               name, format_number, int{lw_artefact_format}));
  }
}

LoadedLibrary LoadedLibrary::from_object(const std::string& bytes, const std::string& name) {
  return {jit::load_object(bytes, name), name};
}

LoadedLibrary LoadedLibrary::from_shared_library(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw CompileError(format("load: {}", dlerror()));
  const void* const record = dlsym(handle, "lanewise_library");
  if (record == nullptr) {
    dlclose(handle);
    throw CompileError(format("load: {} was not made by lanewise.compile_aot", path));
  }
  return {record, path};
}

std::string LoadedLibrary::version() const { return library_at(record_).version; }
std::string LoadedLibrary::manifest() const { return library_at(record_).manifest; }
size_t LoadedLibrary::function_count() const {
  return static_cast<size_t>(library_at(record_).function_count);
}

int32_t LoadedLibrary::call(size_t function, std::span<const AotTensor> tensors,
                            std::span<const uint64_t> numbers) const {
  std::vector<lw_tensor> all;
  std::vector<const lw_tensor*> pointers;
  all.reserve(tensors.size());
  for (const AotTensor& tensor : tensors) {
    all.push_back(as_dlpack(tensor));
    pointers.push_back(&all.back());
  }
  const lw_library& library = library_at(record_);
  return library.run(&library.functions[function], pointers.data(), numbers.data(), nullptr, -1,
                     -1);
}

std::string LoadedLibrary::message(int32_t code) const { return library_at(record_).message(code); }

}  // namespace lanewise::frontend
