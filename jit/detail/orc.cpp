#include "jit/detail/orc.h"

#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>

#include <atomic>

#include "jit/detail/fork_lock.h"
#include "jit/detail/llvm_error.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

namespace {

namespace orc = llvm::orc;

// What ORC reported on this thread besides the error it returned.
thread_local std::string reported;  // NOLINT(runtime/string)

orc::LLJIT* make_jit() {
  // Objects come ready made: no code generator is needed, nor made (making one takes longer than
  // linking), and of the data layout only how names are mangled matters.
  const auto never_compile = [](orc::JITTargetMachineBuilder machine)
      -> llvm::Expected<std::unique_ptr<orc::IRCompileLayer::IRCompiler>> {
    return std::make_unique<orc::ConcurrentIRCompiler>(std::move(machine));
  };
  const llvm::Triple triple("x86_64-unknown-linux-gnu");
  auto jit = value_or_throw(orc::LLJITBuilder()
                                .setJITTargetMachineBuilder(orc::JITTargetMachineBuilder(triple))
                                .setDataLayout(llvm::DataLayout("e-m:e"))
                                .setCompileFunctionCreator(never_compile)
                                .setLinkProcessSymbolsByDefault(false)
                                .setPlatformSetUp(orc::setUpInactivePlatform)
                                .create(),
                            "start ORC");
  jit->getExecutionSession().setErrorReporter(
      [](llvm::Error error) { reported += llvm::toString(std::move(error)) + "; "; });
  return jit.release();
}

}  // namespace

// Never destroyed: code may run until the process ends.
orc::LLJIT& object_linker() {
  static orc::LLJIT* const jit = make_jit();
  return *jit;
}

// Each object is a library of its own, so that symbols of different objects may be equal.
struct LoadedObject::Library {
  orc::JITDylib& dylib;
};

LoadedObject::LoadedObject(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& symbol) {
  orc::LLJIT& jit = object_linker();
  static std::atomic<uint64_t> serial{0};
  orc::ExecutionSession& session = jit.getExecutionSession();
  orc::JITDylib& dylib = session.createBareJITDylib(format("kernel{}", ++serial));
  library_ = std::make_unique<Library>(Library{dylib});
  reported.clear();
  llvm::Error error = jit.addObjectFile(dylib, std::move(object));
  if (!error) {
    auto found = jit.lookup(dylib, symbol);
    if (found) {
      address_ = found->toPtr<void*>();
      return;
    }
    error = found.takeError();
  }
  llvm::consumeError(session.removeJITDylib(dylib));
  throw CompileError(
      format("llvm: link {}: {}{}", symbol, reported, llvm::toString(std::move(error))));
}

LoadedObject::~LoadedObject() {
  const ForkLock::Holder holder;
  llvm::consumeError(object_linker().getExecutionSession().removeJITDylib(library_->dylib));
}

}  // namespace lanewise::jit
