// References for float32: float64 functions of the C library, whose errors are a few units of
// float64's last place. Its vector functions where it has them (glibc's libmvec), eight times as
// fast as the ordinary ones.
#include <immintrin.h>

#include <cmath>
#include <limits>

#include "support/error.h"
#include "tests/accuracy/functions.h"

namespace lanewise::accuracy {

namespace {

using ir::Op;
using Vector = __m256d;
constexpr size_t kLanes = 4;

#ifdef LANEWISE_HAS_LIBMVEC
extern "C" {
#define LANEWISE_VECTOR1(name) Vector _ZGVdN4v_##name(Vector);
#define LANEWISE_VECTOR2(name) Vector _ZGVdN4vv_##name(Vector, Vector);
#else
#define LANEWISE_VECTOR1(name)                             \
  Vector _ZGVdN4v_##name(Vector x) {                       \
    for (size_t i = 0; i < kLanes; ++i) x[i] = name(x[i]); \
    return x;                                              \
  }
#define LANEWISE_VECTOR2(name)                                   \
  Vector _ZGVdN4vv_##name(Vector x, Vector y) {                  \
    for (size_t i = 0; i < kLanes; ++i) x[i] = name(x[i], y[i]); \
    return x;                                                    \
  }
#endif
LANEWISE_VECTOR1(acos)
LANEWISE_VECTOR1(acosh)
LANEWISE_VECTOR1(asin)
LANEWISE_VECTOR1(asinh)
LANEWISE_VECTOR1(atan)
LANEWISE_VECTOR1(atanh)
LANEWISE_VECTOR1(cbrt)
LANEWISE_VECTOR1(cos)
LANEWISE_VECTOR1(cosh)
LANEWISE_VECTOR1(erf)
LANEWISE_VECTOR1(erfc)
LANEWISE_VECTOR1(exp)
LANEWISE_VECTOR1(exp2)
LANEWISE_VECTOR1(expm1)
LANEWISE_VECTOR1(log)
LANEWISE_VECTOR1(log10)
LANEWISE_VECTOR1(log1p)
LANEWISE_VECTOR1(log2)
LANEWISE_VECTOR1(sin)
LANEWISE_VECTOR1(sinh)
LANEWISE_VECTOR1(tan)
LANEWISE_VECTOR1(tanh)
LANEWISE_VECTOR2(atan2)
LANEWISE_VECTOR2(hypot)
LANEWISE_VECTOR2(pow)
#ifdef LANEWISE_HAS_LIBMVEC
}
#endif

// Vector functions leave arguments out of the ordinary to the scalar ones, which is slow. So they
// do not get them: NaN stands for what lies outside low .. high, and from `limit` on a float32
// result does not change any more.
struct Domain {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double limit = std::numeric_limits<double>::infinity();
};

template <Vector (*f)(Vector), Domain domain = Domain{}>
void filter1(const double* x, const double*, double* result) {
  const Vector nan = _mm256_set1_pd(std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < kBlock; i += kLanes) {
    const Vector given = _mm256_loadu_pd(x + i);
    Vector inside = given > domain.limit ? Vector{} + domain.limit : given;
    inside = inside < -domain.limit ? Vector{} - domain.limit : inside;
    const auto outside = (given < domain.low) | (given > domain.high);
    inside = outside ? Vector{} + 1 : inside;
    _mm256_storeu_pd(result + i, outside ? nan : f(inside));
  }
}

template <Vector (*f)(Vector, Vector)>
void filter2(const double* x, const double* y, double* result) {
  for (size_t i = 0; i < kBlock; i += kLanes) {
    _mm256_storeu_pd(result + i, f(_mm256_loadu_pd(x + i), _mm256_loadu_pd(y + i)));
  }
}

Vector square_of(Vector x) { return x * x; }
Vector reciprocal_of(Vector x) { return 1 / x; }
Vector logistic(Vector x) { return 1 / (1 + _ZGVdN4v_exp(-x)); }

Vector logaddexp_of(Vector x, Vector y) {
  const Vector larger = x > y ? x : y;
  const Vector distance = x > y ? y - x : x - y;
  const Vector sum = larger + _ZGVdN4v_log1p(_ZGVdN4v_exp(distance)) + 0 * (x + y);
  return x == y ? x + std::log(2.) : sum;
}

