#include "jit/detail/codegen.h"

#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Utils/Mem2Reg.h>

#include "jit/detail/llvm_error.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

namespace {

const char* const kTriple = "x86_64-unknown-linux-gnu";
// Besides what the target stands for.
const char* const kFeatures = "";
constexpr auto kFusion = llvm::FPOpFusion::Strict;
constexpr auto kRelocation = llvm::Reloc::PIC_;
constexpr auto kCodeModel = llvm::CodeModel::Small;
constexpr auto kLevel = llvm::CodeGenOptLevel::Less;

const llvm::Target& x86() {
  static const llvm::Target* const target = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    std::string error;
    const llvm::Target* found = llvm::TargetRegistry::lookupTarget(llvm::Triple(kTriple), error);
    if (found == nullptr) throw CompileError(format("llvm: {}", error));
    return found;
  }();
  return *target;
}

}  // namespace

std::string code_generation_identity(Target target) {
  const auto number = [](auto option) { return static_cast<int>(option); };
  return format("{} {} features '{}' fusion {} relocation {} model {} level {}", target, kTriple,
                kFeatures, number(kFusion), number(kRelocation), number(kCodeModel),
                number(kLevel));
}

CodeGenerator::CodeGenerator(Target target) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = kFusion;
  machine_.reset(x86().createTargetMachine(llvm::Triple(kTriple), to_string(target), kFeatures,
                                           options, kRelocation, kCodeModel, kLevel,
                                           /*JIT=*/true));
  if (machine_ == nullptr) throw CompileError(format("llvm: no code generator for {}", target));
}

std::unique_ptr<llvm::Module> CodeGenerator::new_module(llvm::LLVMContext& context,
                                                        const std::string& name) {
  auto module = std::make_unique<llvm::Module>(name, context);
  module->setTargetTriple(machine_->getTargetTriple());
  module->setDataLayout(machine_->createDataLayout());
  return module;
}

void CodeGenerator::optimize(llvm::Module& module) {
#ifndef NDEBUG
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream)) throw InternalError("llvm ir is malformed: " + text);
#endif
  llvm::PassBuilder builder(machine_.get());
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::PromotePass());
  passes.addPass(llvm::EarlyCSEPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                       /*UseMemorySSA=*/true));
  passes.addPass(llvm::DCEPass());
  for (llvm::Function& function : module) {
    if (!function.isDeclaration()) passes.run(function, functions);
  }
}

llvm::SmallVector<char, 0> CodeGenerator::generate(llvm::Module& module,
                                                   llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine_->addPassesToEmitFile(passes, stream, nullptr, type)) {
    throw CompileError("llvm: the code generator cannot write this kind of file");
  }
  passes.run(module);
  return bytes;
}

std::unique_ptr<llvm::MemoryBuffer> CodeGenerator::object(llvm::Module& module) {
  auto buffer = std::make_unique<llvm::SmallVectorMemoryBuffer>(
      generate(module, llvm::CodeGenFileType::ObjectFile), module.getName(),
      /*RequiresNullTerminator=*/false);
  const auto file = value_or_throw(
      llvm::object::ObjectFile::createObjectFile(buffer->getMemBufferRef()), "read object");
  for (const llvm::object::SymbolRef& symbol : file->symbols()) {
    const uint32_t flags = value_or_throw(symbol.getFlags(), "read object");
    if ((flags & llvm::object::SymbolRef::SF_Undefined) == 0) continue;
    const llvm::StringRef name = value_or_throw(symbol.getName(), "read object");
    if (name.empty()) continue;
    std::string text;
    llvm::raw_string_ostream(text) << module;
    throw InternalError(format("{}: code needs the symbol {}", module.getName().str(), name.str()),
                        text);
  }
  return buffer;
}

std::string CodeGenerator::assembly(llvm::Module& module) {
  const llvm::SmallVector<char, 0> bytes = generate(module, llvm::CodeGenFileType::AssemblyFile);
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace lanewise::jit
