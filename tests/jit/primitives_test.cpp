// Every primitive, on every dtype it accepts, at every length around the vector width.
#include <gtest/gtest.h>

#include "ir/op.h"
#include "kernel_case.h"
#include "support/format.h"

namespace lanewise::jit::test {
namespace {

using ir::Expr;
using ir::Op;

constexpr int64_t kLongest = 70;

std::vector<DType> dtypes() {
  std::vector<DType> all;
  for (int i = 0; i < kDTypeCount; ++i) all.push_back(static_cast<DType>(i));
  return all;
}

std::vector<Op> primitives() {
  std::vector<Op> all;
  for (size_t i = 0; i < ir::op_table().size(); ++i) {
    if (ir::op_table()[i].kind == ir::OpKind::kPrimitive) all.push_back(static_cast<Op>(i));
  }
  return all;
}

const ir::Table& table_of(DType dtype, size_t size) {
  static std::vector<std::unique_ptr<ir::Table>> tables;
  for (const auto& table : tables) {
    if (table->dtype == dtype && table->entries.size() == size) return *table;
  }
  auto table = std::make_unique<ir::Table>();
  table->name = format("test_{}_{}", dtype, size);
  table->dtype = dtype;
  for (size_t i = 0; i < size; ++i) {
    table->entries.push_back(Scalar::from_double(dtype, 1.25 * static_cast<double>(i + 1)).bits);
  }
  tables.push_back(std::move(table));
  return *tables.back();
}

// One use of `op` on operands of `dtype`, with an explicit result dtype or table size where the op
// has one.
Expr build(KernelCase& k, Op op, DType dtype, DType result, size_t table_size,
           const std::vector<Expr>& operands) {
  switch (op) {
    case Op::kCast:
      return k.expr(k.builder().cast(operands[0].value(), result));
    case Op::kBitcast:
      return k.expr(k.builder().bitcast(operands[0].value(), result));
    case Op::kTableLookup:
      return ir::table_lookup(table_of(result, table_size), operands[0]);
    case Op::kScale2:
      // The exponent is integral.
      return ir::scale2(operands[0], ir::trunc(operands[1] * (dtype == DType::kF32 ? 9. : 70.)));
    default:
      break;
  }
  switch (operands.size()) {
    case 1:
      return ir::apply(op, {operands[0]});
    case 2:
      return ir::apply(op, {operands[0], operands[1]});
    default:
      return ir::apply(op, {operands[0], operands[1], operands[2]});
  }
}

void check_lengths(Op op, DType dtype, DType result, size_t table_size = 0) {
  for (int64_t n = 1; n <= kLongest; n += n < 34 ? 1 : 5) {
    KernelCase k({n});
    std::vector<Expr> operands;
    for (int i = 0; i < ir::spec(op).arity; ++i) {
      const bool is_mask = i == 0 && (ir::spec(op).traits & ir::kCondition) != 0;
      operands.push_back(k.load(is_mask ? DType::kBool : dtype, {1}));
    }
    k.store(build(k, op, dtype, result, table_size, operands), {1});
    for (const Target target : targets()) {
      for (uint64_t seed = 1; seed <= (n < 60 ? 1 : 30); ++seed) {
        ASSERT_EQ(k.run(target, seed + static_cast<uint64_t>(n)), "")
            << ir::name(op) << " on " << to_string(dtype) << " to " << to_string(result)
            << ", length " << n;
      }
    }
  }
}

// Uniform values are computed by scalar code.
void check_scalars(Op op, DType dtype, DType result, size_t table_size = 0) {
  std::mt19937_64 random(static_cast<uint64_t>(op) * 16 + static_cast<uint64_t>(dtype));
  for (int round = 0; round < 40; ++round) {
    KernelCase k({3});
    std::vector<Expr> operands;
    for (int i = 0; i < ir::spec(op).arity; ++i) {
      const bool is_mask = i == 0 && (ir::spec(op).traits & ir::kCondition) != 0;
      operands.push_back(k.scalar(random_value(is_mask ? DType::kBool : dtype, random)));
    }
    k.store(build(k, op, dtype, result, table_size, operands), {1});
    for (const Target target : targets()) {
      ASSERT_EQ(k.run(target), "")
          << ir::name(op) << " on scalars of " << to_string(dtype) << " to " << to_string(result);
    }
  }
}

void check_all(Op op, DType dtype, DType result, size_t table_size = 0) {
  check_lengths(op, dtype, result, table_size);
  if (!testing::Test::HasFatalFailure()) check_scalars(op, dtype, result, table_size);
}

class Primitive : public testing::TestWithParam<Op> {};

TEST_P(Primitive, EqualsInterpreter) {
  const Op op = GetParam();
  for (const DType dtype : dtypes()) {
    if (!ir::contains(ir::spec(op).accepts, dtype)) continue;
    if (op == Op::kTableLookup) {
      for (const DType entries :
           {DType::kF32, DType::kF64, DType::kI32, DType::kU64, DType::kI16}) {
        for (const size_t size : {1, 2, 4, 8, 16, 32, 64, 128}) {
          if (dtype != DType::kI32 && dtype != DType::kI64 && size != 16) continue;
          check_all(op, dtype, entries, size);
        }
      }
    } else if (op == Op::kCast || op == Op::kBitcast) {
      for (const DType to : dtypes()) {
        if (op == Op::kBitcast && (is_bool(to) || size_of(to) != size_of(dtype))) continue;
        check_all(op, dtype, to);
      }
    } else {
      check_all(op, dtype, dtype);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Primitive, testing::ValuesIn(primitives()),
                         [](const auto& info) { return std::string(ir::spec(info.param).id); });

}  // namespace
}  // namespace lanewise::jit::test
