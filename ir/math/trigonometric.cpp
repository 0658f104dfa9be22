// sin, cos, tan. An argument is n pi/2 + r with |r| <= pi/4, r in two words; polynomials give the
// functions of r, and n modulo 4 says which of them with which sign is the result.
#include "ir/math/coefficients_trigonometric.inc"
#include "ir/math/detail.h"
#include "ir/math/math.h"
#include "ir/math/tables.h"

namespace lanewise::ir::math {

namespace {

// r = high - low. What is subtracted is +0 where the argument is a zero, so that -0 stays -0.
struct Reduced {
  Expr high;
  Expr low;
  Expr quadrant;  // a signed integer with the low bits of n
};

// ---- |x| up to this: r = x - n pi/2, with pi/2 in three words ------------------------------

double near_limit(DType dtype) { return by_dtype(dtype, 0x1p16, 0x1p36); }

// x - n h0 is exact for a full word h0: it is below 1 and a multiple of the last bit of h0 or of x.
// What follows must not lose bits where n h1 cancels nearly all of it, nor the sign of -0, for
// which h1 is positive.
Reduced reduce_near(const Expr& x) {
  const bool single = x.dtype() == DType::kF32;
  const double* const half_pi = single ? kHalfPiF32 : kHalfPiF64;
  const Nearest n = nearest_integer(x, single ? kTwoOverPiF32 : kTwoOverPiF64);
  const Expr rest = fma(-n.value, half_pi[0], x);
  const Pair second = two_product(n.value, x.like(half_pi[1]));
  const Expr high = rest - second.high;
  const Expr low = ((high - rest) + second.high) + fma(n.value, half_pi[2], second.low);
  return {high, low, n.bits};
}

// ---- larger arguments, by the fractional part of x 2/pi ------------------------------------

// 2^64 high + low, unsigned.
struct Wide {
  Expr high;
  Expr low;
};

// For x = X 2^e > 0, X an integer of 53 bits: X (2/pi 2^e modulo 4), modulo 4, in units of
// 2^-126. The 192 bits of 2/pi 2^e that begin with those of 2 and 1 leave an error of 2^-137.
Wide far_turns(const Expr& x) {
  const Expr bits = x.as_unsigned();
  const Expr integer = (bits & 0xfffffffffffff) | 0x10000000000000;
  // The place of the bit of 2 in the table, whose first 64 bits are 0.
  const Expr place = (bits >> 52) - 1013;
  const Expr index = place >> 6;
  const Expr shift = place & 63;
  Expr words[4];
  for (int i = 0; i < 4; ++i) words[i] = table_lookup(two_over_pi_words(), index + i);
  const auto part = [&](int i) {  // counts of 64 shift everything out
    return (words[i] << shift) | (words[i + 1] >> (64 - shift));
  };
  const Expr middle = integer * part(1);
  const Expr low = middle + multiply_high(integer, part(2));
  const Expr carry = select(low < middle, 1, low.like(0));
  return {integer * part(0) + multiply_high(integer, part(1)) + carry, low};
}

// An unsigned integer below 2^32, and a signed one below 2^51 in magnitude, as a float64.
Expr small_to_float(const Expr& n) {
  return (n | bits_of(DType::kF64, 0x1p52)).as_float() - 0x1p52;
}
Expr signed_to_float(const Expr& n) {
  return (n + bits_of(DType::kF64, 0x1.8p52)).as_float() - 0x1.8p52;
}

Reduced reduce_far_f64(const Expr& x) {
  const Wide turns = far_turns(x);
  const Expr quadrant = (turns.high + (int64_t{1} << 61)) >> 62;
  // The fraction, from -1/2 to 1/2, in four pieces of 32 bits that a float64 holds.
  const Expr fraction = (turns.high - (quadrant << 62)).as_signed();
  const auto low_half = [](const Expr& word) {
    return small_to_float(word.as_unsigned() & 0xffffffff);
  };
  const Expr first = signed_to_float(fraction >> 32) * 0x1p32;
  const Pair leading = fast_two_sum(first, low_half(fraction));
  const Expr rest = fma(small_to_float(turns.low >> 32), 0x1p-32, low_half(turns.low) * 0x1p-64);
  const Pair half_pi{x.like(kHalfPiF64[0]), x.like(kHalfPiF64[1])};
  const Pair r = multiply(Pair{leading.high, leading.low + rest}, half_pi);
  return {r.high * 0x1p-62, r.low * -0x1p-62, quadrant.as_signed()};
}

// The same for float64 numbers x > 2^16 that came from float32; r in one word is enough.
Reduced reduce_far_f32(const Expr& x) {
  const Expr bits = x.as_unsigned();
  // x = scaled 2^8j with 2^16 <= scaled < 2^24; `scaled` times either of the first two parts of
  // 2/pi 2^8j modulo 2^9 is exact, and what the third leaves out is below 2^-78.
  const Expr exponent = (bits >> 52) - (1023 + 16);
  const Expr scaled = (bits - ((exponent & ~7) << 52)).as_float();
  const Expr index = exponent >> 3;
  const Expr first = scaled * table_lookup(two_over_pi_part_0(), index);
  const Expr first_turns = round(first);
  const Expr second = scaled * table_lookup(two_over_pi_part_1(), index);
  const Expr second_turns = round(second);
  const Expr sum = (first - first_turns) + (second - second_turns);
  const Expr sum_turns = round(sum);
  const Expr fraction = fma(scaled, table_lookup(two_over_pi_part_2(), index), sum - sum_turns);
  const Nearest n = nearest_integer(first_turns + second_turns + sum_turns);
  return {fraction * kHalfPiF64[0], x.like(0), n.bits};
}

Reduced reduce_far(const Expr& x) {
  return x.dtype() == DType::kF32 ? reduce_far_f32(x.cast(DType::kF64)) : reduce_far_f64(x);
}

// ---- the functions of r --------------------------------------------------------------------

// r^2, rounded once.
Expr square_of(const Reduced& r) { return fma(r.high, r.high, -2 * r.high * r.low); }

Expr sine_of(const Reduced& r, const Expr& z) {
  const Expr tail = polynomial(
      z, by_dtype(z.dtype(), std::span<const double>(kSineF32), std::span<const double>(kSineF64)));
  return r.high - fma(z * r.high, tail, r.low);
}

Expr cosine_of(const Expr& z) {
  const Expr tail = polynomial(z, by_dtype(z.dtype(), std::span<const double>(kCosineF32),
                                           std::span<const double>(kCosineF64)));
  return fma(z, fma(z, tail, -.5), 1.0);
}

// x negated where bit 1 of the integer is set.
Expr negate_by_bit_1(const Expr& x, const Expr& integer) {
  return flip_sign(x, sign_bit((integer << (8 * size_of(x.dtype()) - 2)).as_float()));
}

Expr is_odd(const Expr& integer) { return (integer & 1) != 0; }

Expr sine(const Reduced& r) {
  const Expr z = square_of(r);
  return negate_by_bit_1(select(is_odd(r.quadrant), cosine_of(z), sine_of(r, z)), r.quadrant);
}

Expr cosine(const Reduced& r) {
  const Expr z = square_of(r);
  return negate_by_bit_1(select(is_odd(r.quadrant), sine_of(r, z), cosine_of(z)), r.quadrant + 1);
}

// tan r by a polynomial, or -1 / tan r with one step of Newton's method, for float32.
Expr tangent_f32(const Reduced& r) {
  const Pair z = two_product(r.high, r.high);
  const Pair cube = two_product(z.high, r.high);
  // What was rounded off r and its cube, times derivatives: 1 + tan^2 r, and roughly the
  // polynomial. It is +0 where the argument is a zero, and subtracted.
  const Expr cube_low = fma(z.low, r.high, cube.low);
  const Expr low = fma(-cube_low, .43, r.low * fma(z.high, 1.62, 1.0));
  const Pair t = fast_two_sum(r.high, fma(cube.high, polynomial(z.high, kTangentF32), -low));
  const Expr inverse = 1 / t.high;
  const Expr excess = fma(inverse, t.low, fma(inverse, t.high, -1.0));
  const Expr quotient = fma(-excess, inverse, inverse);
  return select(is_odd(r.quadrant), -quotient, t.high);
}

// tan r = t / d with t = 2 tan(r / 2) and d = 1 - t^2 / 4, or -d / t; one rounding counts.
Expr tangent(const Reduced& r) {
  if (r.high.dtype() == DType::kF32) return tangent_f32(r);
  const Expr z = square_of(r);
  const Expr tail = z * polynomial(z, kTangentF64);
  const Pair t = fast_two_sum(r.high, fma(r.high, tail, -fma(r.low, tail, r.low)));
  const Expr half = t.high * .5;
  const Expr high = fma(-half, half, 1.0);
  const Pair d{high, fma(-half, t.low, fma(-half, half, 1 - high))};
  const Expr odd = is_odd(r.quadrant);
  const Pair numerator = select(odd, -d, t);
  const Pair denominator = select(odd, t, d);
  const Expr inverse = 1 / denominator.high;
  const Expr quotient = numerator.high * inverse;
  // Signs such that it is +0 where the argument is a zero.
  const Expr excess = fma(quotient, denominator.low,
                          fma(quotient, denominator.high, -numerator.high) - numerator.low);
  return fma(-excess, inverse, quotient);
}

// f(x), where `far` is f for a large x, perhaps in float64.
Expr for_all_sizes(const Expr& x, const Expr& near, const Expr& far) {
  const Expr size = abs(x);
  return rare(~(size < near_limit(x.dtype())), near, select(size < kInfinity, far, kNan));
}

// f(x) from f(|x|) in either format, for an odd function.
Expr odd(const Expr& x, const Expr& of_size) {
  return flip_sign(of_size.cast(x.dtype()), sign_bit(x));
}

}  // namespace

const Table& two_over_pi_words() {
  static const Table table = make_table("two_over_pi_words", DType::kU64, kFarWords);
  return table;
}

const Table& two_over_pi_part_0() {
  static const Table table = make_table("two_over_pi_part_0", DType::kF64, kFarPart0);
  return table;
}

const Table& two_over_pi_part_1() {
  static const Table table = make_table("two_over_pi_part_1", DType::kF64, kFarPart1);
  return table;
}

const Table& two_over_pi_part_2() {
  static const Table table = make_table("two_over_pi_part_2", DType::kF64, kFarPart2);
  return table;
}

Expr sin(const Expr& x) {
  return for_all_sizes(x, sine(reduce_near(x)), odd(x, sine(reduce_far(abs(x)))));
}

Expr cos(const Expr& x) {
  return for_all_sizes(x, cosine(reduce_near(x)), cosine(reduce_far(abs(x))).cast(x.dtype()));
}

Expr tan(const Expr& x) {
  return for_all_sizes(x, tangent(reduce_near(x)), odd(x, tangent(reduce_far(abs(x)))));
}

}  // namespace lanewise::ir::math
