// Object files: kernels for two instruction sets, the tables that describe functions, C functions
// around them, and the runtime, which is assembly made when lanewise was built.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ArchiveWriter.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Support/TargetSelect.h>

#include <set>

#include "jit/aot.h"
#include "jit/aot/artefact.h"
#include "jit/aot/tables.h"
#include "jit/detail/compile_threads.h"
#include "jit/detail/llvm_error.h"
#include "jit/detail/nest.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::jit {

extern const char* const kRuntimeAssembly;

namespace {

class LibraryEmitter {
 public:
  LibraryEmitter(llvm::Module& module, const AotLibrary& library)
      : module_(module), library_(library), b_(module.getContext()) {}

  void emit() {
    module_.setModuleInlineAsm(std::string(kRuntimeAssembly));
    declare_runtime();
    for (const AotFunction& function : library_.functions) {
      functions_.push_back(emit_tables(function));
      emit_entries(function, functions_.back());
    }
    emit_message();
    emit_library();
  }

 private:
  llvm::Type* i32() { return b_.getInt32Ty(); }
  llvm::Type* i64() { return b_.getInt64Ty(); }
  llvm::Type* pointer() { return b_.getPtrTy(); }

  // ---- data ----
  llvm::GlobalVariable* constant(llvm::Constant* value, const std::string& name, unsigned align) {
    auto* const variable = new llvm::GlobalVariable(module_, value->getType(), true,
                                                    llvm::GlobalValue::PrivateLinkage, value, name);
    variable->setAlignment(llvm::Align(align));
    return variable;
  }
  llvm::Constant* text(const std::string& value, const std::string& name) {
    return constant(llvm::ConstantDataArray::getString(module_.getContext(), value), name, 1);
  }
  llvm::Constant* words(const std::vector<int64_t>& values, const std::string& name) {
    const std::vector<uint64_t> bits(values.begin(), values.end());
    return constant(llvm::ConstantDataArray::get(module_.getContext(), bits), name, 8);
  }
  llvm::Constant* pointers(const std::vector<llvm::Constant*>& values, const std::string& name) {
    if (values.empty()) return llvm::ConstantPointerNull::get(b_.getPtrTy());
    auto* const type = llvm::ArrayType::get(pointer(), values.size());
    return constant(llvm::ConstantArray::get(type, values), name, 8);
  }
  llvm::Constant* number(int64_t value) { return b_.getInt64(static_cast<uint64_t>(value)); }

  // ---- functions ----
  // Runs on any x86-64: it is what finds out about the CPU.
  llvm::Function* plain_function(const std::string& name, llvm::Type* result,
                                 const std::vector<llvm::Type*>& parameters,
                                 llvm::GlobalValue::LinkageTypes linkage) {
    auto* const type = llvm::FunctionType::get(result, parameters, false);
    llvm::Function* const function = llvm::Function::Create(type, linkage, name, module_);
    function->addFnAttr("target-cpu", "x86-64");
    function->addFnAttr(llvm::Attribute::NoUnwind);
    return function;
  }

  void declare_runtime() {
    const auto declare = [&](const char* name, llvm::Type* result,
                             const std::vector<llvm::Type*>& parameters) {
      llvm::Function* const function =
          plain_function(name, result, parameters, llvm::GlobalValue::ExternalLinkage);
      function->setDSOLocal(true);
      return function;
    };
    llvm::Type* const p = pointer();
    run_ = declare("lanewise_runtime_run", i32(), {p, p, p, p, i64(), i64()});
    query_ = declare("lanewise_runtime_query", i32(), {p, p, p, p});
    message_ = declare("lanewise_runtime_message", p, {i32()});
  }

