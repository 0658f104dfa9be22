#include "jit/detail/scans.h"

#include <algorithm>
#include <bit>

#include "ir/scan_order.h"

namespace lanewise::jit {

namespace {

constexpr int64_t kStateBytes = 8;  // of one scan
constexpr int kLevels = std::countr_zero(static_cast<unsigned>(ir::kScanChunk));

ir::Op reduction_of(ir::Op scan) {
  return scan == ir::Op::kCumulativeSum ? ir::Op::kSum : ir::Op::kProd;
}

}  // namespace

Scans::Scans(Frame& frame, const Walk& walk) : frame_(frame), b_(frame.b) {
  for (const uint32_t number : walk.point.nodes) {
    const ir::Node& node = frame.kernel.body[ir::Value{number}];
    if (!ir::is_scan(node.op)) continue;
    Scan scan{&node, Reducer(reduction_of(node.op), node.dtype), nullptr, nullptr};
    scan.chunk_carry = b_.stack(element(scan));
    scan.block_carry = b_.stack(element(scan));
    if (!by_chunks()) scan.open = b_.stack(llvm::ArrayType::get(element(scan), kLevels));
    scans_.push_back(scan);
  }
  if (scans_.empty() || by_chunks()) return;
  place_ = b_.stack(b_.getInt64Ty());
  if (!frame.layout.columns) {
    scratch_ = b_.stack(b_.vector_of(b_.getInt64Ty(), frame.plan.lanes));
  }
}

// What one row has one of.
llvm::Type* Scans::element(const Scan& scan) {
  return b_.vector_of(b_.element(scan.reducer.dtype()),
                      frame_.layout.columns ? frame_.plan.lanes : 1);
}

void Scans::begin() {
  if (place_ != nullptr) b_.CreateStore(b_.getInt64(0), place_);
  const bool resumes = frame_.layout.portion == runtime::Portion::kResume;
  for (size_t i = 0; i < scans_.size(); ++i) {
    const Scan& scan = scans_[i];
    llvm::Value* const identity = scan.reducer.identity(b_)[0];
    b_.CreateStore(identity, scan.chunk_carry);
    b_.CreateStore(resumes ? b_.CreateLoad(element(scan), state(i, b_.getInt64(0))) : identity,
                   scan.block_carry);
  }
}

int64_t Scans::state_bytes(const ir::Kernel& kernel) {
  return kStateBytes * std::ranges::count_if(kernel.body.nodes(), [](const ir::Node& node) {
           return ir::is_scan(node.op);
         });
}

// Of the block in which the element lies.
llvm::Value* Scans::state(size_t scan, llvm::Value* index) {
  llvm::Value* const block = b_.CreateUDiv(index, b_.getInt64(ir::kScanBlock));
  llvm::Value* const stride = frame_.stride(frame_.kernel.operands.size(), frame_.layout.rank - 1);
  llvm::Value* const place =
      b_.CreateGEP(b_.getInt8Ty(), frame_.state_place(), b_.CreateMul(block, stride));
  return b_.CreateConstGEP1_64(b_.getInt8Ty(), place, kStateBytes * scan);
}

void Scans::join() {
  for (const Scan& scan : scans_) b_.CreateStore(scan.reducer.identity(b_)[0], scan.block_carry);
  frame_.emit_loops(frame_.layout.rank - 1, frame_.layout.rank, [&] {
    for (size_t i = 0; i < scans_.size(); ++i) {
      const Scan& scan = scans_[i];
      llvm::Value* const place = state(i, b_.getInt64(0));
      llvm::Value* const of_block = b_.CreateLoad(element(scan), place);
      llvm::Value* const start = b_.CreateLoad(element(scan), scan.block_carry);
      b_.CreateStore(start, place);
      b_.CreateStore(scan.reducer.merge(b_, {start}, {of_block})[0], scan.block_carry);
    }
  });
}

void Scans::advance(const Position& position) {
  if (place_ == nullptr) return;
  llvm::Value* step = b_.getInt64(1);
  if (!frame_.layout.columns) {
    step = position.count != nullptr ? position.count : b_.getInt64(b_.lanes);
  }
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), place_), step), place_);
}

llvm::Value* Scans::emit(const ir::Node& node, const Position& position) {
  llvm::Value* const elements = frame_.body.value(node.operands[0]);
  for (const Scan& scan : scans_) {
    if (scan.node != &node) continue;
    if (by_chunks()) return next_chunk(scan, elements, position.index);
    if (!frame_.layout.columns) return each_element(scan, elements, position);
    return next_element(scan, elements, b_.CreateLoad(b_.getInt64Ty(), place_));
  }
  __builtin_unreachable();
}

// ---- a chunk in a vector ------------------------------------------------------------------

llvm::Value* Scans::chunk(const Scan& scan, llvm::Value* elements) {
  for (int h = 1; h < ir::kScanChunk; h *= 2) {
    llvm::SmallVector<int, 16> from;
    llvm::SmallVector<llvm::Constant*, 16> takes;
    for (int i = 0; i < ir::kScanChunk; ++i) {
      from.push_back((i & h) != 0 ? (i & ~(2 * h - 1)) + h - 1 : i);
      takes.push_back(b_.getInt1((i & h) != 0));
    }
    llvm::Value* const earlier = b_.CreateShuffleVector(elements, from);
    const Parts combined = scan.reducer.merge(b_, {earlier}, {elements});
    elements = b_.select(llvm::ConstantVector::get(takes), combined[0], elements);
  }
  return elements;
}

