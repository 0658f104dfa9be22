// ./dev accuracy: measures the error of every function, see --help.
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>

#include "ir/text.h"
#include "runtime/cpu.h"
#include "support/error.h"
#include "support/format.h"
#include "tests/accuracy/machine_code.h"
#include "tests/accuracy/records.h"
#include "tests/accuracy/report.h"

namespace lanewise::accuracy {
namespace {

constexpr const char* kHelp =
    R"(accuracy [options]: measures the error of functions and compares it with the op table

  --function NAME  this one only (may be given several times): exp, pow, x**3
  --dtype NAME     f32 or f64 only
  --stride N       every Nth float32 number instead of all (functions of one argument)
  --points N       points of all other measurements (100000000)
  --threads N      (all cores)
  --results DIR    keeps results here and takes those that are still valid from here
  --hardest FILE   measures at these points too
  --grow           adds the hardest points found to that file
  --page FILE      writes docs/accuracy.md, once all functions are measured
)";

struct Options {
  std::vector<std::string> functions;
  std::vector<DType> dtypes{DType::kF32, DType::kF64};
  Effort effort;
  std::filesystem::path results, hardest, page;
  bool grow = false;
};

uint64_t number(const char* text) {
  uint64_t value = 0;
  const char* const end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, value);
  if (parsed.ptr != end || value == 0) throw ValueError(format("accuracy: not a number: {}", text));
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  options.effort.threads = runtime::usable_cores();
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--grow") {
      options.grow = true;
      continue;
    }
    if (i + 1 == argc) throw ValueError(format("accuracy: {} needs a value\n{}", name, kHelp));
    const char* const value = argv[++i];
    if (name == "--function") {
      options.functions.emplace_back(value);
    } else if (name == "--dtype") {
      options.dtypes = {std::string_view(value) == "f32" ? DType::kF32 : DType::kF64};
    } else if (name == "--stride") {
      options.effort.stride = number(value);
    } else if (name == "--points") {
      options.effort.points = number(value);
    } else if (name == "--threads") {
      options.effort.threads = static_cast<int>(number(value));
    } else if (name == "--results") {
      options.results = value;
    } else if (name == "--hardest") {
      options.hardest = value;
    } else if (name == "--page") {
      options.page = value;
    } else {
      throw ValueError(format("accuracy: unknown option {}\n{}", name, kHelp));
    }
  }
  return options;
}

std::vector<const Function*> chosen(const Options& options) {
  std::vector<const Function*> result;
  for (const Function& function : functions()) {
    if (options.functions.empty() || std::ranges::count(options.functions, function.name) > 0) {
      result.push_back(&function);
    }
  }
  for (const std::string& name : options.functions) {
    if (std::ranges::count(functions(), name, &Function::name) == 0) {
      throw ValueError(format("accuracy: no function {}", name));
    }
  }
  return result;
}

std::vector<jit::Target> targets() {
  std::vector<jit::Target> result{jit::Target::kX86_64_v3};
  if (runtime::isa_level() >= runtime::IsaLevel::kX86_64_v4) {
    result.push_back(jit::Target::kX86_64_v4);
  }
  return result;
}

class Session {
 public:
  explicit Session(const Options& options) : options_(options), targets_(targets()) {
    if (options.hardest.empty()) return;
    for (HardPoint& point : load_hardest(options.hardest)) {
      hardest_[{point.function, point.dtype}].push_back(point.point);
    }
  }

  // The number of faults.
  int run() {
    const std::vector<const Function*> list = chosen(options_);
    const size_t total = list.size() * options_.dtypes.size();
    for (const Function* function : list) {
      for (const DType dtype : options_.dtypes) {
        const std::string place = format("[{}/{}] ", rows_.size() + 1, total);
        rows_.push_back(measure_one(*function, dtype, place));
        const std::string fault = fault_of(rows_.back());
        if (!fault.empty()) ++faults_;
        clear_line();
        std::printf("%s%s\n", place.c_str(), summary(rows_.back()).c_str());
        std::fflush(stdout);
      }
    }
    if (options_.grow) grow();
    if (!options_.page.empty() && rows_.size() == 2 * functions().size()) write_page();
    return faults_;
  }