  llvm::Constant* emit_tables(const AotFunction& function) {
    const Tables tables = make_tables(function);
    std::vector<llvm::Constant*> kernels;
    for (const ArtefactCode& code : tables.codes) {
      for (const Target target : {Target::kX86_64_v3, Target::kX86_64_v4}) {
        const std::string name = format("{}.{}.{}", function.symbol, kernels.size() / 2, target);
        emit_kernel(module_, name, *code.kernel, function.program, code.layout, target);
        llvm::Function* const kernel = module_.getFunction(name);
        kernel->setLinkage(llvm::GlobalValue::InternalLinkage);
        kernels.push_back(kernel);
      }
    }
    std::vector<llvm::Constant*> constants;
    for (const std::string& bytes : function.constants) {
      constants.push_back(constant(llvm::ConstantDataArray::getString(module_.getContext(), bytes,
                                                                      /*AddNull=*/bytes.empty()),
                                   function.symbol + ".constant", 64));
    }
    auto* const type = llvm::StructType::get(pointer(), pointer(), pointer());
    return llvm::ConstantStruct::get(type, {words(tables.words, function.symbol + ".words"),
                                            pointers(kernels, function.symbol + ".kernels"),
                                            pointers(constants, function.symbol + ".constants")});
  }

  llvm::Type* number_type(const AotFunction& function, const AotParameter& parameter) {
    const DType dtype = function.program.scalars[static_cast<size_t>(parameter.index)];
    if (dtype == DType::kF32) return b_.getFloatTy();
    if (dtype == DType::kF64) return b_.getDoubleTy();
    return b_.getIntNTy(static_cast<unsigned>(8 * size_of(dtype)));
  }

  // A C function with the prototype's arguments, then `more`.
  llvm::Function* c_function(const AotFunction& function, const std::string& suffix,
                             const std::vector<llvm::Type*>& more) {
    std::vector<llvm::Type*> types;
    for (const AotParameter& parameter : function.parameters) {
      types.push_back(parameter.is_number ? number_type(function, parameter) : pointer());
    }
    types.insert(types.end(), function.results.size(), pointer());
    types.insert(types.end(), more.begin(), more.end());
    llvm::Function* const result =
        plain_function(function.symbol + suffix, i32(), types, llvm::GlobalValue::ExternalLinkage);
    for (unsigned i = 0; i < function.parameters.size(); ++i) {
      const AotParameter& parameter = function.parameters[i];
      if (!parameter.is_number || !types[i]->isIntegerTy()) continue;
      const DType dtype = function.program.scalars[static_cast<size_t>(parameter.index)];
      if (size_of(dtype) < 4) {
        result->addParamAttr(i,
                             is_signed_int(dtype) ? llvm::Attribute::SExt : llvm::Attribute::ZExt);
      }
    }
    b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", result));
    return result;
  }

  struct Gathered {
    llvm::Value* tensors;
    llvm::Value* numbers;
  };
  // The arguments of a C function in arrays, as the runtime takes them.
  Gathered gather(const AotFunction& function, llvm::Function* entry) {
    const size_t tensor_count = function.tensor_inputs() + function.results.size();
    auto* const tensors = b_.CreateAlloca(llvm::ArrayType::get(pointer(), tensor_count + 1));
    auto* const numbers = b_.CreateAlloca(llvm::ArrayType::get(i64(), function.numbers() + 1));
    const auto store = [&](llvm::Value* array, size_t index, llvm::Value* value) {
      b_.CreateStore(value, b_.CreateConstInBoundsGEP1_64(i64(), array, index));
    };
    unsigned at = 0;
    for (const AotParameter& parameter : function.parameters) {
      llvm::Value* value = entry->getArg(at++);
      const auto index = static_cast<size_t>(parameter.index);
      if (!parameter.is_number) {
        store(tensors, index, value);
        continue;
      }
      if (value->getType()->isFloatTy()) value = b_.CreateBitCast(value, i32());
      if (value->getType()->isDoubleTy()) value = b_.CreateBitCast(value, i64());
      store(numbers, index, b_.CreateZExt(value, i64()));
    }
    for (size_t k = 0; k < function.results.size(); ++k) {
      store(tensors, function.tensor_inputs() + k, entry->getArg(at++));
    }
    return {tensors, numbers};
  }