// The same exponent at all places, whole or half of that: by products.
void known_power(const double* x, const double* y, double* result) {
  const int halves = static_cast<int>(2 * y[0]);
  const int n = std::abs(halves) / 2;
  const Vector infinity = Vector{} + std::numeric_limits<double>::infinity();
  const Vector sign_bit = _mm256_set1_pd(-0.);
  for (size_t i = 0; i < kBlock; i += kLanes) {
    const Vector base = _mm256_loadu_pd(x + i);
    Vector power = Vector{} + 1;
    for (int k = 0; k < n; ++k) power *= base;
    if (halves % 2 != 0) power *= _mm256_sqrt_pd(base == -infinity ? infinity : base);
    if (halves < 0) power = 1 / power;
    // Roots of -0 and -inf are no numbers of their sign.
    if (halves % 2 != 0) power = _mm256_andnot_pd(sign_bit, power);
    _mm256_storeu_pd(result + i, power);
  }
}

void fmod_of(const double* x, const double* y, double* result) {
  for (size_t i = 0; i < kBlock; ++i) result[i] = std::fmod(x[i], y[i]);
}

void remainder_of(const double* x, const double* y, double* result) {
  for (size_t i = 0; i < kBlock; ++i) {
    const double r = std::fmod(x[i], y[i]);
    const double sum = r != 0 && std::signbit(r) != std::signbit(y[i]) ? r + y[i] : r;
    result[i] = sum == 0 ? std::copysign(0., y[i]) : sum;
  }
}

}  // namespace

Filter32 filter32_of(Op op) {
  switch (op) {
#define LANEWISE_FILTER1(id, name, ...) \
  case Op::k##id:                       \
    return filter1<_ZGVdN4v_##name, Domain{__VA_ARGS__}>;
    LANEWISE_FILTER1(Acos, acos, -1, 1)
    LANEWISE_FILTER1(Acosh, acosh, 1)
    LANEWISE_FILTER1(Asin, asin, -1, 1)
    LANEWISE_FILTER1(Asinh, asinh)
    LANEWISE_FILTER1(Atan, atan)
    LANEWISE_FILTER1(Atanh, atanh, -1, 1)
    LANEWISE_FILTER1(Cbrt, cbrt)
    LANEWISE_FILTER1(Cos, cos)
    LANEWISE_FILTER1(Cosh, cosh, .limit = 200)
    LANEWISE_FILTER1(Erf, erf, .limit = 6)
    LANEWISE_FILTER1(Erfc, erfc, .limit = 26)
    LANEWISE_FILTER1(Exp, exp, .limit = 200)
    LANEWISE_FILTER1(Exp2, exp2, .limit = 200)
    LANEWISE_FILTER1(Expm1, expm1, .limit = 200)
    LANEWISE_FILTER1(Log, log, 0)
    LANEWISE_FILTER1(Log10, log10, 0)
    LANEWISE_FILTER1(Log1p, log1p, -1)
    LANEWISE_FILTER1(Log2, log2, 0)
    LANEWISE_FILTER1(Sin, sin)
    LANEWISE_FILTER1(Sinh, sinh, .limit = 200)
    LANEWISE_FILTER1(Tan, tan)
    LANEWISE_FILTER1(Tanh, tanh, .limit = 200)
#undef LANEWISE_FILTER1
    case Op::kAtan2:
      return filter2<_ZGVdN4vv_atan2>;
    case Op::kHypot:
      return filter2<_ZGVdN4vv_hypot>;
    case Op::kPow:
      return filter2<_ZGVdN4vv_pow>;
    case Op::kPowConst:
      return known_power;
    case Op::kSquare:
      return filter1<square_of>;
    case Op::kReciprocal:
      return filter1<reciprocal_of>;
    case Op::kExpit:
      return filter1<logistic, Domain{.limit = 200}>;
    case Op::kLogaddexp:
      return filter2<logaddexp_of>;
    case Op::kFmod:
      return fmod_of;
    case Op::kRemainder:
      return remainder_of;
    default:
      throw InternalError("accuracy: no filter for " + to_string(op));
  }
}

}  // namespace lanewise::accuracy
