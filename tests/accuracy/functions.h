// The functions whose error is measured: the rows of the op table that state one, with what their
// results are compared to.
#pragma once

#include <mpfr.h>

#include <optional>
#include <string>
#include <vector>

#include "ir/op.h"

namespace lanewise::accuracy {

// f(x, y) in MPFR's terms; functions of one argument ignore y. Right to all bits of `result` but
// the last few, whatever cancels.
using Exact = void (*)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y);

// f(x, y) for many float32 numbers, with an error below 2^-40 of the result (where the true result
// is near a zero that is not exact, of what cancels), in whole blocks of kBlock.
inline constexpr size_t kBlock = 4096;
using Filter32 = void (*)(const double* x, const double* y, double* result);

// f(x, y) for a float64 number, with an error of few 2^-64.
using Filter64 = long double (*)(long double x, long double y);

struct Reference {
  Exact exact;
  Filter32 filter32;
  Filter64 filter64;
};

struct Function {
  std::string name;  // "exp", or "x ** 3"
  ir::Op op = ir::Op::kExp;
  double exponent = 0;  // of pow_const
  Reference reference;

  const ir::OpSpec& spec() const { return ir::spec(op); }
  int arity() const { return spec().arity; }
};

// In the order of the op table. Throws InternalError for a row that states an error but has no
// reference here.
const std::vector<Function>& functions();

// By double's vector functions of libm; a reference for ops by their place in the table.
Filter32 filter32_of(ir::Op op);

}  // namespace lanewise::accuracy
