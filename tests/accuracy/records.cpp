#include "tests/accuracy/records.h"

#include <cstdio>
#include <fstream>
#include <sstream>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::accuracy {

namespace {

// Exactly: to_chars and format give the shortest decimal, which reads worse beside another.
std::string hexadecimal(double number) {
  char text[64];
  std::snprintf(text, sizeof text, "%a", number);
  return text;
}

std::istream& operator>>(std::istream& in, Point& point) {
  std::string x, y, error;
  in >> x >> y >> error;
  point = {std::strtod(x.c_str(), nullptr), std::strtod(y.c_str(), nullptr),
           std::strtod(error.c_str(), nullptr)};
  return in;
}

void replace_file(const std::filesystem::path& file, const std::string& text) {
  const std::filesystem::path part = file.string() + ".part";
  std::ofstream(part) << text;
  std::filesystem::rename(part, file);
}

}  // namespace

std::optional<Measurement> load(const std::filesystem::path& file, const std::string& key) {
  std::ifstream in(file);
  std::string found;
  if (!std::getline(in, found) || found != key) return {};
  Measurement measured;
  in >> measured.points >> measured.by_mpfr >> measured.misrounded >> measured.differing >>
      measured.wrong_zeros >> measured.filter_misses >> measured.fault;
  for (Point point; in >> point;) measured.hardest.push_back(point);
  return measured;
}

void save(const std::filesystem::path& file, const std::string& key, const Measurement& measured) {
  const auto line = [](const Point& point) {
    return format("{} {} {}\n", hexadecimal(point.x), hexadecimal(point.y),
                  hexadecimal(point.error));
  };
  std::string text =
      format("{}\n{} {} {} {} {} {}\n", key, measured.points, measured.by_mpfr, measured.misrounded,
             measured.differing, measured.wrong_zeros, measured.filter_misses);
  text += line(measured.fault);
  for (const Point& point : measured.hardest) text += line(point);
  std::filesystem::create_directories(file.parent_path());
  replace_file(file, text);
}

std::vector<HardPoint> load_hardest(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw ValueError(format("accuracy: cannot read {}", file.string()));
  std::vector<HardPoint> points;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string dtype;
    HardPoint point;
    if (!(words >> point.function >> dtype >> point.point)) {
      throw ValueError(format("accuracy: {}: cannot read '{}'", file.string(), line));
    }
    point.dtype = dtype == text_name(DType::kF32) ? DType::kF32 : DType::kF64;
    points.push_back(std::move(point));
  }
  return points;
}

void save_hardest(const std::filesystem::path& file, const std::vector<HardPoint>& points) {
  std::string text =
      "# Arguments with the largest errors that ./dev accuracy has found: function, dtype, x, y,\n"
      "# error in units in the last place. Tests measure at them; ./dev accuracy adds to them.\n";
  for (const auto& [function, dtype, point] : points) {
    char error[32];
    std::snprintf(error, sizeof error, "%.4f", point.error);
    text += format("{} {} {} {} {}\n", function, text_name(dtype), hexadecimal(point.x),
                   hexadecimal(point.y), error);
  }
  replace_file(file, text);
}

}  // namespace lanewise::accuracy
