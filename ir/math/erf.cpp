// erf, erfc.
//
// |x| plus a shift is in one of 16 intervals, named by bits of its exponent and fraction, with
// polynomials of their own around a centre c: for erf itself, and for e^(x^2) erfc(x). The centres
// are such that the first coefficients are nearly exact.
#include "ir/math/coefficients_erf.inc"
#include "ir/math/detail.h"
#include "ir/math/exp.h"
#include "ir/math/math.h"
#include "ir/math/tables.h"

namespace lanewise::ir::math {

namespace {

constexpr size_t kIntervals = 16;

// One table for the centres and one for each coefficient.
template <size_t N>
std::vector<Table> make_tables(const std::string& name, DType dtype, const uint64_t (&words)[N]) {
  std::vector<Table> tables;
  for (size_t start = 0; start < N; start += kIntervals) {
    tables.push_back(
        {name + std::to_string(tables.size()), dtype, {words + start, words + start + kIntervals}});
  }
  return tables;
}

// The polynomial that holds at a number: coefficients, and its distance from the centre.
struct Piece {
  Expr shifted;
  Expr distance;
  std::vector<Expr> coefficients;
};

Piece find_piece(const Expr& a, double shift, std::span<const Table> tables) {
  Piece piece;
  piece.shifted = a + shift;
  const Expr index = piece.shifted.as_unsigned() >> (format_of(a.dtype()).fraction_bits - 2);
  piece.distance = a - table_lookup(tables[0], index);
  for (const Table& table : tables.subspan(1)) {
    piece.coefficients.push_back(table_lookup(table, index));
  }
  return piece;
}

// c[1] + c[2] t + ...
Expr slope(const Piece& piece) {
  return polynomial(piece.distance, piece.distance * piece.distance,
                    std::span(piece.coefficients).subspan(1));
}

// c[0] + c[1] t + ... with an error far below that of a word; the low word may be larger.
Pair two_words(const Piece& piece) {
  const std::span<const Expr> c(piece.coefficients);
  const Expr t2 = piece.distance * piece.distance;
  const Pair first = two_product(piece.distance, c[1]);
  const Pair sum = fast_two_sum(c[0], first.high);
  const Expr rest = polynomial(piece.distance, t2, c.subspan(2));
  return {sum.high, sum.low + fma(t2, rest, first.low)};
}

// ---- erfc ----------------------------------------------------------------------------------

constexpr double kErfcShift = 2;

Expr reflect(const Expr& x, const Expr& of_size) { return select(x < 0, 2 - of_size, of_size); }

Expr erfc_f32(const Expr& x) {
  const Expr wide = x.cast(DType::kF64);
  const Expr size = abs(wide);
  const Expr a = select(size > 11, 11, size);  // beyond, the result is 0
  const Piece piece = find_piece(a, kErfcShift, erfc_tables_f32());
  const Expr factor = fma(piece.distance, slope(piece), piece.coefficients[0]);
  return reflect(wide, factor * normal_value(exponential(-a * a))).cast(DType::kF32);
}

// 2^(eighths / 8) (1 + growth) q, where the power is a normal number.
Expr erfc_value(const Nearest& eighths, const Expr& growth, const Pair& q) {
  const Expr power = power_of_two(eighths);
  const Expr high = power * q.high;
  const Expr low = fma(power, q.low, fma(power, q.high, -high));
  return high + fma(high, growth, fma(low, growth, low));
}

Expr erfc_f64(const Expr& x) {
  const Expr size = abs(x);
  const Expr a = select(size > 28, 28, size);  // beyond, the result is 0
  const Piece piece = find_piece(a, kErfcShift, erfc_tables_f64());
  const Pair q = two_words(piece);
  const Pair square = two_product(a, a);
  const auto [eighths, r] = reduce(-square.high);
  const Expr r2 = r.high * r.high;
  // e^r - 1 - r; the rounding error of the square, up to 2^-44, is a factor on all of e^r.
  const Expr bend = fma(r2, expm1_series(r.high, r2), power_of_two_low(eighths));
  const Expr rest = r.low - square.low;
  const Expr growth = r.high + (bend + fma(rest, r.high + bend, rest));
  // 2^512 times as large where it may be subnormal.
  const Nearest raised{eighths.value + 4096, eighths.bits + 4096};
  const Expr small = scale2(erfc_value(raised, growth, q), x.like(-512));
  return reflect(x, rare(size > 25, erfc_value(eighths, growth, q), small));
}

}  // namespace

std::span<const Table> erf_tables_f32() {
  static const std::vector<Table> tables = make_tables("erf_f32_", DType::kF32, kErfF32);
  return tables;
}

std::span<const Table> erf_tables_f64() {
  static const std::vector<Table> tables = make_tables("erf_f64_", DType::kF64, kErfF64);
  return tables;
}

std::span<const Table> erfc_tables_f32() {
  static const std::vector<Table> tables = make_tables("erfc_f32_", DType::kF64, kErfcF32);
  return tables;
}

std::span<const Table> erfc_tables_f64() {
  static const std::vector<Table> tables = make_tables("erfc_f64_", DType::kF64, kErfcF64);
  return tables;
}

Expr erf(const Expr& x) {
  const bool single = x.dtype() == DType::kF32;
  const double last = single ? 4 : 6;  // from there on it is 1
  const Expr size = abs(x);
  const Expr a = select(size > last, last, size);
  const Piece piece = find_piece(a, .5, single ? erf_tables_f32() : erf_tables_f64());
  // In the first interval, with centre 0, erf(a) = a + a slope.
  const Expr start = select(piece.shifted < .625, a, piece.coefficients[0]);
  return flip_sign(fma(piece.distance, slope(piece), start), sign_bit(x));
}

Expr erfc(const Expr& x) { return x.dtype() == DType::kF32 ? erfc_f32(x) : erfc_f64(x); }

}  // namespace lanewise::ir::math
