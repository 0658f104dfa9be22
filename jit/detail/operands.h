// Loads and stores of a kernel's operands along the innermost loop, by layout class. Nothing
// outside the operands' elements is written, nothing outside what they span is read.
#pragma once

#include <vector>

#include "ir/kernel.h"
#include "jit/detail/vector_builder.h"
#include "runtime/nest.h"

namespace lanewise::jit {

// The alignment of any address.
inline constexpr llvm::Align kAnywhere{};

// Elements index ... index + lanes - 1 of the row, or fewer: lanes of `VectorBuilder::active`.
struct Position {
  llvm::Value* index = nullptr;  // i64
  llvm::Value* count = nullptr;  // i64, 1 to lanes; null: all lanes
};

class Operands {
 public:
  Operands(VectorBuilder& builder, const ir::Kernel& kernel, const ir::Program& program,
           const runtime::Layout& layout);

  size_t size() const { return operands_.size(); }
  bool is_index(size_t operand) const { return operands_[operand].is_index; }
  // The type of an operand's place: a pointer, or the value of an index.
  llvm::Type* place_type(size_t operand) {
    return is_index(operand) ? static_cast<llvm::Type*>(b_.getInt64Ty()) : b_.getPtrTy();
  }
  llvm::Value* advance(size_t operand, llvm::Value* place, llvm::Value* stride);

  // Starts a row: the operands' places there, and their strides along it.
  void enter_row(std::vector<llvm::Value*> places, std::vector<llvm::Value*> strides);
  // Starts the code for one position: shared loads are loaded anew.
  void enter_position() { wide_.clear(); }

  // Whether a row needs an element after those that a full position covers, so that wide loads
  // stay within it.
  bool needs_one_more() const;

  // The first `count` lanes, as a mask.
  llvm::Value* lanes_below(llvm::Value* count);

  // The element of an operand that is the same all along the row.
  llvm::Value* load_invariant(size_t operand, DType dtype);
  llvm::Value* load(size_t operand, DType dtype, const Position& position);
  void store(size_t operand, llvm::Value* value, const Position& position, bool streaming);
  // The operand's element at the place itself.
  void store_one(size_t operand, llvm::Value* value);

 private:
  struct Operand {
    runtime::OperandLayout layout;
    DType dtype = DType::kI64;
    bool is_index = false;
    bool is_loaded = false;
    int last_column = 0;  // kSmall: the highest column of its group
    int64_t bytes() const { return size_of(dtype); }
  };

  // ---- addresses ----
  llvm::Value* at(size_t operand, llvm::Value* index, int64_t elements = 0);
  llvm::Value* strided(size_t operand, llvm::Value* index);
  llvm::Value* offset(llvm::Value* address, llvm::Value* bytes) {
    return b_.CreateGEP(b_.getInt8Ty(), address, bytes);
  }

  // ---- parts of loads and stores (operands_partial.cpp) ----
  bool has_masked_access(const Operand& operand) const {
    return b_.has_avx512() || operand.bytes() >= 4;
  }
  llvm::Value* load_first(const Operand& operand, llvm::Value* address, llvm::Value* count,
                          llvm::Value* mask);
  void store_first(const Operand& operand, llvm::Value* value, llvm::Value* address,
                   llvm::Value* count);
  llvm::Value* load_last(const Operand& operand, llvm::Value* address, llvm::Value* count);
  void store_last(const Operand& operand, llvm::Value* value, llvm::Value* address,
                  llvm::Value* count);
  llvm::Value* gather(size_t operand, llvm::Value* address, llvm::Value* count);
  void scatter(size_t operand, llvm::Value* value, llvm::Value* address, llvm::Value* count);
  llvm::Value* scratch();
  llvm::Value* load_scratch(llvm::Type* type);
  void copy_bytes(llvm::Value* to, llvm::Value* from, llvm::Value* count);
  void copy_strided(llvm::Value* to, llvm::Value* to_stride, llvm::Value* from,
                    llvm::Value* from_stride, llvm::Type* element, llvm::Value* count);

  llvm::Value* load_in_memory(size_t operand, const Position& position);
  void store_in_memory(size_t operand, llvm::Value* value, const Position& position,
                       bool streaming);
  llvm::Value* load_column(size_t operand, const Position& position);
  std::vector<llvm::Value*> load_wide(size_t operand, const Position& position);
  llvm::Value* load_each(size_t operand, llvm::Value* address);
  void store_each(size_t operand, llvm::Value* value, llvm::Value* address);
  llvm::Value* index_values(size_t operand, DType dtype, const Position& position);
  llvm::Value* in_register(llvm::Value* value, DType dtype);
  llvm::Value* in_memory(llvm::Value* value);

  VectorBuilder& b_;
  std::vector<Operand> operands_;
  std::vector<llvm::Value*> places_;
  std::vector<llvm::Value*> strides_;
  std::vector<std::pair<int, std::vector<llvm::Value*>>> wide_;  // by group: the wide loads
  llvm::Value* scratch_ = nullptr;
};

}  // namespace lanewise::jit
