#include "ir/math/tables.h"

namespace lanewise::ir::math {

namespace {

using TableFunction = const Table& (*)();
// clang-format off
constexpr TableFunction kTables[] = {
    atan_angle_f32,
    atan_angle_f64,
    atan_angle_low_f32,
    atan_angle_low_f64,
    atan_centre_f32,
    atan_centre_f64,
    cbrt_high_f32,
    cbrt_high_f64,
    cbrt_inverse_f32,
    cbrt_inverse_f64,
    cbrt_low_f32,
    cbrt_low_f64,
    cbrt_power_high_f32,
    cbrt_power_high_f64,
    cbrt_power_low_f32,
    cbrt_power_low_f64,
    log10_high_f32,
    log10_high_f64,
    log10_low_f32,
    log10_low_f64,
    log2_high_f32,
    log2_high_f64,
    log2_low_f32,
    log2_low_f64,
    log_high_f32,
    log_high_f64,
    log_inverse_f32,
    log_inverse_f64,
    log_low_f32,
    log_low_f64,
    pow_high_f32,
    pow_high_f64,
    pow_inverse_f32,
    pow_inverse_f64,
    pow_low_f32,
    pow_low_f64,
    power_f32,
    power_f64,
    power_low_f32,
    power_low_f64,
    tanh_0_f32,
    tanh_1_f32,
    tanh_2_f32,
    tanh_3_f32,
    tanh_4_f32,
    tanh_5_f32,
    tanh_6_f32,
    tanh_7_f32,
    tanh_centre_f32,
    two_over_pi_part_0,
    two_over_pi_part_1,
    two_over_pi_part_2,
    two_over_pi_words,
};

using TablesFunction = std::span<const Table> (*)();
constexpr TablesFunction kFamilies[] = {
    erf_tables_f32,
    erf_tables_f64,
    erfc_tables_f32,
    erfc_tables_f64,
};
// clang-format on

}  // namespace

const Table* find_table(std::string_view name) {
  for (const TableFunction table : kTables) {
    if (table().name == name) return &table();
  }
  for (const TablesFunction family : kFamilies) {
    for (const Table& table : family()) {
      if (table.name == name) return &table;
    }
  }
  return nullptr;
}

}  // namespace lanewise::ir::math
