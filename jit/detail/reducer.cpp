#include "jit/detail/reducer.h"

#include <limits>

#include "jit/detail/primitives.h"

namespace lanewise::jit {

using ir::Op;

namespace {

template <class T>
T identity_of(Op op) {
  using Limits = std::numeric_limits<T>;
  constexpr bool kFloat = std::is_floating_point_v<T>;
  switch (op) {
    case Op::kSum:
      return static_cast<T>(kFloat ? -0.0 : 0);
    case Op::kProd:
    case Op::kAll:
      return T(1);
    case Op::kMin:
    case Op::kArgMin:
      return kFloat ? Limits::infinity() : Limits::max();
    case Op::kMax:
    case Op::kArgMax:
      return static_cast<T>(kFloat ? -Limits::infinity() : Limits::lowest());
    default:
      return T(0);
  }
}

// The elementwise op that combines two elements.
Op combining_op(Op op) {
  switch (op) {
    case Op::kSum:
      return Op::kAdd;
    case Op::kProd:
      return Op::kMultiply;
    case Op::kMin:
    case Op::kAll:
      return Op::kMinimum;
    default:
      return Op::kMaximum;
  }
}

}  // namespace

bool Reducer::is_ordered() const {
  return is_float(dtype_) && (op_ == Op::kSum || op_ == Op::kProd || op_ == Op::kDeviations);
}

size_t Reducer::part_count() const {
  if (op_ == Op::kDeviations) return 3;
  return wants_index() ? 2 : 1;
}

llvm::SmallVector<llvm::Type*, 3> Reducer::part_types(VectorBuilder& b) const {
  llvm::SmallVector<llvm::Type*, 3> types(part_count(), b.element(dtype_));
  if (wants_index()) types[1] = b.getInt64Ty();
  return types;
}

// Where all elements equal the identity of argmin or argmax, the first of them is the answer, so
// that it can stand for position 0.
Parts Reducer::identity(VectorBuilder& b) const {
  Parts parts(part_count(), visit_dtype(dtype_, [&](auto zero) -> llvm::Value* {
                return b.constant(Scalar::of(identity_of<decltype(zero)>(op_)));
              }));
  if (wants_index()) parts[1] = b.integers(64, 0);
  return parts;
}

llvm::Value* Reducer::combine(VectorBuilder& b, llvm::Value* earlier, llvm::Value* later) const {
  const Op op = combining_op(op_);
  const ir::Node node{.op = op, .dtype = dtype_, .shape = {}};
  return emitter_of(op)(b, {.node = node, .dtype = dtype_, .operands = {earlier, later}});
}

// Less (or greater), or the first NaN.
llvm::Value* Reducer::is_better(VectorBuilder& b, llvm::Value* candidate, llvm::Value* best) const {
  const bool least = op_ == Op::kArgMin;
  if (is_float(dtype_)) {
    llvm::Value* const better =
        least ? b.CreateFCmpULT(candidate, best) : b.CreateFCmpUGT(candidate, best);
    return b.CreateAnd(better, b.CreateFCmpORD(best, best));
  }
  if (is_signed_int(dtype_)) {
    return least ? b.CreateICmpSLT(candidate, best) : b.CreateICmpSGT(candidate, best);
  }
  return least ? b.CreateICmpULT(candidate, best) : b.CreateICmpUGT(candidate, best);
}

Parts Reducer::take(VectorBuilder& b, const Parts& lanes, const Taken& elements) const {
  if (wants_index()) {
    llvm::Value* const better = is_better(b, elements.value, lanes[0]);
    return select(b, better, {elements.value, elements.index}, lanes);
  }
  if (op_ == Op::kDeviations) {
    llvm::Value* const origin = b.select(elements.is_first, elements.value, lanes[0]);
    llvm::Value* const deviation = b.CreateFSub(elements.value, origin);
    return {origin, b.CreateFAdd(lanes[1], deviation),
            b.CreateFAdd(lanes[2], b.CreateFMul(deviation, deviation))};
  }
  return {combine(b, lanes[0], elements.value)};
}

// Of deviations from an origin: count, mean, and the deviations from that.
Parts Reducer::close(VectorBuilder& b, const Parts& lanes,
                     const std::function<llvm::Value*()>& counts) const {
  if (op_ != Op::kDeviations) return lanes;
  llvm::Value* const count = counts();
  llvm::Value* const zero = b.like(count, 0);
  llvm::Value* const shift = b.CreateFDiv(lanes[1], count);
  llvm::Value* const squares = b.CreateFSub(lanes[2], b.CreateFMul(lanes[1], shift));
  llvm::Value* const rounded_off = b.CreateFCmpOLT(squares, zero);
  return select(b, b.CreateFCmpOEQ(count, zero), {zero, zero, zero},
                {count, b.CreateFAdd(lanes[0], shift), b.select(rounded_off, zero, squares)});
}

Parts Reducer::merge_positions(VectorBuilder& b, const Parts& earlier, const Parts& later) const {
  llvm::Value* equal = nullptr;
  if (is_float(dtype_)) {
    llvm::Value* const both_nan = b.CreateAnd(b.is_nan(earlier[0]), b.is_nan(later[0]));
    equal = b.CreateOr(b.CreateFCmpOEQ(earlier[0], later[0]), both_nan);
  } else {
    equal = b.CreateICmpEQ(earlier[0], later[0]);
  }
  llvm::Value* const comes_first = b.CreateAnd(equal, b.CreateICmpSLT(later[1], earlier[1]));
  return select(b, b.CreateOr(is_better(b, later[0], earlier[0]), comes_first), later, earlier);
}

// Chan, Golub and LeVeque's formula.
Parts Reducer::merge_moments(VectorBuilder& b, const Parts& earlier, const Parts& later) const {
  llvm::Value* const count = b.CreateFAdd(earlier[0], later[0]);
  llvm::Value* const weight = b.CreateFDiv(later[0], count);
  llvm::Value* const distance = b.CreateFSub(later[1], earlier[1]);
  llvm::Value* const mean = b.CreateFAdd(earlier[1], b.CreateFMul(distance, weight));
  llvm::Value* const between =
      b.CreateFMul(b.CreateFMul(distance, distance), b.CreateFMul(earlier[0], weight));
  llvm::Value* const squares = b.CreateFAdd(b.CreateFAdd(earlier[2], later[2]), between);
  return select(b, b.CreateFCmpOEQ(later[0], b.like(count, 0)), earlier, {count, mean, squares});
}

Parts Reducer::merge(VectorBuilder& b, const Parts& earlier, const Parts& later) const {
  if (wants_index()) return merge_positions(b, earlier, later);
  if (op_ == Op::kDeviations) return merge_moments(b, earlier, later);
  return {combine(b, earlier[0], later[0])};
}

llvm::Value* Reducer::result(const Parts& parts) const { return parts.back(); }

Parts Reducer::halve(VectorBuilder& b, Parts vectors) const {
  const int lanes = b.lanes;
  auto count =
      static_cast<int>(llvm::cast<llvm::FixedVectorType>(vectors[0]->getType())->getNumElements());
  while (count > 1) {
    count /= 2;
    b.lanes = count;
    const auto part = [&](int start) {
      Parts parts;
      for (llvm::Value* vector : vectors) {
        parts.push_back(count == 1 ? b.CreateExtractElement(vector, static_cast<uint64_t>(start))
                                   : b.slice(vector, start, count));
      }
      return parts;
    };
    vectors = merge(b, part(0), part(count));
  }
  b.lanes = lanes;
  return vectors;
}

Parts select(VectorBuilder& b, llvm::Value* mask, const Parts& yes, const Parts& no) {
  Parts result;
  for (size_t i = 0; i < yes.size(); ++i) result.push_back(b.select(mask, yes[i], no[i]));
  return result;
}

}  // namespace lanewise::jit
