#include "ir/math/tables.h"

namespace lanewise::ir::math {

namespace {

using TableFunction = const Table& (*)();
constexpr TableFunction kTables[] = {
    two_over_pi_words,
    two_over_pi_part_0,
    two_over_pi_part_1,
    two_over_pi_part_2,
};

}  // namespace

const Table* find_table(std::string_view name) {
  for (const TableFunction table : kTables) {
    if (table().name == name) return &table();
  }
  return nullptr;
}

}  // namespace lanewise::ir::math
