#include "jit/detail/nest.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "jit/detail/column_tiles.h"
#include "jit/detail/frame.h"
#include "jit/detail/line.h"
#include "jit/detail/reductions.h"
#include "jit/detail/scans.h"

namespace lanewise::jit {

namespace {

class NestEmitter {
 public:
  explicit NestEmitter(Frame& frame) : frame_(frame), b_(frame.b) {}

  void emit() {
    frame_.enter();
    frame_.emit(frame_.plan.uniform,
                [&](const ir::Node& node) { return frame_.load_scalar(node); });
    frame_.emit_loops(0, frame_.plan.outer_loops,
                      [&] { frame_.layout.columns ? emit_columns() : emit_row(); });
    if (streams_) b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
    b_.CreateRetVoid();
  }

 private:
  // ---- one row after the other ----

  void emit_row() {
    const KernelPlan& plan = frame_.plan;
    if (frame_.layout.portion != runtime::Portion::kWhole) return emit_portion(plan.walks[0]);
    for (size_t i = 0; i < plan.walks.size(); ++i) {
      emit_row_section(plan.rows[i]);
      emit_walk(plan.walks[i]);
    }
    end_row();
  }

  // Part of a row with one walk, or what all parts join to.
  void emit_portion(const Walk& walk) {
    emit_row_section(frame_.plan.rows[0]);
    if (frame_.layout.portion != runtime::Portion::kJoin) return emit_walk(walk);
    Scans scans(frame_, walk);
    if (!scans.empty()) return scans.join();
    Reductions::join(frame_, walk);
    end_row();
  }

  void end_row() {
    emit_row_section(frame_.plan.rows.back());
    for (const ir::Store* store : frame_.plan.row_stores) {
      frame_.operands.store_one(static_cast<size_t>(store->operand),
                                frame_.body.value(store->value));
    }
  }

  void emit_row_section(const ScalarSection& section) {
    frame_.enter_line();
    frame_.emit(section, [&](const ir::Node& node) { return frame_.load_invariant(node); });
  }

  void emit_walk(const Walk& walk) {
    const std::unique_ptr<Reductions> reductions = Reductions::make(frame_, walk);
    Scans scans(frame_, walk);
    reductions->begin();
    scans.begin();
    frame_.emit_loops(frame_.plan.outer_loops, frame_.layout.rank - 1, [&] {
      emit_row_section(walk.line);
      const auto points = [&](const Position& position, bool streaming) {
        enter_vectors(position);
        emit_points(walk, *reductions, scans, position, streaming);
        leave_vectors();
      };
      if (frame_.layout.streaming && can_stream(frame_, walk)) {
        streams_ = true;
        emit_streaming_line(frame_, walk, points);
      } else {
        const bool only_reduces = walk.stores.empty();
        emit_line(frame_, points, [&]() -> llvm::Value* {
          if (!only_reduces) return nullptr;
          b_.lanes = frame_.plan.lanes;
          llvm::Value* const decided = reductions->decided();
          b_.lanes = 1;
          return decided;
        });
      }
    });
    if (frame_.layout.portion == runtime::Portion::kRange) {
      reductions->store_state(frame_.state_place());
    } else {
      reductions->finish();
    }
  }

  // ---- neighbouring rows side by side ----

  void emit_columns() {
    emit_row_section(frame_.plan.rows.front());
    if (reduces_by_tiles(frame_)) return emit_column_tiles(frame_);
    emit_line(frame_, [&](const Position& position, bool) {
      enter_vectors(position);
      const KernelPlan& plan = frame_.plan;
      for (size_t i = 0; i < plan.walks.size(); ++i) {
        emit_column_section(plan.columns[i], position);
        emit_column_walk(plan.walks[i], position);
      }
      emit_column_section(plan.columns.back(), position);
      for (const ir::Store* store : plan.row_stores) emit_store(*store, position, false);
      leave_vectors();
    });
  }

  void emit_column_section(const Section& section, const Position& position) {
    frame_.enter_line();
    frame_.body.emit(section, [&](const ir::Node& node) {
      return frame_.operands.load(Frame::slot(node), node.dtype, position);
    });
  }

  void emit_column_walk(const Walk& walk, const Position& position) {
    const std::unique_ptr<Reductions> reductions = Reductions::make(frame_, walk);
    Scans scans(frame_, walk);
    reductions->begin();
    scans.begin();
    frame_.emit_loops(frame_.plan.outer_loops + 1, frame_.layout.rank, [&] {
      b_.lanes = 1;
      emit_row_section(walk.line);
      b_.lanes = frame_.plan.lanes;
      emit_points(walk, *reductions, scans, position, false);
    });
    reductions->finish();
    frame_.enter_line();
  }

  // ---- vectors ----

  void enter_vectors(const Position& position) {
    b_.lanes = frame_.plan.lanes;
    if (position.count != nullptr) b_.active = frame_.operands.lanes_below(position.count);
  }

  void leave_vectors() {
    b_.active = nullptr;
    b_.lanes = 1;
  }

  void emit_points(const Walk& walk, Reductions& reductions, Scans& scans, const Position& position,
                   bool streaming) {
    frame_.operands.enter_position();
    for (const Walk::Carried& carried : walk.carried) {
      const DType dtype = frame_.kernel.body[ir::Value{carried.node}].dtype;
      frame_.body.set({carried.node}, frame_.operands.load(carried.operand, dtype, position));
    }
    frame_.body.emit(walk.point, [&](const ir::Node& node) {
      if (ir::is_scan(node.op)) return scans.emit(node, position);
      return frame_.operands.load(Frame::slot(node), node.dtype, position);
    });
    for (const Walk::Carried& saved : walk.saved) {
      frame_.operands.store(saved.operand, frame_.body.value({saved.node}), position, false);
    }
    scans.advance(position);
    reductions.add(position);
    if (frame_.layout.portion == runtime::Portion::kRange) return;
    for (const ir::Store* store : walk.stores) emit_store(*store, position, streaming);
  }

  void emit_store(const ir::Store& store, const Position& position, bool streaming) {
    frame_.operands.store(static_cast<size_t>(store.operand), frame_.body.value(store.value),
                          position, streaming && is_streamed(frame_, store));
  }

  Frame& frame_;
  VectorBuilder& b_;
  bool streams_ = false;
};

}  // namespace

void emit_kernel(llvm::Module& module, const std::string& name, const ir::Kernel& kernel,
                 const ir::Program& program, const runtime::Layout& layout, Target target) {
  llvm::LLVMContext& context = module.getContext();
  auto* const type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                             {llvm::PointerType::getUnqual(context)}, false);
  llvm::Function* const function =
      new_function(module, name, type, llvm::GlobalValue::ExternalLinkage, target);
  function->getArg(0)->addAttr(llvm::Attribute::NonNull);
  Frame frame(function, kernel, program, layout, target);
  NestEmitter(frame).emit();
}

}  // namespace lanewise::jit
