#include "jit/detail/operands.h"

#include <algorithm>

namespace lanewise::jit {

using runtime::Stride;

namespace {

// Foreign arrays may lie anywhere, and on x86 it makes no difference.

}  // namespace

Operands::Operands(VectorBuilder& builder, const ir::Kernel& kernel, const ir::Program& program,
                   const runtime::Layout& layout)
    : b_(builder) {
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    const int buffer = kernel.operands[i].buffer;
    Operand operand{.layout = layout.operands[i], .is_index = buffer == ir::Operand::kIndex};
    if (!operand.is_index) operand.dtype = program.buffers[static_cast<size_t>(buffer)].dtype;
    operands_.push_back(operand);
  }
  // The states of rows.
  if (layout.portion != runtime::Portion::kWhole) operands_.push_back({});
  for (const ir::Node& node : kernel.body.nodes()) {
    if (node.op == ir::Op::kLoad) operands_[node.get<ir::Slot>().index].is_loaded = true;
  }
  for (Operand& operand : operands_) {
    operand.last_column = operand.layout.column;
    for (const Operand& other : operands_) {
      if (operand.layout.group < 0 || other.layout.group != operand.layout.group) continue;
      operand.last_column = std::max(operand.last_column, other.layout.column);
    }
  }
}

llvm::Value* Operands::advance(size_t operand, llvm::Value* place, llvm::Value* stride) {
  return is_index(operand) ? b_.CreateAdd(place, stride) : offset(place, stride);
}

void Operands::enter_row(std::vector<llvm::Value*> places, std::vector<llvm::Value*> strides) {
  places_ = std::move(places);
  strides_ = std::move(strides);
  wide_.clear();
}

bool Operands::needs_one_more() const {
  return std::ranges::any_of(operands_, [](const Operand& operand) {
    return operand.is_loaded && operand.layout.stride == Stride::kSmall;
  });
}

// ---- addresses ----------------------------------------------------------------------------

llvm::Value* Operands::at(size_t operand, llvm::Value* index, int64_t elements) {
  llvm::Type* const element = b_.getIntNTy(8 * static_cast<unsigned>(operands_[operand].bytes()));
  llvm::Value* const address = b_.CreateGEP(element, places_[operand], index);
  return elements == 0 ? address : b_.CreateGEP(element, address, b_.getInt64(elements));
}

llvm::Value* Operands::strided(size_t operand, llvm::Value* index) {
  return offset(places_[operand], b_.CreateMul(index, strides_[operand]));
}

// ---- loads --------------------------------------------------------------------------------

llvm::Value* Operands::in_register(llvm::Value* value, DType dtype) {
  return is_bool(dtype) ? b_.CreateICmpNE(value, b_.like(value, 0)) : value;
}

llvm::Value* Operands::in_memory(llvm::Value* value) {
  const bool is_bool = value->getType()->isIntOrIntVectorTy(1);
  return is_bool ? b_.CreateZExt(value, b_.vector_of(b_.getInt8Ty())) : value;
}

llvm::Value* Operands::load_invariant(size_t operand, DType dtype) {
  if (is_index(operand)) return b_.CreateTrunc(places_[operand], b_.element(dtype));
  return in_register(b_.CreateAlignedLoad(b_.element_in_memory(dtype), places_[operand], kAnywhere),
                     dtype);
}

llvm::Value* Operands::load(size_t operand, DType dtype, const Position& position) {
  if (is_index(operand)) return index_values(operand, dtype, position);
  return in_register(load_in_memory(operand, position), dtype);
}

llvm::Value* Operands::load_in_memory(size_t operand, const Position& position) {
  const Operand& o = operands_[operand];
  llvm::Type* const type = b_.vector_of(b_.element_in_memory(o.dtype));
  switch (o.layout.stride) {
    case Stride::kUnit: {
      llvm::Value* const address = at(operand, position.index);
      if (position.count == nullptr) return b_.CreateAlignedLoad(type, address, kAnywhere);
      return load_first(o, address, position.count, b_.active);
    }
    case Stride::kReversed: {
      llvm::Value* const first = at(operand, b_.CreateNeg(position.index), 1 - b_.lanes);
      if (position.count != nullptr) return b_.reverse(load_last(o, first, position.count));
      return b_.reverse(b_.CreateAlignedLoad(type, first, kAnywhere));
    }
    case Stride::kSmall:
      return load_column(operand, position);
    case Stride::kBroadcast:
      return b_.broadcast(b_.CreateAlignedLoad(type->getScalarType(), places_[operand], kAnywhere));
    case Stride::kOther: {
      llvm::Value* const address = strided(operand, position.index);
      return position.count == nullptr ? load_each(operand, address)
                                       : gather(operand, address, position.count);
    }
  }
  __builtin_unreachable();
}

llvm::Value* Operands::load_each(size_t operand, llvm::Value* address) {
  llvm::Type* const element = b_.element_in_memory(operands_[operand].dtype);
  llvm::Value* result = llvm::PoisonValue::get(b_.vector_of(element));
  for (int lane = 0; lane < b_.lanes; ++lane) {
    llvm::Value* const bytes = b_.CreateMul(strides_[operand], b_.getInt64(lane));
    llvm::Value* const loaded = b_.CreateAlignedLoad(element, offset(address, bytes), kAnywhere);
    result = b_.CreateInsertElement(result, loaded, static_cast<uint64_t>(lane));
  }
  return result;
}

