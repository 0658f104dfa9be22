#include "ir/math/detail.h"

#include <bit>
#include <cmath>

namespace lanewise::ir::math {

const FloatFormat& format_of(DType dtype) {
  static constexpr FloatFormat kF32{23, 127, 0x1p-126, 0x1.fffffep127};
  static constexpr FloatFormat kF64{52, 1023, 0x1p-1022, 0x1.fffffffffffffp1023};
  return by_dtype(dtype, kF32, kF64);
}

int64_t bits_of(DType dtype, double number) {
  if (dtype == DType::kF32) return std::bit_cast<int32_t>(static_cast<float>(number));
  return std::bit_cast<int64_t>(number);
}

Expr horner(const Expr& x, std::span<const double> c) {
  Expr sum = x.like(c.back());
  for (size_t i = c.size() - 1; i-- > 0;) sum = fma(sum, x, c[i]);
  return sum;
}

Expr polynomial(const Expr& x, const Expr& x2, std::span<const Expr> c) {
  if (c.size() == 1) return c[0];
  // chains[0] holds the even coefficients, chains[1] the odd ones.
  Expr chains[2];
  for (size_t parity = 0; parity < 2; ++parity) {
    size_t next = (c.size() - 1 - parity) / 2 * 2 + parity;
    chains[parity] = c[next];
    while (next >= 2) chains[parity] = fma(chains[parity], x2, c[next -= 2]);
  }
  return fma(chains[1], x, chains[0]);
}

Expr polynomial(const Expr& x, const Expr& x2, std::span<const double> c) {
  std::vector<Expr> coefficients;
  for (const double number : c) coefficients.push_back(x.like(number));
  return polynomial(x, x2, coefficients);
}

Expr polynomial(const Expr& x, std::span<const double> c) {
  return c.size() <= 2 ? horner(x, c) : polynomial(x, x * x, c);
}

Pair two_sum(const Expr& a, const Expr& b) {
  const Expr sum = a + b;
  const Expr b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

Pair fast_two_sum(const Expr& a, const Expr& b) {
  const Expr sum = a + b;
  return {sum, b - (sum - a)};
}

Pair two_product(const Expr& a, const Expr& b) {
  const Expr product = a * b;
  return {product, fma(a, b, -product)};
}

Pair add(const Pair& a, const Expr& b) {
  const Pair sum = two_sum(a.high, b);
  return fast_two_sum(sum.high, sum.low + a.low);
}

Pair add(const Pair& a, const Pair& b) {
  const Pair sum = two_sum(a.high, b.high);
  return fast_two_sum(sum.high, sum.low + (a.low + b.low));
}

Pair multiply(const Pair& a, const Expr& b) {
  const Pair product = two_product(a.high, b);
  return fast_two_sum(product.high, fma(a.low, b, product.low));
}

Pair multiply(const Pair& a, const Pair& b) {
  const Pair product = two_product(a.high, b.high);
  return fast_two_sum(product.high, fma(a.high, b.low, fma(a.low, b.high, product.low)));
}

Pair divide(const Pair& a, const Pair& b) {
  const Expr quotient = a.high / b.high;
  // a - quotient * b, where the first fma is exact.
  const Expr remainder = fma(-quotient, b.low, fma(-quotient, b.high, a.high) + a.low);
  return fast_two_sum(quotient, remainder / b.high);
}

Pair select(const Expr& mask, const Pair& yes, const Pair& no) {
  return {select(mask, yes.high, no.high), select(mask, yes.low, no.low)};
}

namespace {

double magic(DType dtype) { return std::ldexp(1.5, format_of(dtype).fraction_bits); }

Nearest from_magic(const Expr& shifted) {
  return {shifted - magic(shifted.dtype()), shifted.as_signed()};
}

}  // namespace

Nearest nearest_integer(const Expr& number) { return from_magic(number + magic(number.dtype())); }

Nearest nearest_integer(const Expr& number, double factor) {
  return from_magic(fma(number, factor, magic(number.dtype())));
}

Split split_exponent(const Expr& number, double lowest) {
  const DType dtype = number.dtype();
  const FloatFormat& format = format_of(dtype);
  const int64_t fraction_mask = (int64_t{1} << format.fraction_bits) - 1;
  const int64_t lowest_bits = bits_of(dtype, lowest);
  // After this the fraction counts from `lowest`, and the exponent field is right for it.
  const Expr shifted = number.as_unsigned() - (lowest_bits & fraction_mask);
  const Expr mantissa = ((shifted & fraction_mask) + lowest_bits).as_float();
  // An integer below 2^fraction_bits, or-ed into the fraction of that power of two.
  const double offset = std::ldexp(1.0, format.fraction_bits);
  const Expr counted = ((shifted >> format.fraction_bits) | bits_of(dtype, offset)).as_float();
  const Expr exponent =
      counted - (offset + static_cast<double>(lowest_bits >> format.fraction_bits));
  return {mantissa, exponent, shifted};
}

Expr outside(const Expr& x, double low, double high) {
  const DType dtype = x.dtype();
  const int64_t max = dtype == DType::kF32 ? INT32_MAX : INT64_MAX;
  // Moves `high` to the largest integer: what lies above wraps to negative numbers, where those
  // with a sign bit are already.
  const int64_t distance = max - bits_of(dtype, high);
  return (x.as_signed() + distance) < bits_of(dtype, low) + distance;
}

Expr not_positive_normal(const Expr& x) {
  const FloatFormat& format = format_of(x.dtype());
  return outside(x, format.smallest_normal, format.largest);
}

Expr rough_reciprocal(const Expr& x) {
  // The exponent negated, the line 1.9 - fraction for the fraction (5 % off), and a Newton step.
  const FloatFormat& format = format_of(x.dtype());
  const int64_t unit = int64_t{1} << format.fraction_bits;
  const int64_t line = 2 * format.bias * unit - unit / 10;
  const Expr start = (x.as_signed().like(line) - x.as_signed()).as_float();
  return start * fma(-start, x, 2.0);
}

Expr sign_bit(const Expr& x) {
  const Expr bits = x.as_unsigned();
  return bits & (bits.dtype() == DType::kU32 ? INT32_MIN : INT64_MIN);
}

Expr flip_sign(const Expr& x, const Expr& sign) { return (x.as_unsigned() ^ sign).as_float(); }

Expr with_sign(const Expr& magnitude, const Expr& sign) {
  return (magnitude.as_unsigned() | sign).as_float();
}

}  // namespace lanewise::ir::math
