#include "jit/compiler.h"

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LLVMContext.h>

#include "jit/detail/cache.h"
#include "jit/detail/compile_threads.h"
#include "jit/detail/disk_cache.h"
#include "jit/detail/fork_lock.h"
#include "jit/detail/nest.h"
#include "jit/detail/orc.h"
#include "jit/detail/reductions.h"
#include "jit/detail/scans.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

namespace {

class KernelCode final : public Code {
 public:
  explicit KernelCode(std::unique_ptr<LoadedObject> object) : object_(std::move(object)) {
    entry_ = reinterpret_cast<runtime::KernelFunction>(object_->address());
  }

 private:
  std::unique_ptr<LoadedObject> object_;
};

struct Request {
  const ir::Kernel& kernel;
  const ir::Program& program;
  const runtime::Layout& layout;
  Target target;
};

// "lanewise_<name>_<hash>", for debuggers and profilers.
std::string symbol_name(const Request& request, const std::string& key) {
  std::string name = "lanewise_";
  for (const char c : request.kernel.name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += plain ? c : '_';
  }
  char hash[17];
  snprintf(hash, sizeof hash, "%016zx", std::hash<std::string>{}(key));
  return name + "_" + hash;
}

// Emitted and optimized.
std::unique_ptr<llvm::Module> make_module(const Request& request, const std::string& symbol,
                                          CodeGenerator& generator, llvm::LLVMContext& context) {
  auto module = generator.new_module(context, symbol);
  emit_kernel(*module, symbol, request.kernel, request.program, request.layout, request.target);
  generator.optimize(*module);
  return module;
}

CompiledCode link(std::unique_ptr<llvm::MemoryBuffer> object, const std::string& symbol) {
  const uint64_t bytes = object->getBufferSize();
  auto loaded = std::make_unique<LoadedObject>(std::move(object), symbol);
  return {std::make_shared<KernelCode>(std::move(loaded)), bytes};
}

// What an earlier process compiled, if there is such. On the calling thread: linking needs little
// stack (a test measures it), and handing it to another thread would take as long again.
std::optional<CompiledCode> load_code(const std::string& disk_key) {
  const ForkLock::Holder holder;
  std::optional<StoredObject> stored = disk_cache().load(disk_key);
  if (!stored) return {};
  try {
    CompiledCode code = link(llvm::MemoryBuffer::getMemBufferCopy(stored->object), stored->symbol);
    code.from_disk = true;
    return code;
  } catch (const CompileError& error) {
    disk_cache().reject(disk_key, error.what());
    return {};
  }
}

// `disk_key` is empty where code is not to be stored.
CompiledCode compile_code(const Request& request, const std::string& key,
                          const std::string& disk_key) {
  CompiledCode result;
  run_on_compile_thread([&](CompileThread& thread) {
    const std::string symbol = symbol_name(request, key);
    llvm::LLVMContext context;
    context.setDiscardValueNames(true);
    CodeGenerator& generator = thread.generator(request.target);
    const auto module = make_module(request, symbol, generator, context);
    auto object = generator.object(*module);
    if (!disk_key.empty()) disk_cache().store(disk_key, symbol, object->getBuffer());
    result = link(std::move(object), symbol);
  });
  return result;
}

CompiledCode make_code(const Request& request, const std::string& key) {
  if (!disk_cache_is_on()) return compile_code(request, key, "");
  const std::string on_disk = disk_key(key, request.target);
  if (std::optional<CompiledCode> loaded = load_code(on_disk)) return std::move(*loaded);
  return compile_code(request, key, on_disk);
}

template <class Print>
std::string printed(const Request& request, const Print& print) {
  const std::string symbol = symbol_name(
      request, cache_key(request.kernel, request.program, request.layout, request.target));
  std::string text;
  run_on_compile_thread([&](CompileThread& thread) {
    llvm::LLVMContext context;
    CodeGenerator& generator = thread.generator(request.target);
    const auto module = make_module(request, symbol, generator, context);
    text = print(generator, *module);
  });
  return text;
}

}  // namespace

std::shared_ptr<const Code> compile(const ir::Kernel& kernel, const ir::Program& program,
                                    const runtime::Layout& layout, Target target) {
  const std::string key = cache_key(kernel, program, layout, target);
  auto code = cached(key, [&] { return make_code({kernel, program, layout, target}, key); });
  deliver_warnings();
  return code;
}

RangeSupport range_support(const ir::Kernel& kernel, const ir::Program& program,
                           const runtime::Layout& layout, Target target) {
  const KernelPlan plan = make_plan(kernel, program, layout, target);
  if (can_reduce_ranges(kernel, plan, layout)) {
    return {.state_bytes = Reductions::state_bytes(kernel, plan.walks[0])};
  }
  if (can_scan_ranges(kernel, plan, layout)) {
    return {.state_bytes = Scans::state_bytes(kernel), .resumes = true};
  }
  return {};
}

std::string llvm_ir(const ir::Kernel& kernel, const ir::Program& program,
                    const runtime::Layout& layout, Target target) {
  return printed({kernel, program, layout, target}, [](CodeGenerator&, llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  });
}

std::string assembly(const ir::Kernel& kernel, const ir::Program& program,
                     const runtime::Layout& layout, Target target) {
  return printed(
      {kernel, program, layout, target},
      [](CodeGenerator& generator, llvm::Module& module) { return generator.assembly(module); });
}

std::string llvm_version() { return LLVM_VERSION_STRING; }

}  // namespace lanewise::jit
