#include "jit/detail/line.h"

#include <algorithm>

namespace lanewise::jit {

namespace {

constexpr int64_t kStreamAlignment = 64;

// Whole vectors end here at the latest.
llvm::Value* whole_limit(Frame& frame) {
  VectorBuilder& b = frame.b;
  return frame.operands.needs_one_more() ? b.CreateSub(frame.line_size, b.getInt64(1))
                                         : frame.line_size;
}

// The element from which all streamed outputs are aligned, or the line's size if there is none.
// Scans and ordered reductions want positions that are multiples of a vector: the first or none.
llvm::Value* aligned_start(Frame& frame, const Walk& walk) {
  VectorBuilder& b = frame.b;
  llvm::Value* start = nullptr;
  llvm::Value* all_aligned = b.getTrue();
  for (const ir::Store* store : walk.stores) {
    if (!is_streamed(frame, *store)) continue;
    llvm::Value* const address =
        b.CreatePtrToInt(frame.places[static_cast<size_t>(store->operand)], b.getInt64Ty());
    const int64_t bytes = size_of(frame.kernel.body[store->value].dtype);
    if (start == nullptr) {
      llvm::Value* const missing =
          b.CreateAnd(b.CreateNeg(address), b.getInt64(kStreamAlignment - 1));
      start = b.CreateUDiv(missing, b.getInt64(bytes));
    }
    llvm::Value* const there = b.CreateAdd(address, b.CreateMul(start, b.getInt64(bytes)));
    llvm::Value* const excess = b.CreateAnd(there, b.getInt64(kStreamAlignment - 1));
    all_aligned = b.CreateAnd(all_aligned, b.CreateICmpEQ(excess, b.getInt64(0)));
  }
  const bool from_first_only =
      !walk.reductions.empty() || std::ranges::any_of(walk.point.nodes, [&](uint32_t node) {
        return ir::is_scan(frame.kernel.body[ir::Value{node}].op);
      });
  if (from_first_only) {
    all_aligned = b.CreateAnd(all_aligned, b.CreateICmpEQ(start, b.getInt64(0)));
  }
  llvm::Value* const within = b.call(llvm::Intrinsic::smin, start, frame.line_size);
  return b.CreateSelect(all_aligned, within, frame.line_size);
}

}  // namespace

bool is_streamed(const Frame& frame, const ir::Store& store) {
  const auto operand = static_cast<size_t>(store.operand);
  if (frame.layout.operands[operand].stride != runtime::Stride::kUnit) return false;
  // What lies there until then has brought the memory into the cache.
  return std::ranges::none_of(frame.plan.walks, [&](const Walk& walk) {
    return std::ranges::find(walk.saved, operand, &Walk::Carried::operand) != walk.saved.end();
  });
}

bool can_stream(const Frame& frame, const Walk& walk) {
  return std::ranges::any_of(walk.stores,
                             [&](const ir::Store* store) { return is_streamed(frame, *store); });
}

void emit_line(Frame& frame, const EmitPoints& points, const Decided& decided) {
  VectorBuilder& b = frame.b;
  const int64_t lanes = frame.plan.lanes;
  llvm::Value* const whole = b.CreateAnd(whole_limit(frame), b.getInt64(-lanes));
  llvm::BasicBlock* const main = b.block("vectors");
  llvm::BasicBlock* const tail = b.block("tail");
  llvm::BasicBlock* const rest = b.block("rest");
  llvm::BasicBlock* const after = b.block("line_done");
  llvm::BasicBlock* const before = b.GetInsertBlock();
  b.CreateCondBr(b.CreateICmpNE(whole, b.getInt64(0)), main, tail);

  b.SetInsertPoint(main);
  llvm::PHINode* const index = b.CreatePHI(b.getInt64Ty(), 2);
  points({index, nullptr}, false);
  if (llvm::Value* const no_more = decided ? decided() : nullptr) {
    llvm::BasicBlock* const go_on = b.block("undecided");
    b.CreateCondBr(no_more, after, go_on);
    b.SetInsertPoint(go_on);
  }
  llvm::Value* const next = b.CreateAdd(index, b.getInt64(lanes));
  index->addIncoming(b.getInt64(0), before);
  index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpNE(next, whole), main, tail);

  b.SetInsertPoint(tail);
  llvm::Value* const left = b.CreateSub(frame.line_size, whole);
  b.CreateCondBr(b.CreateICmpNE(left, b.getInt64(0)), rest, after);
  b.SetInsertPoint(rest);
  points({whole, left}, false);
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

// Parts of vectors up to where the outputs are aligned, then whole ones, then parts again: the code
// for parts is shared. Outputs that are not all aligned at once go in parts altogether.
void emit_streaming_line(Frame& frame, const Walk& walk, const EmitPoints& points) {
  VectorBuilder& b = frame.b;
  llvm::Value* const lanes = b.getInt64(frame.plan.lanes);
  llvm::BasicBlock* const parts = b.block("parts");
  llvm::BasicBlock* const part = b.block("part");
  llvm::BasicBlock* const parts_done = b.block("parts_done");
  llvm::BasicBlock* const main = b.block("vectors");
  llvm::BasicBlock* const main_test = b.block("vectors_test");
  llvm::BasicBlock* const after = b.block("line_done");
  llvm::Value* const aligned = aligned_start(frame, walk);
  llvm::Value* const limit = b.CreateSub(whole_limit(frame), lanes);
  llvm::BasicBlock* const before = b.GetInsertBlock();
  b.CreateBr(parts);

  b.SetInsertPoint(parts);
  llvm::PHINode* const start = b.CreatePHI(b.getInt64Ty(), 3);
  llvm::PHINode* const goal = b.CreatePHI(b.getInt64Ty(), 3);
  start->addIncoming(b.getInt64(0), before);
  goal->addIncoming(aligned, before);
  b.CreateCondBr(b.CreateICmpSLT(start, goal), part, parts_done);

  b.SetInsertPoint(part);
  llvm::Value* const left = b.CreateSub(goal, start);
  llvm::Value* const count = b.call(llvm::Intrinsic::smin, left, lanes);
  points({start, count}, false);
  start->addIncoming(b.CreateAdd(start, count), b.GetInsertBlock());
  goal->addIncoming(goal, b.GetInsertBlock());
  b.CreateBr(parts);

  b.SetInsertPoint(parts_done);
  b.CreateCondBr(b.CreateICmpEQ(goal, frame.line_size), after, main_test);

  b.SetInsertPoint(main_test);
  llvm::PHINode* const index = b.CreatePHI(b.getInt64Ty(), 2);
  index->addIncoming(start, parts_done);
  start->addIncoming(index, main_test);
  goal->addIncoming(frame.line_size, main_test);
  b.CreateCondBr(b.CreateICmpSLE(index, limit), main, parts);
  b.SetInsertPoint(main);
  points({index, nullptr}, true);
  index->addIncoming(b.CreateAdd(index, lanes), b.GetInsertBlock());
  b.CreateBr(main_test);
  b.SetInsertPoint(after);
}

}  // namespace lanewise::jit
