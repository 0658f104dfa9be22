// Entries of constant tables: permutes of registers while the table fits in few, else loads.
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "jit/detail/primitives.h"

namespace lanewise::jit {

namespace {

using ir::Table;

llvm::Constant* entry(VectorBuilder& b, const Table& table, size_t index) {
  return b.like_bits(llvm::PoisonValue::get(b.element(table.dtype)),
                     table.entries[index % table.entries.size()]);
}

// `count` entries from `start` on, counted round and round.
llvm::Constant* entries(VectorBuilder& b, const Table& table, size_t start, size_t count) {
  llvm::SmallVector<llvm::Constant*, 64> values;
  for (size_t i = 0; i < count; ++i) values.push_back(entry(b, table, start + i));
  return llvm::ConstantVector::get(values);
}

// ---- loads --------------------------------------------------------------------------------

llvm::GlobalVariable* table_in_memory(VectorBuilder& b, const Table& table) {
  llvm::Module& module = *b.function->getParent();
  const std::string name = "table." + table.name;
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  llvm::SmallVector<llvm::Constant*, 64> values;
  for (size_t i = 0; i < table.entries.size(); ++i) values.push_back(entry(b, table, i));
  auto* const type = llvm::ArrayType::get(b.element(table.dtype), values.size());
  auto* const variable =
      new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::PrivateLinkage,
                               llvm::ConstantArray::get(type, values), name);
  variable->setAlignment(llvm::Align(64));
  return variable;
}

llvm::Value* load_entries(VectorBuilder& b, const Table& table, llvm::Value* index) {
  llvm::GlobalVariable* const memory = table_in_memory(b, table);
  llvm::Type* const element = b.element(table.dtype);
  const auto load = [&](llvm::Value* lane) {
    llvm::Value* const wide = b.CreateZExt(lane, b.getInt64Ty());
    return b.CreateLoad(element, b.CreateInBoundsGEP(element, memory, wide));
  };
  if (b.lanes == 1) return load(index);
  llvm::Value* result = llvm::PoisonValue::get(b.vector(table.dtype));
  for (int lane = 0; lane < b.lanes; ++lane) {
    const auto number = static_cast<uint64_t>(lane);
    result = b.CreateInsertElement(result, load(b.CreateExtractElement(index, number)), number);
  }
  return result;
}

// ---- permutes -----------------------------------------------------------------------------

// Chooses between results for the lower and the upper halves of a table, by a bit of the index.
llvm::Value* choose(VectorBuilder& b, llvm::Value* index, size_t bit, llvm::Value* low,
                    llvm::Value* high) {
  llvm::Value* const flag = b.CreateAnd(index, b.like_bits(index, bit));
  return b.select(b.CreateICmpNE(flag, b.like(flag, 0)), high, low);
}

// The result of `permute(start)`, which covers entries from `start` on, `covered` at a time.
llvm::Value* permute_parts(VectorBuilder& b, const Table& table, llvm::Value* index, size_t covered,
                           const std::function<llvm::Value*(size_t)>& permute) {
  std::vector<llvm::Value*> parts;
  for (size_t start = 0; start < table.entries.size(); start += covered) {
    parts.push_back(permute(start));
  }
  for (size_t bit = covered; parts.size() > 1; bit *= 2) {
    for (size_t i = 0; i < parts.size() / 2; ++i) {
      parts[i] = choose(b, index, bit, parts[2 * i], parts[2 * i + 1]);
    }
    parts.resize(parts.size() / 2);
  }
  return parts[0];
}

// One AVX-512 register of results. `index` is as wide as the entries.
llvm::Value* permute_zmm(VectorBuilder& b, const Table& table, llvm::Value* index) {
  namespace intrinsic = llvm::Intrinsic;
  const size_t size = size_of(table.dtype) == 4 ? 16 : 8;
  const bool floats = is_float(table.dtype);
  if (table.entries.size() <= size) {
    const auto one = size == 16 ? (floats ? intrinsic::x86_avx512_permvar_sf_512
                                          : intrinsic::x86_avx512_permvar_si_512)
                                : (floats ? intrinsic::x86_avx512_permvar_df_512
                                          : intrinsic::x86_avx512_permvar_di_512);
    return b.CreateIntrinsic(one, {entries(b, table, 0, size), index});
  }
  const auto two = size == 16 ? (floats ? intrinsic::x86_avx512_vpermi2var_ps_512
                                        : intrinsic::x86_avx512_vpermi2var_d_512)
                              : (floats ? intrinsic::x86_avx512_vpermi2var_pd_512
                                        : intrinsic::x86_avx512_vpermi2var_q_512);
  return permute_parts(b, table, index, 2 * size, [&](size_t start) {
    return b.CreateIntrinsic(
        two, {entries(b, table, start, size), index, entries(b, table, start + size, size)});
  });
}

// One AVX2 register of 4-byte results.
llvm::Value* permute_ymm4(VectorBuilder& b, const Table& table, llvm::Value* index) {
  const auto intrinsic =
      is_float(table.dtype) ? llvm::Intrinsic::x86_avx2_permps : llvm::Intrinsic::x86_avx2_permd;
  return permute_parts(b, table, index, 8, [&](size_t start) {
    return b.CreateIntrinsic(intrinsic, {entries(b, table, start, 8), index});
  });
}

// One AVX2 register of 8-byte results: AVX2 permutes their halves.
llvm::Value* permute_ymm8(VectorBuilder& b, const Table& table, llvm::Value* index) {
  auto* const words = llvm::FixedVectorType::get(b.getInt32Ty(), 8);
  // Words 2i and 2i + 1 in the halves of a 64-bit element; bits that do not fit are ignored.
  llvm::Value* const even = b.CreateShl(index, 1);
  llvm::Value* const both = b.CreateOr(even, b.CreateShl(index, 33));
  llvm::Value* const pairs =
      b.CreateBitCast(b.CreateOr(both, b.like_bits(both, uint64_t{1} << 32)), words);
  return permute_parts(b, table, index, 4, [&](size_t start) {
    llvm::SmallVector<uint32_t, 8> part;
    for (size_t i = 0; i < 4; ++i) {
      const uint64_t bits = table.entries[(start + i) % table.entries.size()];
      part.append({static_cast<uint32_t>(bits), static_cast<uint32_t>(bits >> 32)});
    }
    llvm::Value* const chosen =
        b.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd,
                          {llvm::ConstantDataVector::get(b.getContext(), part), pairs});
    return b.CreateBitCast(chosen, b.vector(table.dtype));
  });
}

