// asin, acos, atan, atan2.
#include "ir/math/coefficients_inverse_trigonometric.inc"
#include "ir/math/detail.h"
#include "ir/math/math.h"
#include "ir/math/tables.h"

namespace lanewise::ir::math {

namespace {

const double* pi_words(DType dtype) { return dtype == DType::kF32 ? kPiF32 : kPiF64; }

// ---- asin, acos ----------------------------------------------------------------------------

// asin of |x| below 1/2, else of s = sqrt((1 - |x|) / 2) <= 1/2, which half the angle between x and
// 1 has as its sine: the angle is high + low.
struct HalfAngle {
  Expr small;  // |x| < 1/2
  Expr high;   // |x|, or s
  Expr low;
};

HalfAngle half_angle(const Expr& x) {
  const Expr size = abs(x);
  const Expr small = size < .5;
  const Expr half = fma(size, -.5, .5);
  const Expr z = select(small, x * x, half);
  const Expr root = sqrt(half);
  // What rounding took from the root; the smallest normal number avoids 0 / 0.
  const Expr root_low =
      fma(-root, root, half) / fma(root, 2., format_of(x.dtype()).smallest_normal);
  const Expr tail = z * polynomial(z, by_dtype(x.dtype(), std::span<const double>(kArcSineF32),
                                               std::span<const double>(kArcSineF64)));
  const Expr high = select(small, size, root);
  return {small, high, fma(high, tail, select(small, 0, root_low))};
}

// base - (high + low), with |base| >= |high| or base = 0.
Expr subtract_from(const Pair& base, const Expr& high, const Expr& low) {
  const Expr difference = base.high - high;
  const Expr rounding = (base.high - difference) - high;
  return difference + (rounding + (base.low - low));
}

}  // namespace

Expr asin(const Expr& x) {
  const double* const pi = pi_words(x.dtype());
  const HalfAngle angle = half_angle(x);
  const Expr zero = x.like(0);
  const Pair base{select(angle.small, zero, x.like(pi[0] / 2)),
                  select(angle.small, zero, x.like(pi[1] / 2))};
  const Expr factor = select(angle.small, -1, x.like(2));
  return flip_sign(subtract_from(base, angle.high * factor, angle.low * factor), sign_bit(x));
}

Expr acos(const Expr& x) {
  const double* const pi = pi_words(x.dtype());
  const HalfAngle angle = half_angle(x);
  const auto base = [&](double whole) {
    return select(angle.small, whole / 2, select(x < 0, whole, x.like(0)));
  };
  const Expr sign = sign_bit(select(angle.small, x, -x));
  const Expr factor = select(angle.small, 1, x.like(2));
  return subtract_from({base(pi[0]), base(pi[1])}, flip_sign(angle.high * factor, sign),
                       flip_sign(angle.low * factor, sign));
}

// ---- atan ----------------------------------------------------------------------------------

namespace {

// atan a = angle + atan t, with t = (a - c) / (1 + a c) for a centre c near a, which is 0 below
// 1/2 and infinite from 3: |t| <= 1/2.
struct Interval {
  Expr last;  // the one with infinite c
  Expr centre;
  Pair angle;
};

// For a, or something at most an eighth larger, as the bits of a float beyond those of 1.
Interval interval(const Expr& log, DType dtype) {
  const int64_t one = bits_of(dtype, 1);
  const int64_t first = bits_of(dtype, .375) - one;  // of any number below 1/2
  const int64_t three = bits_of(dtype, 3) - one;
  const Expr last = log >= three;
  const Expr clamped = select(last, three, select(log < first, first, log));
  // Half octaves.
  const Expr index = (clamped.as_unsigned() + one) >> (format_of(dtype).fraction_bits - 1);
  const bool single = dtype == DType::kF32;
  return {last,
          table_lookup(single ? atan_centre_f32() : atan_centre_f64(), index),
          {table_lookup(single ? atan_angle_f32() : atan_angle_f64(), index),
           table_lookup(single ? atan_angle_low_f32() : atan_angle_low_f64(), index)}};
}

// (atan t - t) / t for z = t^2.
Expr arc_tangent_tail(const Expr& z, std::span<const double> coefficients) {
  return z * polynomial(z, coefficients);
}

std::span<const double> arc_tangent_coefficients(DType dtype) {
  return by_dtype(dtype, std::span<const double>(kArcTangentF32),
                  std::span<const double>(kArcTangentF64));
}

}  // namespace

Expr atan(const Expr& x) {
  const Expr a = abs(x);
  const Interval i = interval(a.as_signed() - bits_of(x.dtype(), 1), x.dtype());
  const Expr t = select(i.last, -1, a - i.centre) / select(i.last, a, fma(a, i.centre, 1.));
  const Expr tail = arc_tangent_tail(t * t, arc_tangent_coefficients(x.dtype()));
  const Pair sum = fast_two_sum(i.angle.high, t);
  return flip_sign(sum.high + (sum.low + fma(t, tail, i.angle.low)), sign_bit(x));
}

// ---- atan2 ---------------------------------------------------------------------------------

namespace {

// The angle of (|x|, |y|) as angle + atan(n / d), for the point (x, y): mirrored at the second axis
// where x is negative, which negates n.
struct Direction {
  Pair angle;
  Expr n;
  Expr d;
};

// `sign` is that of x.
Direction direction(const Expr& y_size, const Expr& x_size, const Expr& sign) {
  const Interval i = interval(y_size.as_signed() - x_size.as_signed(), y_size.dtype());
  const Expr n = select(i.last, -x_size, fma(-i.centre, x_size, y_size));
  const Expr d = select(i.last, y_size, fma(i.centre, y_size, x_size));
  const auto mirrored = [&](const Expr& angle, double half_turn) {
    const Expr zero = angle.like(0);
    return flip_sign(angle, sign) + select(sign != 0, half_turn, zero);
  };
  // The first words of the table are multiples of a power of two, as the first word of pi is.
  const double* const pi = pi_words(y_size.dtype());
  return {{mirrored(i.angle.high, pi[0]), mirrored(i.angle.low, pi[1])}, flip_sign(n, sign), d};
}

// |angle| of a point whose coordinates are not too far from 1; a quotient in two words.
struct Angle {
  Expr value;
  Expr unsafe;  // where it is not right
};

Angle near_angle(const Expr& y_size, const Expr& x_size, const Expr& sign) {
  const DType dtype = y_size.dtype();
  const Direction r = direction(y_size, x_size, sign);
  const Expr inverse = 1 / r.d;
  const Expr t = r.n * inverse;
  const Expr t_low = fma(-t, r.d, r.n) * inverse;
  const Expr z = t * t;
  // The derivative, 1 / (1 + z), is near 1 - z.
  const Expr low = fma(-t_low, z, t_low) + r.angle.low;
  const Pair sum = fast_two_sum(r.angle.high, t);
  const Expr tail = arc_tangent_tail(z, arc_tangent_coefficients(dtype));
  const Expr value = sum.high + (sum.low + fma(t, tail, low));
  // The inverse must be normal and the product with the quotient exact.
  const double large = by_dtype(dtype, 0x1p100, 0x1p1000);
  const Expr ordinary = (r.d > 1 / large) & (r.d < large);
  const double tiny = by_dtype(dtype, 0x1p-90, 0x1p-900);
  return {value, ~ordinary | ((y_size > 0) & (y_size < tiny))};
}

// The same for any coordinates: scaled, infinite ones by what stands for their direction.
Expr far_angle_f64(const Expr& y, const Expr& x) {
  const Expr y_size = abs(y);
  const Expr x_size = abs(x);
  const Expr large = maximum(y_size, x_size) > 0x1p400;
  const Expr scale = select(large, 0x1p-100, y.like(0x1p600));
  const Expr y_infinite = y_size == kInfinity;
  const Expr x_infinite = x_size == kInfinity;
  const Expr origin = (y_size == 0) & (x_size == 0);
  const Expr finite_y = select(x_infinite, 0, y_size * scale);
  const Expr finite_x = select(y_infinite, 0, select(origin, 1, x_size * scale));
  const Expr angle =
      near_angle(select(y_infinite, 1, finite_y), select(x_infinite, 1, finite_x), sign_bit(x))
          .value;
  return select(is_nan(x) | is_nan(y), kNan, angle);
}

// In float64, where nothing overflows, underflows or needs a second word.
Expr far_angle_f32(const Expr& y, const Expr& x) {
  // A number beyond all finite ones, with which quotients make sense and round as they must.
  const auto finite = [](const Expr& size) { return select(size > 0x1p999, 0x1p1000, size); };
  const Expr wide_x = x.cast(DType::kF64);
  const Expr y_size = finite(abs(y.cast(DType::kF64)));
  const Expr x_size = finite(abs(wide_x)) + 0x1p-300;  // for the origin alone
  const Direction r = direction(y_size, x_size, sign_bit(wide_x));
  const Expr t = r.n / r.d;
  const Expr angle = r.angle.high + fma(t, arc_tangent_tail(t * t, kArcTangentF32), t);
  return angle.cast(DType::kF32);
}

}  // namespace

Expr atan2(const Expr& y, const Expr& x) {
  const Angle near = near_angle(abs(y), abs(x), sign_bit(x));
  const Expr far = y.dtype() == DType::kF32 ? far_angle_f32(y, x) : far_angle_f64(y, x);
  return flip_sign(rare(near.unsafe, near.value, far), sign_bit(y));
}

// ---- tables --------------------------------------------------------------------------------

const Table& atan_centre_f32() {
  static const Table table = make_table("atan_centre_f32", DType::kF32, kCentreF32);
  return table;
}

const Table& atan_centre_f64() {
  static const Table table = make_table("atan_centre_f64", DType::kF64, kCentreF64);
  return table;
}

const Table& atan_angle_f32() {
  static const Table table = make_table("atan_angle_f32", DType::kF32, kAngleF32);
  return table;
}

const Table& atan_angle_f64() {
  static const Table table = make_table("atan_angle_f64", DType::kF64, kAngleF64);
  return table;
}

const Table& atan_angle_low_f32() {
  static const Table table = make_table("atan_angle_low_f32", DType::kF32, kAngleLowF32);
  return table;
}

const Table& atan_angle_low_f64() {
  static const Table table = make_table("atan_angle_low_f64", DType::kF64, kAngleLowF64);
  return table;
}

}  // namespace lanewise::ir::math
