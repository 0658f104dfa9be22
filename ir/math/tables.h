// The tables of the expansions: a list, so that IR text can name them.
#pragma once

#include <span>
#include <string_view>

#include "ir/graph.h"

namespace lanewise::ir::math {

// Null if no table has that name.
const Table* find_table(std::string_view name);

// Each family defines its tables; the lists in tables.cpp name them all.
const Table& atan_angle_f32();
const Table& atan_angle_f64();
const Table& atan_angle_low_f32();
const Table& atan_angle_low_f64();
const Table& atan_centre_f32();
const Table& atan_centre_f64();
const Table& cbrt_high_f32();
const Table& cbrt_high_f64();
const Table& cbrt_inverse_f32();
const Table& cbrt_inverse_f64();
const Table& cbrt_low_f32();
const Table& cbrt_low_f64();
const Table& cbrt_power_high_f32();
const Table& cbrt_power_high_f64();
const Table& cbrt_power_low_f32();
const Table& cbrt_power_low_f64();
const Table& log10_high_f32();
const Table& log10_high_f64();
const Table& log10_low_f32();
const Table& log10_low_f64();
const Table& log2_high_f32();
const Table& log2_high_f64();
const Table& log2_low_f32();
const Table& log2_low_f64();
const Table& log_high_f32();
const Table& log_high_f64();
const Table& log_inverse_f32();
const Table& log_inverse_f64();
const Table& log_low_f32();
const Table& log_low_f64();
const Table& pow_high_f32();
const Table& pow_high_f64();
const Table& pow_inverse_f32();
const Table& pow_inverse_f64();
const Table& pow_low_f32();
const Table& pow_low_f64();
const Table& power_f32();
const Table& power_f64();
const Table& power_low_f32();
const Table& power_low_f64();
const Table& tanh_0_f32();
const Table& tanh_1_f32();
const Table& tanh_2_f32();
const Table& tanh_3_f32();
const Table& tanh_4_f32();
const Table& tanh_5_f32();
const Table& tanh_6_f32();
const Table& tanh_7_f32();
const Table& tanh_centre_f32();
const Table& two_over_pi_part_0();
const Table& two_over_pi_part_1();
const Table& two_over_pi_part_2();
const Table& two_over_pi_words();

// The centres and coefficients of a function's pieces.
std::span<const Table> erf_tables_f32();
std::span<const Table> erf_tables_f64();
std::span<const Table> erfc_tables_f32();
std::span<const Table> erfc_tables_f64();

// A table of `words`, bits of `dtype`; their number is a power of two.
template <size_t N>
Table make_table(std::string name, DType dtype, const uint64_t (&words)[N]) {
  static_assert((N & (N - 1)) == 0);
  return {std::move(name), dtype, {words, words + N}};
}

}  // namespace lanewise::ir::math