// The carries come from last elements alone, so that chunks depend on each other by one addition.
llvm::Value* Scans::next_chunk(const Scan& scan, llvm::Value* elements, llvm::Value* index) {
  llvm::Type* const type = element(scan);
  llvm::Value* const scanned = chunk(scan, elements);
  llvm::Value* const chunks = b_.CreateLoad(type, scan.chunk_carry);
  llvm::Value* const blocks = b_.CreateLoad(type, scan.block_carry);
  llvm::Value* const in_block = scan.reducer.merge(b_, {b_.broadcast(chunks)}, {scanned})[0];
  llvm::Value* const result = scan.reducer.merge(b_, {b_.broadcast(blocks)}, {in_block})[0];
  const int lanes = b_.lanes;
  llvm::Value* const last = b_.CreateExtractElement(scanned, static_cast<uint64_t>(lanes - 1));
  b_.lanes = 1;
  llvm::Value* const next_chunks = scan.reducer.merge(b_, {chunks}, {last})[0];
  llvm::Value* const next_blocks = scan.reducer.merge(b_, {blocks}, {next_chunks})[0];
  llvm::Value* const place = b_.CreateAnd(index, b_.getInt64(ir::kScanBlock - 1));
  llvm::Value* const is_last = b_.CreateICmpEQ(place, b_.getInt64(ir::kScanBlock - ir::kScanChunk));
  if (frame_.layout.portion == runtime::Portion::kRange) {
    const auto number = static_cast<size_t>(&scan - scans_.data());
    emit_if(is_last, [&] { b_.CreateStore(next_chunks, state(number, index)); });
  }
  b_.CreateStore(b_.select(is_last, scan.reducer.identity(b_)[0], next_chunks), scan.chunk_carry);
  b_.CreateStore(b_.select(is_last, next_blocks, blocks), scan.block_carry);
  b_.lanes = lanes;
  return result;
}

// ---- element after element ----------------------------------------------------------------

void Scans::emit_if(llvm::Value* condition, const std::function<void()>& inside) {
  llvm::BasicBlock* const then = b_.block("then");
  llvm::BasicBlock* const after = b_.block("after");
  b_.CreateCondBr(condition, then, after);
  b_.SetInsertPoint(then);
  inside();
  b_.CreateBr(after);
  b_.SetInsertPoint(after);
}

// `open` holds at level l what elements with bit l in their number take: the value that the last
// element before their half had when this level was reached.
llvm::Value* Scans::next_element(const Scan& scan, llvm::Value* element, llvm::Value* index) {
  llvm::Type* const type = element->getType();
  const auto ends_with = [&](int64_t mask, int64_t bits) {
    return b_.CreateICmpEQ(b_.CreateAnd(index, b_.getInt64(static_cast<uint64_t>(mask))),
                           b_.getInt64(static_cast<uint64_t>(bits)));
  };
  const auto after = [&](llvm::Value* earlier, llvm::Value* later) {
    return scan.reducer.merge(b_, {earlier}, {later})[0];
  };
  for (int level = 0; level < kLevels; ++level) {
    const int64_t h = int64_t{1} << level;
    llvm::Value* const slot = b_.CreateConstGEP1_64(type, scan.open, static_cast<uint64_t>(level));
    llvm::Value* const before = element;
    emit_if(ends_with(2 * h - 1, h - 1), [&] { b_.CreateStore(before, slot); });
    element = b_.select(ends_with(h, h), after(b_.CreateLoad(type, slot), before), before);
  }
  llvm::Value* const in_block = after(b_.CreateLoad(type, scan.chunk_carry), element);
  llvm::Value* const result = after(b_.CreateLoad(type, scan.block_carry), in_block);
  emit_if(ends_with(ir::kScanChunk - 1, ir::kScanChunk - 1),
          [&] { b_.CreateStore(in_block, scan.chunk_carry); });
  emit_if(ends_with(ir::kScanBlock - 1, ir::kScanBlock - 1), [&] {
    b_.CreateStore(scan.reducer.identity(b_)[0], scan.chunk_carry);
    b_.CreateStore(result, scan.block_carry);
  });
  return result;
}

llvm::Value* Scans::each_element(const Scan& scan, llvm::Value* elements,
                                 const Position& position) {
  llvm::Type* const type = element(scan);
  llvm::Type* const vector = elements->getType();
  llvm::Value* const count =
      position.count != nullptr ? position.count : b_.getInt64(static_cast<uint64_t>(b_.lanes));
  llvm::Value* const first = b_.CreateLoad(b_.getInt64Ty(), place_);
  b_.CreateAlignedStore(elements, scratch_, llvm::Align());
  llvm::BasicBlock* const before = b_.GetInsertBlock();
  llvm::BasicBlock* const loop = b_.block("element");
  llvm::BasicBlock* const after = b_.block("elements_done");
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  llvm::PHINode* const lane = b_.CreatePHI(b_.getInt64Ty(), 2);
  llvm::Value* const slot = b_.CreateGEP(type, scratch_, lane);
  const int lanes = b_.lanes;
  b_.lanes = 1;
  b_.CreateStore(next_element(scan, b_.CreateLoad(type, slot), b_.CreateAdd(first, lane)), slot);
  b_.lanes = lanes;
  llvm::Value* const next = b_.CreateAdd(lane, b_.getInt64(1));
  lane->addIncoming(b_.getInt64(0), before);
  lane->addIncoming(next, b_.GetInsertBlock());
  b_.CreateCondBr(b_.CreateICmpNE(next, count), loop, after);
  b_.SetInsertPoint(after);
  return b_.CreateAlignedLoad(vector, scratch_, llvm::Align());
}

}  // namespace lanewise::jit
