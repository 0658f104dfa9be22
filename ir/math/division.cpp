// Quotients rounded down, and exact remainders.
#include "ir/math/detail.h"
#include "ir/math/math.h"

namespace lanewise::ir::math {

namespace {

// ---- remainders of numbers far apart, in float64 -------------------------------------------

// x - b * n for the integer n nearest to x / b: exact where x / b < 2^53.
Expr centered(const Expr& x, const Expr& b) { return fma(-round(x / b), b, x); }

// x * y modulo an integer b < 2^53, for integers of at most b / 2: again one of at most b / 2.
// With c = round(product.high / b) off by at most .75, product.high - c b is exact, and so is its
// sum with product.low, at most b / 4.
Expr multiply_modulo(const Expr& x, const Expr& y, const Expr& b) {
  const Pair product = two_product(x, y);
  return centered(centered(product.high, b) + product.low, b);
}

// 2^n for an integer n.
Expr power_of_two(const Expr& n) { return ((n + 1023) << 52).as_float(); }

// An integer below 2^51 in magnitude as a float64, without a conversion (AVX2 has none).
Expr to_float(const Expr& n) { return (n + bits_of(DType::kF64, 0x1.8p52)).as_float() - 0x1.8p52; }

// A positive float64 as integer * 2^(exponent - 1075), 2^52 <= integer < 2^53.
struct Significand {
  Expr integer;
  Expr exponent;  // an unsigned integer that wraps below 0
};

Significand significand(const Expr& x) {
  const Expr subnormal = x < format_of(DType::kF64).smallest_normal;
  const Expr bits = select(subnormal, x * 0x1p54, x).as_unsigned();
  const int64_t one = bits_of(DType::kF64, 0x1p52);
  return {((bits & 0xfffffffffffff) | one).as_float(),
          (bits >> 52) - select(subnormal, 54, bits.like(0))};
}

// a modulo b, exactly, for finite a >= b > 0 of any size: a = A 2^k with k up to 2098, in units
// that make b an integer B; A 2^(k % 32) is reduced at once and 2^(k - k % 32) as a power.
Expr far_modulo_f64(const Expr& a, const Expr& b) {
  const Significand numerator = significand(a);
  const Significand divisor = significand(b);
  const Expr& modulus = divisor.integer;
  const Expr k = numerator.exponent - divisor.exponent;
  Expr power = centered(power_of_two(k >> 5), modulus);
  for (int i = 0; i < 5; ++i) power = multiply_modulo(power, power, modulus);
  const Expr start = centered(numerator.integer * power_of_two(k & 31), modulus);
  const Expr rest = multiply_modulo(start, power, modulus);
  const Expr positive = select(rest < 0, rest + modulus, rest);
  return scale2(positive, to_float(divisor.exponent) - 1075);
}

// The same for numbers that came from float32, where products of residues are exact.
Expr far_modulo_f32(const Expr& a, const Expr& b) {
  const Significand numerator = significand(a);
  const Significand divisor = significand(b);
  // Both are multiples of 2^29: the low bits of a float64 that came from a float32 are 0.
  const Expr modulus = divisor.integer * 0x1p-29;
  const Expr k = numerator.exponent - divisor.exponent;
  Expr power = centered(power_of_two(k >> 3), modulus);
  for (int i = 0; i < 3; ++i) power = centered(power * power, modulus);
  const Expr start = centered(numerator.integer * 0x1p-29 * power_of_two(k & 7), modulus);
  const Expr rest = centered(start * power, modulus);
  const Expr positive = select(rest < 0, rest + modulus, rest);
  return positive * (b / modulus);
}

// a modulo b for any a >= 0, b > 0; NaN where a is infinite or b is 0 or either is NaN.
Expr exact_modulo(const Expr& a, const Expr& b) {
  const Expr far = a.dtype() == DType::kF32
                       ? far_modulo_f32(a.cast(DType::kF64), b.cast(DType::kF64)).cast(DType::kF32)
                       : far_modulo_f64(a, b);
  const Expr defined = (a < kInfinity) & (b > 0);
  return select(defined, select(a < b, a, far), kNan);
}

// ---- floating point ------------------------------------------------------------------------

// Quotients below this are the integer part of the true one, or one more, after rounding down.
double quotient_limit(DType dtype) { return by_dtype(dtype, 0x1p22, 0x1p51); }

// The remainder with the sign of the divisor and what leads to it. Signs are taken such that the
// divisor is positive.
struct Floored {
  Expr quotient;  // a / b, rounded
  Expr integer;   // its integer part, one too large where `above`
  Expr above;
  Expr divisor;    // |b|
  Expr remainder;  // in [0, |b|]
  Expr sign;       // of b
  Expr far;        // none of this holds: quotients large or undefined, infinite divisors
};

Floored floored(const Expr& a, const Expr& b) {
  Floored f;
  f.sign = sign_bit(b);
  f.divisor = abs(b);
  f.quotient = a / b;
  f.integer = floor(f.quotient);
  const Expr rest = fma(-f.integer, f.divisor, flip_sign(a, f.sign));
  f.above = rest < 0;
  f.remainder = select(f.above, rest + f.divisor, rest);
  f.far = ~((abs(f.quotient) < quotient_limit(a.dtype())) & (f.divisor < kInfinity));
  return f;
}

// What Python computes from an exact remainder; its last step, rounding to an integer, leaves
// quotients of this size alone.
struct Modulus {
  Expr remainder;
  Expr quotient;
};

Modulus far_floored(const Expr& a, const Expr& b) {
  const Expr size = exact_modulo(abs(a), abs(b));
  const Expr truncated = with_sign(size, sign_bit(a));
  const Expr negative = (signbit(a) != signbit(b)) & (size != 0);
  const Expr remainder = select(negative, truncated + b, with_sign(size, sign_bit(b)));
  const Expr multiple = floor((a - truncated) / b);
  const Expr quotient = select(negative, multiple - 1, multiple);
  return {remainder, quotient};
}

Expr floor_divide_float(const Expr& a, const Expr& b) {
  const Floored f = floored(a, b);
  const Expr near = select(f.above, f.integer - 1, f.integer);
  const Expr ordinary = isfinite(a) & isfinite(b) & (b != 0);
  const Expr far = select(ordinary, far_floored(a, b).quotient, f.quotient);
  return rare(f.far, near, far);
}

Expr remainder_float(const Expr& a, const Expr& b) {
  const Floored f = floored(a, b);
  return rare(f.far, with_sign(f.remainder, f.sign), far_floored(a, b).remainder);
}

// ---- integers ------------------------------------------------------------------------------

// Where the quotient rounded towards 0 is not the one rounded down: the remainder is not 0 and
// has not the divisor's sign. A divisor of 0 leaves the dividend as the remainder.
Expr rounds_up(const Expr& rest, const Expr& b) { return ((rest ^ b) < 0) & (rest != 0); }

Expr floor_divide_int(const Expr& a, const Expr& b) {
  const Expr towards_0 = quotient(a, b);
  if (is_unsigned_int(a.dtype())) return towards_0;
  const Expr rest = a - towards_0 * b;
  return select(rounds_up(rest, b) & (b != 0), towards_0 - 1, towards_0);
}

Expr remainder_int(const Expr& a, const Expr& b) {
  Expr rest = a - quotient(a, b) * b;
  if (is_signed_int(a.dtype())) rest = select(rounds_up(rest, b), rest + b, rest);
  return select(b == 0, 0, rest);
}

}  // namespace

Expr floor_divide(const Expr& a, const Expr& b) {
  return is_float(a.dtype()) ? floor_divide_float(a, b) : floor_divide_int(a, b);
}

Expr remainder(const Expr& a, const Expr& b) {
  return is_float(a.dtype()) ? remainder_float(a, b) : remainder_int(a, b);
}

Expr fmod(const Expr& a, const Expr& b) {
  if (is_int(a.dtype())) return select(b == 0, 0, a - quotient(a, b) * b);
  const Expr numerator = abs(a);
  const Expr divisor = abs(b);
  const Expr ratio = numerator / divisor;
  const Expr rest = fma(-floor(ratio), divisor, numerator);
  const Expr near = select(rest < 0, rest + divisor, rest);
  const Expr far = ~((ratio < quotient_limit(a.dtype())) & (divisor < kInfinity));
  const Expr sign = sign_bit(a);
  return rare(far, with_sign(near, sign), with_sign(exact_modulo(numerator, divisor), sign));
}

}  // namespace lanewise::ir::math