size_t largest_permuted(const VectorBuilder& b, int bytes) {
  if (bytes < 4 || b.lanes == 1) return 0;
  if (b.has_avx512()) return bytes == 4 ? 64 : 32;
  return bytes == 4 ? 32 : 8;
}

}  // namespace

llvm::Value* emit_table_lookup(VectorBuilder& b, const Operation& op) {
  const Table& table = *op.node.get<const Table*>();
  const int bytes = size_of(table.dtype);
  llvm::Value* const number = b.CreateIntCast(
      op.a(), b.vector_of(b.getIntNTy(8 * std::max(4U, unsigned(bytes)))), is_signed_int(op.dtype));
  llvm::Value* const index = b.CreateAnd(number, b.like_bits(number, table.entries.size() - 1));
  if (table.entries.size() > largest_permuted(b, bytes)) return load_entries(b, table, index);
  const int piece = (b.has_avx512() ? 64 : 32) / bytes;
  return b.by_pieces(piece, {index}, [&](llvm::ArrayRef<llvm::Value*> part) {
    if (b.has_avx512()) return permute_zmm(b, table, part[0]);
    return bytes == 4 ? permute_ymm4(b, table, part[0]) : permute_ymm8(b, table, part[0]);
  });
}

}  // namespace lanewise::jit
