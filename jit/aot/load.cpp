// Object files and archives that were compiled ahead of time, run without a linker.
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Object/Archive.h>
#include <llvm/Support/MemoryBuffer.h>

#include <atomic>
#include <cstdlib>

#include "jit/aot.h"
#include "jit/detail/compile_threads.h"
#include "jit/detail/llvm_error.h"
#include "jit/detail/orc.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

namespace {

namespace orc = llvm::orc;

// The object itself, or the only member of an archive.
std::unique_ptr<llvm::MemoryBuffer> object_in(const std::string& bytes, const std::string& name) {
  if (!llvm::StringRef(bytes).starts_with("!<arch>\n")) {
    return llvm::MemoryBuffer::getMemBufferCopy(bytes, name);
  }
  const auto archive = value_or_throw(
      llvm::object::Archive::create(llvm::MemoryBufferRef(bytes, name)), "read archive");
  llvm::Error error = llvm::Error::success();
  std::unique_ptr<llvm::MemoryBuffer> found;
  for (const auto& member : archive->children(error)) {
    if (found) throw CompileError(format("{}: an archive of more than one object", name));
    const llvm::MemoryBufferRef buffer =
        value_or_throw(member.getMemoryBufferRef(), "read archive");
    found = llvm::MemoryBuffer::getMemBufferCopy(buffer.getBuffer(), name);
  }
  throw_if(std::move(error), "read archive");
  if (!found) throw CompileError(format("{}: an empty archive", name));
  return found;
}

void define_c_functions(orc::LLJIT& jit, orc::JITDylib& library) {
  const auto symbol = [](auto* function) {
    return orc::ExecutorSymbolDef(orc::ExecutorAddr::fromPtr(function),
                                  llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable);
  };
  throw_if(library.define(orc::absoluteSymbols({
               {jit.mangleAndIntern("malloc"), symbol(&std::malloc)},
               {jit.mangleAndIntern("free"), symbol(&std::free)},
               {jit.mangleAndIntern("getenv"), symbol(&std::getenv)},
           })),
           "load object");
}

}  // namespace

const void* load_object(const std::string& bytes, const std::string& name) {
  const void* address = nullptr;
  run_on_compile_thread([&](CompileThread&) {
    orc::LLJIT& jit = object_linker();
    static std::atomic<int> serial{0};
    auto created = jit.getExecutionSession().createJITDylib(format("{}.{}", name, ++serial));
    if (!created) throw_error(created.takeError(), "load object");
    orc::JITDylib& library = *created;
    define_c_functions(jit, library);
    throw_if(jit.addObjectFile(library, object_in(bytes, name)), "load object");
    const auto found = value_or_throw(jit.lookup(library, "lanewise_library"), "load object");
    address = found.toPtr<const void*>();
  });
  return address;
}

}  // namespace lanewise::jit
