// The scans of one walk over a row, or over neighbouring rows side by side, in the order of
// ir/scan_order.h.
#pragma once

#include <vector>

#include "jit/detail/frame.h"
#include "jit/detail/reducer.h"

namespace lanewise::jit {

class Scans {
 public:
  Scans(Frame& frame, const Walk& walk);

  static int64_t state_bytes(const ir::Kernel& kernel);
  // Makes of the states of blocks, which are what they come to, where each starts.
  void join();

  bool empty() const { return scans_.empty(); }
  void begin();  // of a row
  // The results of a scan at the elements there.
  llvm::Value* emit(const ir::Node& node, const Position& position);
  // After all scans of a position.
  void advance(const Position& position);

 private:
  struct Scan {
    const ir::Node* node;
    Reducer reducer;
    llvm::Value* chunk_carry;     // in memory: the sum so far of the block's earlier chunks
    llvm::Value* block_carry;     // in memory: of the earlier blocks
    llvm::Value* open = nullptr;  // where elements come one by one: what later ones of a chunk take
  };

  llvm::Value* state(size_t scan, llvm::Value* index);
  // Whether vectors hold whole chunks.
  bool by_chunks() const { return !frame_.layout.columns && frame_.layout.reduced == 1; }
  llvm::Type* element(const Scan& scan);
  llvm::Value* chunk(const Scan& scan, llvm::Value* elements);
  llvm::Value* next_chunk(const Scan& scan, llvm::Value* elements, llvm::Value* index);
  llvm::Value* next_element(const Scan& scan, llvm::Value* element, llvm::Value* index);
  llvm::Value* each_element(const Scan& scan, llvm::Value* elements, const Position& position);
  void emit_if(llvm::Value* condition, const std::function<void()>& inside);

  Frame& frame_;
  VectorBuilder& b_;
  std::vector<Scan> scans_;
  llvm::Value* place_ = nullptr;    // in memory: the number of the next element in the row
  llvm::Value* scratch_ = nullptr;  // a vector in memory
};

}  // namespace lanewise::jit
