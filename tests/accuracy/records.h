// What the measurement keeps: results in a folder, one file a function and dtype, so that an
// interrupted run goes on; and the hardest arguments found, a file of the tree.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/accuracy/measure.h"

namespace lanewise::accuracy {

// `key` stands for all that a measurement depends on; nothing if another was measured.
std::optional<Measurement> load(const std::filesystem::path& file, const std::string& key);
void save(const std::filesystem::path& file, const std::string& key, const Measurement& measured);

struct HardPoint {
  std::string function;
  DType dtype;
  Point point;
};
std::vector<HardPoint> load_hardest(const std::filesystem::path& file);
void save_hardest(const std::filesystem::path& file, const std::vector<HardPoint>& points);

}  // namespace lanewise::accuracy
