#include "tests/accuracy/report.h"

#include <cmath>
#include <cstdio>

#include "runtime/cpu.h"
#include "support/format.h"

namespace lanewise::accuracy {

namespace {

template <class... Args>
std::string print(const char* pattern, Args... args) {
  char text[160];
  std::snprintf(text, sizeof text, pattern, args...);
  return text;
}

Point worst(const Row& row) {
  return row.measured.hardest.empty() ? Point{0, 0, 0} : row.measured.hardest.front();
}

std::string arguments(const Row& row, const Point& point) {
  if (row.function->arity() == 1) return print("%a", point.x);
  return print("%a, %a", point.x, point.y);
}

// Rounded up: a smaller number would be wrong.
std::string error_text(double error) { return print("%.4f", std::ceil(error * 1e4) / 1e4); }

std::string share(const Row& row) {
  const double percent =
      100 * static_cast<double>(row.measured.misrounded) / static_cast<double>(row.measured.points);
  return percent == 0 ? "0" : print("%.3g %%", percent);
}

std::string points_text(const Row& row) {
  if (row.is_exhaustive) return "all";
  return print("%.3g", static_cast<double>(row.measured.points));
}

constexpr const char* kIntroduction =
    R"(# Errors of functions

Written by `./dev accuracy`; do not edit. Errors are in units in the last place of the true result
(ULP; below the smallest normal number, of that number), so .5 is a correctly rounded result. The
bound is the one in the op table (`ir/ops.def`), which tests hold every change to. "Misrounded" is
the share of results that are not the number nearest to the true result.

"All" points are all 2^32 float32 arguments; another number of a function of one float32 argument
counts evenly spaced ones. All other functions were measured at points that are dense where the
function is hard (near its zeros, where results overflow or are subnormal, at the steps of tables)
and spread over all numbers; the largest error of those is what was found, not a proof. The true results are MPFR's, except where a reference of higher precision
shows that an error is neither among the largest nor near the midpoint of two results.

)";

}  // namespace

std::string fault_of(const Row& row) {
  const Measurement& m = row.measured;
  const std::string at = arguments(row, m.fault);
  if (worst(row).error > row.function->spec().max_ulp) {
    return format("error {} above the bound at {}", worst(row).error, arguments(row, worst(row)));
  }
  if (m.differing > 0) return format("{} results differ between ISAs, as at {}", m.differing, at);
  if (m.wrong_zeros > 0) return format("{} zeros of the wrong sign, as at {}", m.wrong_zeros, at);
  if (m.filter_misses > 0) {
    return format("the filter is wrong at {} points, as at {}", m.filter_misses, at);
  }
  return "";
}

std::string summary(const Row& row) {
  const std::string fault = fault_of(row);
  return format("{} {}: {} ULP of {} at {}, {} points, misrounded {}{}", row.function->name,
                text_name(row.dtype), error_text(worst(row).error), row.function->spec().max_ulp,
                arguments(row, worst(row)), points_text(row), share(row),
                fault.empty() ? "" : "; FAULT: " + fault);
}

std::string accuracy_page(const std::vector<Row>& rows, const std::vector<jit::Target>& targets) {
  std::string text = kIntroduction;
  std::string names;
  for (const jit::Target target : targets) {
    names += (names.empty() ? "" : " and ") + std::string(to_string(target));
  }
  text += format("Measured on {}, with code for {}", runtime::cpu_name(), names);
  text += targets.size() > 1 ? ". At every point both gave the\nsame bits (any NaN counts as any "
                               "other), so one row serves for both.\n"
                             : ".\n";
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    text += format("\n## {}\n\n", dtype == DType::kF32 ? "float32" : "float64");
    text += "| function | bound | largest error | at | misrounded | points |\n";
    text += "| --- | --- | --- | --- | --- | --- |\n";
    for (const Row& row : rows) {
      if (row.dtype != dtype) continue;
      text += format("| `{}` | {} | {} | `{}` | {} | {} |\n", row.function->name,
                     row.function->spec().max_ulp, error_text(worst(row).error),
                     arguments(row, worst(row)), share(row), points_text(row));
    }
  }
  for (const Row& row : rows) {
    const ir::OpSpec& spec = row.function->spec();
    if (spec.max_absolute == 0 || row.dtype != DType::kF32) continue;
    text += format(
        "\nThe result of `{}` may nearly cancel, and its error is then at most {} 2^-24 (float64: "
        "2^-53) as\nan absolute number. In its rows a unit is at least that number divided by the "
        "bound.\n",
        spec.name, spec.max_absolute);
  }
  return text;
}

}  // namespace lanewise::accuracy