// `step` loads of `lanes` elements that cover all rows of the position, from the group's lowest
// column on; those of a partial position end with the last element that some column needs.
std::vector<llvm::Value*> Operands::load_wide(size_t operand, const Position& position) {
  const Operand& o = operands_[operand];
  const int step = o.layout.step;
  llvm::Value* const first =
      at(operand, b_.CreateMul(position.index, b_.getInt64(step)), -o.layout.column);
  llvm::Value* needed = nullptr;
  if (position.count != nullptr) {
    llvm::Value* const last_row = b_.CreateSub(position.count, b_.getInt64(1));
    needed =
        b_.CreateAdd(b_.CreateMul(last_row, b_.getInt64(step)), b_.getInt64(o.last_column + 1));
  }
  llvm::Type* const element = b_.element_in_memory(o.dtype);
  std::vector<llvm::Value*> parts;
  for (int part = 0; part < step; ++part) {
    llvm::Value* const address = b_.CreateGEP(element, first, b_.getInt64(part * b_.lanes));
    if (needed == nullptr) {
      parts.push_back(b_.CreateAlignedLoad(b_.vector_of(element), address, kAnywhere));
      continue;
    }
    llvm::Value* const start = b_.getInt64(part * b_.lanes);
    llvm::Value* const rest = b_.call(llvm::Intrinsic::usub_sat, needed, start);
    llvm::Value* const count = b_.call(llvm::Intrinsic::umin, rest, b_.getInt64(b_.lanes));
    parts.push_back(load_first(o, address, count, nullptr));
  }
  return parts;
}

llvm::Value* Operands::load_column(size_t operand, const Position& position) {
  const Operand& o = operands_[operand];
  const int group = o.layout.group;
  std::vector<llvm::Value*> parts;
  const auto known = std::ranges::find(wide_, group, [](const auto& entry) { return entry.first; });
  if (group >= 0 && known != wide_.end()) {
    parts = known->second;
  } else {
    parts = load_wide(operand, position);
    if (group >= 0) wide_.emplace_back(group, parts);
  }
  llvm::SmallVector<llvm::Value*, 4> padded(parts.begin(), parts.end());
  if (padded.size() == 3) padded.push_back(llvm::PoisonValue::get(padded[0]->getType()));
  llvm::SmallVector<int, 64> column;
  for (int lane = 0; lane < b_.lanes; ++lane) {
    column.push_back(lane * o.layout.step + o.layout.column);
  }
  return b_.CreateShuffleVector(b_.concatenate(padded), column);
}

llvm::Value* Operands::index_values(size_t operand, DType dtype, const Position& position) {
  llvm::Type* const element = b_.element(dtype);
  llvm::Value* const step =
      operands_[operand].layout.stride == Stride::kUnit ? b_.getInt64(1) : strides_[operand];
  llvm::Value* const start = b_.CreateAdd(places_[operand], b_.CreateMul(position.index, step));
  llvm::Value* const steps = b_.broadcast(b_.CreateTrunc(step, element));
  llvm::Value* const lanes = b_.CreateStepVector(b_.vector(dtype));
  return b_.CreateAdd(b_.broadcast(b_.CreateTrunc(start, element)), b_.CreateMul(steps, lanes));
}

// ---- stores -------------------------------------------------------------------------------

void Operands::store(size_t operand, llvm::Value* value, const Position& position, bool streaming) {
  store_in_memory(operand, in_memory(value), position, streaming);
}

void Operands::store_one(size_t operand, llvm::Value* value) {
  b_.CreateAlignedStore(in_memory(value), places_[operand], kAnywhere);
}

void Operands::store_in_memory(size_t operand, llvm::Value* value, const Position& position,
                               bool streaming) {
  const Operand& o = operands_[operand];
  switch (o.layout.stride) {
    case Stride::kUnit: {
      llvm::Value* const address = at(operand, position.index);
      if (position.count != nullptr) return store_first(o, value, address, position.count);
      llvm::StoreInst* const store = b_.CreateAlignedStore(value, address, kAnywhere);
      if (!streaming) return;
      // Narrower alignment would silently make narrow stores of it.
      store->setAlignment(
          llvm::Align(static_cast<uint64_t>(std::min<int64_t>(64, b_.lanes * o.bytes()))));
      llvm::Metadata* const one = llvm::ConstantAsMetadata::get(b_.getInt32(1));
      store->setMetadata(llvm::LLVMContext::MD_nontemporal,
                         llvm::MDNode::get(b_.getContext(), one));
      return;
    }
    case Stride::kReversed: {
      llvm::Value* const first = at(operand, b_.CreateNeg(position.index), 1 - b_.lanes);
      llvm::Value* const reversed = b_.reverse(value);
      if (position.count != nullptr) return store_last(o, reversed, first, position.count);
      b_.CreateAlignedStore(reversed, first, kAnywhere);
      return;
    }
    case Stride::kBroadcast: {
      // Every element of the row goes to one place, and the last one stays.
      llvm::Value* const count = position.count != nullptr ? position.count : b_.getInt64(b_.lanes);
      llvm::Value* const last = b_.CreateSub(count, b_.getInt64(1));
      b_.CreateAlignedStore(b_.CreateExtractElement(value, last), places_[operand], kAnywhere);
      return;
    }
    case Stride::kSmall:
    case Stride::kOther: {
      llvm::Value* const address = strided(operand, position.index);
      if (position.count != nullptr) return scatter(operand, value, address, position.count);
      return store_each(operand, value, address);
    }
  }
}

void Operands::store_each(size_t operand, llvm::Value* value, llvm::Value* address) {
  for (int lane = 0; lane < b_.lanes; ++lane) {
    llvm::Value* const bytes = b_.CreateMul(strides_[operand], b_.getInt64(lane));
    b_.CreateAlignedStore(b_.CreateExtractElement(value, static_cast<uint64_t>(lane)),
                          offset(address, bytes), kAnywhere);
  }
}

}  // namespace lanewise::jit
