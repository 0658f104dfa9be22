#include "tests/accuracy/functions.h"

#include <cmath>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::accuracy {

namespace {

using ir::Op;

class Wide {
 public:
  explicit Wide(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  ~Wide() { mpfr_clear(value_); }
  Wide(const Wide&) = delete;
  Wide& operator=(const Wide&) = delete;
  operator mpfr_ptr() { return value_; }

 private:
  mpfr_t value_;
};

using Mpfr1 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using Mpfr2 = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

template <Mpfr1 f>
void exact1(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  f(result, x, MPFR_RNDN);
}

template <Mpfr2 f>
void exact2(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  f(result, x, y, MPFR_RNDN);
}

void exact_expit(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) {
  mpfr_neg(result, x, MPFR_RNDN);
  mpfr_exp(result, result, MPFR_RNDN);
  mpfr_add_ui(result, result, 1, MPFR_RNDN);
  mpfr_ui_div(result, 1, result, MPFR_RNDN);
}

// The larger one and log(1 + e^-d), with bits to spare for what cancels.
void exact_logaddexp(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  if (mpfr_nan_p(x) || mpfr_nan_p(y)) return mpfr_set_nan(result);
  mpfr_srcptr larger = mpfr_cmp(x, y) > 0 ? x : y;
  if (mpfr_inf_p(x) || mpfr_inf_p(y)) {
    mpfr_set(result, larger, MPFR_RNDN);
    return;
  }
  thread_local Wide wide(250);
  mpfr_sub(wide, larger == x ? y : x, larger, MPFR_RNDN);
  mpfr_exp(wide, wide, MPFR_RNDN);
  mpfr_log1p(wide, wide, MPFR_RNDN);
  mpfr_add(result, wide, larger, MPFR_RNDN);
}

// Of the sign of y, also where it is a zero.
void exact_remainder(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y) {
  mpfr_fmod(result, x, y, MPFR_RNDN);
  if (mpfr_nan_p(result) || mpfr_inf_p(y)) {
    if (mpfr_inf_p(y) && mpfr_number_p(result) && !mpfr_zero_p(result) &&
        mpfr_signbit(result) != mpfr_signbit(y)) {
      mpfr_set(result, y, MPFR_RNDN);
    }
  } else if (!mpfr_zero_p(result) && mpfr_signbit(result) != mpfr_signbit(y)) {
    thread_local Wide wide(2200);  // float64 numbers span this many bits
    mpfr_add(wide, result, y, MPFR_RNDN);
    mpfr_set(result, wide, MPFR_RNDN);
  }
  if (mpfr_zero_p(result)) mpfr_setsign(result, result, mpfr_signbit(y), MPFR_RNDN);
}

template <long double (*f)(long double)>
long double filter1(long double x, long double) {
  return f(x);
}

template <long double (*f)(long double, long double)>
long double filter2(long double x, long double y) {
  return f(x, y);
}

long double square_of(long double x) { return x * x; }
long double reciprocal_of(long double x) { return 1 / x; }
long double logistic(long double x) { return 1 / (1 + expl(-x)); }

long double logaddexp_of(long double x, long double y) {
  if (x == y) return x + logl(2);
  return fmaxl(x, y) + log1pl(expl(-fabsl(x - y))) + 0 * (x + y);
}

long double remainder_of(long double x, long double y) {
  long double result = fmodl(x, y);
  if (result != 0 && std::signbit(result) != std::signbit(y)) result += y;
  return result == 0 ? copysignl(0, y) : result;
}

struct Row {
  Op op;
  Exact exact;
  Filter64 filter64;
};

const Row kRows[] = {
    {Op::kSquare, exact1<mpfr_sqr>, filter1<square_of>},
    {Op::kReciprocal,
     [](mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr) { mpfr_ui_div(result, 1, x, MPFR_RNDN); },
     filter1<reciprocal_of>},
    {Op::kRemainder, exact_remainder, filter2<remainder_of>},
    {Op::kFmod, exact2<mpfr_fmod>, filter2<fmodl>},
    {Op::kExp, exact1<mpfr_exp>, filter1<expl>},
    {Op::kExp2, exact1<mpfr_exp2>, filter1<exp2l>},
    {Op::kExpm1, exact1<mpfr_expm1>, filter1<expm1l>},
    {Op::kLog, exact1<mpfr_log>, filter1<logl>},
    {Op::kLog2, exact1<mpfr_log2>, filter1<log2l>},
    {Op::kLog10, exact1<mpfr_log10>, filter1<log10l>},
    {Op::kLog1p, exact1<mpfr_log1p>, filter1<log1pl>},
    {Op::kLogaddexp, exact_logaddexp, filter2<logaddexp_of>},
    {Op::kPow, exact2<mpfr_pow>, filter2<powl>},
    {Op::kCbrt, exact1<mpfr_cbrt>, filter1<cbrtl>},
    {Op::kPowConst, exact2<mpfr_pow>, filter2<powl>},
    {Op::kSinh, exact1<mpfr_sinh>, filter1<sinhl>},
    {Op::kCosh, exact1<mpfr_cosh>, filter1<coshl>},
    {Op::kTanh, exact1<mpfr_tanh>, filter1<tanhl>},
    {Op::kAsinh, exact1<mpfr_asinh>, filter1<asinhl>},
    {Op::kAcosh, exact1<mpfr_acosh>, filter1<acoshl>},
    {Op::kAtanh, exact1<mpfr_atanh>, filter1<atanhl>},
    {Op::kExpit, exact_expit, filter1<logistic>},
    {Op::kSin, exact1<mpfr_sin>, filter1<sinl>},
    {Op::kCos, exact1<mpfr_cos>, filter1<cosl>},
    {Op::kTan, exact1<mpfr_tan>, filter1<tanl>},
    {Op::kAsin, exact1<mpfr_asin>, filter1<asinl>},
    {Op::kAcos, exact1<mpfr_acos>, filter1<acosl>},
    {Op::kAtan, exact1<mpfr_atan>, filter1<atanl>},
    {Op::kAtan2, exact2<mpfr_atan2>, filter2<atan2l>},
    {Op::kHypot, exact2<mpfr_hypot>, filter2<hypotl>},
    {Op::kErf, exact1<mpfr_erf>, filter1<erfl>},
    {Op::kErfc, exact1<mpfr_erfc>, filter1<erfcl>},
};

// Each way of computing: by products, products and a root, and their reciprocals, in words of
// either format.
constexpr double kExponents[] = {-7.5, -2, -.5, .5, 1.5, 3, 4, 10, 33};

void add(std::vector<Function>& list, const Row& row) {
  Function function{.name = std::string(ir::name(row.op)),
                    .op = row.op,
                    .exponent = 0,
                    .reference = {row.exact, filter32_of(row.op), row.filter64}};
  if (row.op != Op::kPowConst) {
    list.push_back(function);
    return;
  }
  for (const double exponent : kExponents) {
    function.exponent = exponent;
    function.name = format("x**{}", exponent);
    list.push_back(function);
  }
}

}  // namespace

const std::vector<Function>& functions() {
  static const std::vector<Function> list = [] {
    std::vector<Function> result;
    for (size_t i = 0; i < ir::op_table().size(); ++i) {
      const Op op = static_cast<Op>(i);
      const ir::OpSpec& spec = ir::spec(op);
      if (spec.kind != ir::OpKind::kComposite || !ir::contains(spec.accepts, DType::kF64)) continue;
      const Row* found = nullptr;
      for (const Row& row : kRows) {
        if (row.op == op) found = &row;
      }
      if (found != nullptr) {
        add(result, *found);
      } else if (spec.max_ulp > 0) {
        throw InternalError(format("accuracy: no reference for {}", op));
      }
    }
    return result;
  }();
  return list;
}

}  // namespace lanewise::accuracy
