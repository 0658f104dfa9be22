#include "ir/math/tables.h"

namespace lanewise::ir::math {

namespace {

// Each family adds its tables here: a function that returns a static one.
using TableFunction = const Table& (*)();
constexpr TableFunction kTables[] = {nullptr};

}  // namespace

const Table* find_table(std::string_view name) {
  for (const TableFunction table : kTables) {
    if (table != nullptr && table().name == name) return &table();
  }
  return nullptr;
}

}  // namespace lanewise::ir::math
