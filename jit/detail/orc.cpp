#include "jit/detail/orc.h"

#include <llvm/ExecutionEngine/Orc/LLJIT.h>

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
  orc::JITTargetMachineBuilder machine(llvm::Triple("x86_64-unknown-linux-gnu"));
  machine.setCPU("x86-64-v3");  // objects come ready made
  auto jit = value_or_throw(orc::LLJITBuilder()
                                .setJITTargetMachineBuilder(std::move(machine))
                                .setLinkProcessSymbolsByDefault(false)
                                .setPlatformSetUp(orc::setUpInactivePlatform)
                                .create(),
                            "start ORC");
  jit->getExecutionSession().setErrorReporter(
      [](llvm::Error error) { reported += llvm::toString(std::move(error)) + "; "; });
  return jit.release();
}

// Never destroyed: code may run until the process ends.
orc::LLJIT& the_jit() {
  static orc::LLJIT* const jit = make_jit();
  return *jit;
}

}  // namespace

struct LoadedObject::Tracker {
  orc::ResourceTrackerSP resources;
};

LoadedObject::LoadedObject(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& symbol) {
  orc::LLJIT& jit = the_jit();
  tracker_ = std::make_unique<Tracker>(Tracker{jit.getMainJITDylib().createResourceTracker()});
  reported.clear();
  llvm::Error error = jit.addObjectFile(tracker_->resources, std::move(object));
  if (!error) {
    auto found = jit.lookup(symbol);
    if (found) {
      address_ = found->toPtr<void*>();
      return;
    }
    error = found.takeError();
  }
  llvm::consumeError(tracker_->resources->remove());
  throw CompileError(
      format("llvm: link {}: {}{}", symbol, reported, llvm::toString(std::move(error))));
}

LoadedObject::~LoadedObject() {
  const ForkLock::Holder holder;
  llvm::consumeError(tracker_->resources->remove());
}

}  // namespace lanewise::jit
