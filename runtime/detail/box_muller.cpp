// Compiled for AVX2: includes nothing whose inline functions other files might share.
#include "runtime/detail/box_muller.h"

#include <immintrin.h>

namespace lanewise::runtime::detail {

namespace {

using Doubles = __m256d;
using Longs = __m256i;

Doubles all(double value) { return _mm256_set1_pd(value); }
Longs all(int64_t value) { return _mm256_set1_epi64x(value); }
Doubles as_doubles(Longs bits) { return _mm256_castsi256_pd(bits); }
Longs as_longs(Doubles value) { return _mm256_castpd_si256(value); }

// Adding it rounds a number of modest size to an integer, which is then in the low bits.
constexpr double kRounder = 0x1.8p52;

// c0 + c1 x + c2 x^2 + ...
template <int n>
Doubles polynomial(Doubles x, const double (&coefficients)[n]) {
  Doubles sum = all(coefficients[n - 1]);
  for (int i = n - 2; i >= 0; --i) sum = sum * x + all(coefficients[i]);
  return sum;
}

// log(x) for normal x in (0, 1]: x = 2^e m with m in [sqrt(1/2), sqrt(2)), and
// log(m) = 2 atanh(s) with s = (m - 1) / (m + 1), |s| < .172, by its series: the terms left out are
// below 1e-16 of it.
Doubles logarithm(Doubles x) {
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  constexpr double kAtanh[] = {1,        1. / 3,  1. / 5,  1. / 7,  1. / 9,
                               1. / 11., 1. / 13, 1. / 15, 1. / 17, 1. / 19};
  const Longs one = as_longs(all(1.0));
  const Longs sqrt_half = as_longs(all(0x1.6a09e667f3bcdp-1));
  // The exponent by which x exceeds sqrt(1/2).
  const Longs above = _mm256_add_epi64(as_longs(x), _mm256_sub_epi64(one, sqrt_half));
  const Longs exponent_bits = _mm256_sub_epi64(_mm256_srli_epi64(above, 52), all(int64_t{1023}));
  const Doubles m = as_doubles(_mm256_sub_epi64(as_longs(x), _mm256_slli_epi64(exponent_bits, 52)));
  const Doubles rounder = all(kRounder);
  const Doubles exponent = as_doubles(_mm256_add_epi64(exponent_bits, as_longs(rounder))) - rounder;
  const Doubles s = (m - all(1.0)) / (m + all(1.0));
  return exponent * all(kLn2) + all(2.0) * s * polynomial(s * s, kAtanh);
}

// Cosine and sine of 2 pi x for x in [0, 1]: x = q / 4 + r exactly, |r| <= 1/8, and then their
// series at 2 pi r: the terms left out are below 1e-16.
struct CosineAndSine {
  Doubles cosine;
  Doubles sine;
};
CosineAndSine turn(Doubles x) {
  constexpr double kTwoPi = 0x1.921fb54442d18p2;
  constexpr double kCosine[] = {1,
                                -1. / 2,
                                1. / 24,
                                -1. / 720,
                                1. / 40320,
                                -1. / 3628800,
                                1. / 479001600,
                                -1. / 87178291200,
                                1. / 20922789888000};
  constexpr double kSine[] = {1,           -1. / 6,        1. / 120,        -1. / 5040,
                              1. / 362880, -1. / 39916800, 1. / 6227020800, -1. / 1307674368000};
  const Doubles rounder = all(kRounder);
  const Doubles rounded = all(4.0) * x + rounder;
  const Longs quarter = as_longs(rounded);
  const Doubles r = x - (rounded - rounder) * all(0.25);
  const Doubles angle = r * all(kTwoPi);
  const Doubles square = angle * angle;
  const Doubles cosine = polynomial(square, kCosine);
  const Doubles sine = angle * polynomial(square, kSine);
  // Odd quarters swap the two; signs by the bits of the quarter's number.
  const Doubles odd = as_doubles(_mm256_slli_epi64(quarter, 63));
  const Longs sign_of_sine = _mm256_slli_epi64(_mm256_srli_epi64(quarter, 1), 63);
  const Longs sign_of_cosine = _mm256_xor_si256(sign_of_sine, as_longs(odd));
  const Longs sign = all(INT64_MIN);
  return {_mm256_xor_pd(_mm256_blendv_pd(cosine, sine, odd),
                        as_doubles(_mm256_and_si256(sign_of_cosine, sign))),
          _mm256_xor_pd(_mm256_blendv_pd(sine, cosine, odd), as_doubles(sign_of_sine))};
}

struct Pairs {
  Doubles first;
  Doubles second;
};
Pairs transform(Doubles radius_uniform, Doubles angle_uniform) {
  // 1 - a is exact, and so is what follows from b = 0.
  const Doubles radius = _mm256_sqrt_pd(all(-2.0) * logarithm(all(1.0) - radius_uniform));
  const CosineAndSine direction = turn(angle_uniform);
  return {radius * direction.cosine, radius * direction.sine};
}

}  // namespace

void box_muller_blocks(float* data, int64_t blocks) {
  for (int64_t block = 0; block < blocks; ++block, data += 16) {
    for (int half = 0; half < 8; half += 4) {
      const Pairs pairs = transform(_mm256_cvtps_pd(_mm_loadu_ps(data + half)),
                                    _mm256_cvtps_pd(_mm_loadu_ps(data + 8 + half)));
      _mm_storeu_ps(data + half, _mm256_cvtpd_ps(pairs.first));
      _mm_storeu_ps(data + 8 + half, _mm256_cvtpd_ps(pairs.second));
    }
  }
}

NormalPair box_muller(double radius_uniform, double angle_uniform) {
  const Pairs pairs = transform(all(radius_uniform), all(angle_uniform));
  return {_mm256_cvtsd_f64(pairs.first), _mm256_cvtsd_f64(pairs.second)};
}

}  // namespace lanewise::runtime::detail
