// Every composite op: machine code gives the bits of the interpreter, rare lanes included.
#include "ir/math/math.h"

#include <gtest/gtest.h>

#include "kernel_case.h"

namespace lanewise::jit::test {
namespace {

using ir::Expr;

Expr call(Expr (*f)(const Expr&), const std::vector<Expr>& x) { return f(x[0]); }
Expr call(Expr (*f)(const Expr&, const Expr&), const std::vector<Expr>& x) { return f(x[0], x[1]); }
Expr call(Expr (*f)(const Expr&, const Expr&, const Expr&), const std::vector<Expr>& x) {
  return f(x[0], x[1], x[2]);
}
Expr call(Expr (*f)(const Expr&, double), const std::vector<Expr>& x) { return f(x[0], 2.5); }

Expr expand(ir::Op op, const std::vector<Expr>& x) {
  switch (op) {
#define STRUCTURAL(...)
#define PRIMITIVE(...)
#define COMPOSITE(id, name, expansion, ...) \
  case ir::Op::k##id:                       \
    return call(ir::math::expansion, x);
#include "ir/ops.def"
#undef STRUCTURAL
#undef PRIMITIVE
#undef COMPOSITE
    default:
      return {};
  }
}

class Composites : public testing::TestWithParam<ir::Op> {};

TEST_P(Composites, MachineCodeEqualsInterpreter) {
  const ir::OpSpec& row = ir::spec(GetParam());
  for (const DType dtype :
       {DType::kBool, DType::kI8, DType::kU64, DType::kI32, DType::kF32, DType::kF64}) {
    if (!ir::contains(row.accepts, dtype)) continue;
    KernelCase k({203});
    std::vector<Expr> operands;
    for (int i = 0; i < row.arity; ++i) operands.push_back(k.load(dtype, {1}));
    k.store(expand(GetParam(), operands), {1});
    for (const Target target : targets()) {
      for (uint64_t seed = 1; seed <= 5; ++seed) {
        ASSERT_EQ(k.run(target, seed), "") << row.name << " of " << text_name(dtype);
      }
    }
  }
}

std::vector<ir::Op> composites() {
  std::vector<ir::Op> ops;
  for (size_t i = 0; i < ir::op_table().size(); ++i) {
    if (ir::op_table()[i].kind == ir::OpKind::kComposite) ops.push_back(static_cast<ir::Op>(i));
  }
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Math, Composites, testing::ValuesIn(composites()),
                         [](const auto& info) { return std::string(ir::spec(info.param).id); });

}  // namespace
}  // namespace lanewise::jit::test