 private:
  Row measure_one(const Function& function, DType dtype, const std::string& place) {
    const ir::Program program = program_of(function, dtype);
    const auto key = [&](const Effort& effort) {
      return format("{} points, {}, code {}", point_count(function, dtype, effort), targets_.size(),
                    std::hash<std::string>()(print(program)));
    };
    const auto file = options_.results / format("{}.{}.txt", function.name, text_name(dtype));
    std::optional<Measurement> known;
    if (!options_.results.empty()) {
      known = load(file, key(Effort{}));  // better than a sample
      if (!known) known = load(file, key(options_.effort));
    }
    Row row{&function, dtype, {}, false};
    if (known) {
      row.measured = *known;
    } else {
      row.measured = measure(function, dtype, program, targets_, options_.effort,
                             [&](double share) { show(place, function, dtype, share); });
      if (!options_.results.empty()) save(file, key(options_.effort), row.measured);
    }
    row.is_exhaustive = row.measured.points == uint64_t{1} << 32;
    measure_hardest(function, dtype, program, row);
    return row;
  }

  // What earlier runs have found counts like what this one found.
  void measure_hardest(const Function& function, DType dtype, const ir::Program& program,
                       Row& row) const {
    const auto found = hardest_.find({function.name, dtype});
    if (found == hardest_.end()) return;
    const Measurement at = measure_at(function, dtype, program, targets_, found->second);
    Measurement& m = row.measured;
    m.differing += at.differing;
    m.wrong_zeros += at.wrong_zeros;
    if (at.fault.error >= 0) m.fault = at.fault;
    for (const Point& point : at.hardest) {
      if (std::ranges::none_of(m.hardest, [&](const Point& other) {
            return other.x == point.x && other.y == point.y;
          })) {
        m.hardest.push_back(point);
      }
    }
    std::ranges::stable_sort(m.hardest, std::greater{}, &Point::error);
  }

  static bool is_terminal() { return isatty(fileno(stdout)) != 0; }
  static void clear_line() {
    if (is_terminal()) std::printf("\r\033[K");
  }
  static void show(const std::string& place, const Function& function, DType dtype, double share) {
    if (!is_terminal()) return;
    std::printf("\r\033[K%s%s %s: %.0f %%", place.c_str(), function.name.c_str(),
                std::string(text_name(dtype)).c_str(), 100 * share);
    std::fflush(stdout);
  }

  void grow() const {
    if (options_.hardest.empty()) throw ValueError("accuracy: --grow needs --hardest");
    constexpr size_t kKept = 8;
    std::vector<HardPoint> points;
    for (const Function& function : functions()) {
      for (const DType dtype : {DType::kF32, DType::kF64}) {
        const auto row = std::ranges::find_if(
            rows_, [&](const Row& r) { return r.function == &function && r.dtype == dtype; });
        const auto known = hardest_.find({function.name, dtype});
        std::vector<Point> best;
        if (row != rows_.end()) best = row->measured.hardest;
        if (row == rows_.end() && known != hardest_.end()) best = known->second;
        if (best.size() > kKept) best.resize(kKept);
        for (const Point& point : best) points.push_back({function.name, dtype, point});
      }
    }
    save_hardest(options_.hardest, points);
  }

  void write_page() const {
    std::ofstream(options_.page) << accuracy_page(rows_, targets_);
    std::printf("wrote %s\n", options_.page.c_str());
  }

  const Options& options_;
  std::vector<jit::Target> targets_;
  std::map<std::pair<std::string, DType>, std::vector<Point>> hardest_;
  std::vector<Row> rows_;
  int faults_ = 0;
};

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "--help") {
    std::fputs(kHelp, stdout);
    return 0;
  }
  try {
    const Options options = parse(argc, argv);
    const int faults = Session(options).run();
    if (faults > 0) std::printf("%d faults\n", faults);
    return faults > 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
}

}  // namespace
}  // namespace lanewise::accuracy

int main(int argc, char** argv) { return lanewise::accuracy::main(argc, argv); }