  void emit_entries(const AotFunction& function, llvm::Constant* record) {
    llvm::Constant* const self = constant(record, function.symbol + ".function", 8);
    llvm::Constant* const null = llvm::ConstantPointerNull::get(b_.getPtrTy());
    llvm::Function* entry = c_function(function, "", {});
    Gathered arguments = gather(function, entry);
    b_.CreateRet(b_.CreateCall(
        run_, {self, arguments.tensors, arguments.numbers, null, number(-1), number(-1)}));
    const auto from_end = [&](unsigned i) { return entry->getArg(entry->arg_size() - i); };
    entry = c_function(function, "_range", {i64(), i64(), pointer()});
    arguments = gather(function, entry);
    // A negative start would mean everything; the runtime refuses ends beyond the range.
    llvm::Value* const negative = b_.CreateICmpSLT(from_end(3), number(0));
    llvm::Value* const first = b_.CreateSelect(negative, number(INT64_MAX), from_end(3));
    b_.CreateRet(b_.CreateCall(
        run_, {self, arguments.tensors, arguments.numbers, from_end(1), first, from_end(2)}));
    entry = c_function(function, "_query", {pointer(), pointer()});
    arguments = gather(function, entry);
    b_.CreateRet(b_.CreateCall(query_, {self, arguments.tensors, from_end(2), from_end(1)}));
  }

  void emit_message() {
    llvm::Function* const function = plain_function(library_.name + "_message", pointer(), {i32()},
                                                    llvm::GlobalValue::ExternalLinkage);
    b_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function));
    b_.CreateRet(b_.CreateCall(message_, {function->getArg(0)}));
  }

  // Weak: several libraries may be linked into one program, where nobody looks for it.
  void emit_library() {
    auto* const type = llvm::StructType::get(pointer(), pointer(), pointer());
    auto* const all = llvm::ArrayType::get(type, functions_.size());
    llvm::Constant* const functions =
        constant(llvm::ConstantArray::get(all, functions_), "functions", 8);
    llvm::Constant* const record = llvm::ConstantStruct::getAnon(
        {number(lw_artefact_format), text(library_.version, "version"),
         text(library_.manifest, "manifest"), run_, query_, message_,
         number(static_cast<int64_t>(functions_.size())), functions});
    auto* const variable =
        new llvm::GlobalVariable(module_, record->getType(), true,
                                 llvm::GlobalValue::WeakAnyLinkage, record, "lanewise_library");
    variable->setAlignment(llvm::Align(8));
  }

  llvm::Module& module_;
  const AotLibrary& library_;
  llvm::IRBuilder<> b_;
  llvm::Function* run_ = nullptr;
  llvm::Function* query_ = nullptr;
  llvm::Function* message_ = nullptr;
  std::vector<llvm::Constant*> functions_;
};

// Only the C library's most basic functions may be missing.
void check_symbols(llvm::MemoryBufferRef object) {
  static const std::set<std::string> kAllowed{"malloc", "free", "getenv"};
  const auto file =
      value_or_throw(llvm::object::ObjectFile::createObjectFile(object), "read object");
  for (const llvm::object::SymbolRef& symbol : file->symbols()) {
    const uint32_t flags = value_or_throw(symbol.getFlags(), "read object");
    if ((flags & llvm::object::SymbolRef::SF_Undefined) == 0) continue;
    const std::string name = value_or_throw(symbol.getName(), "read object").str();
    if (name.empty() || kAllowed.contains(name)) continue;
    throw InternalError(format("ahead of time: code needs the symbol {}", name));
  }
}

}  // namespace

std::string compile_object(const AotLibrary& library) {
  std::string bytes;
  run_on_compile_thread([&](CompileThread& thread) {
    llvm::InitializeNativeTargetAsmParser();
    llvm::LLVMContext context;
    context.setDiscardValueNames(true);
    CodeGenerator& generator = thread.generator(Target::kX86_64_v3);
    const auto module = generator.new_module(context, library.name);
    LibraryEmitter(*module, library).emit();
    generator.optimize(*module);
    const llvm::SmallVector<char, 0> object = generator.file(*module);
    check_symbols({llvm::StringRef(object.data(), object.size()), library.name});
    bytes.assign(object.begin(), object.end());
  });
  return bytes;
}

std::string make_archive(const std::string& object, const std::string& member_name) {
  std::vector<llvm::NewArchiveMember> members;
  members.emplace_back(llvm::MemoryBufferRef(object, member_name));
  const auto buffer = value_or_throw(
      llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NormalSymtab,
                                 llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                 /*Thin=*/false),
      "write archive");
  return buffer->getBuffer().str();
}

}  // namespace lanewise::jit
