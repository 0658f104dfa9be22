#include "tests/accuracy/points.h"

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <type_traits>

namespace lanewise::accuracy {

namespace {

using ir::Op;

struct Interval {
  double low, high;
};

// Where functions of one argument have their features.
struct Region {
  Op op;
  std::vector<Interval> intervals;
  std::vector<double> centres;  // approached from both sides
};

const std::vector<Region>& regions() {
  static const std::vector<Region> table{
      {Op::kExp,
       {{-750, 720}, {-105, 90}, {-1, 1}},
       {0, 709.782712893384, -708.396418532264, -745.133219101941, 88.7228394, -87.3365479}},
      {Op::kExp2, {{-1080, 1030}, {-150, 130}, {-1, 1}}, {0, 1024, -1022, -1075, 128, -126, -150}},
      {Op::kExpm1, {{-40, 720}, {-20, 90}, {-1, 1}}, {0, 709.782712893384, 88.7228394, -37.4}},
      {Op::kLog, {{.5, 2}, {.9, 1.1}, {0, 100}}, {1, 0}},
      {Op::kLog2, {{.5, 2}, {.9, 1.1}, {0, 100}}, {1, 0}},
      {Op::kLog10, {{.5, 2}, {.9, 1.1}, {0, 1000}}, {1, 0, 10, 1000}},
      {Op::kLog1p, {{-1, 1}, {-.1, .1}, {-1, 100}}, {0, -1, 1}},
      {Op::kCbrt, {{-8, 8}, {.125, 8}}, {0, 1, 8}},
      {Op::kSinh, {{-715, 715}, {-92, 92}, {-2, 2}}, {0, 710.475860073944, 89.4159851}},
      {Op::kCosh, {{-715, 715}, {-92, 92}, {-2, 2}}, {0, 710.475860073944, 89.4159851}},
      {Op::kTanh, {{-20, 20}, {-1, 1}}, {0, 19.06, 9.01}},
      {Op::kAsinh, {{-4, 4}, {-.5, .5}, {-1000, 1000}}, {0, 1}},
      {Op::kAcosh, {{1, 2}, {1, 1.1}, {1, 1000}}, {1}},
      {Op::kAtanh, {{-1, 1}, {-.5, .5}}, {0, 1, -1, .5}},
      {Op::kExpit, {{-750, 40}, {-105, 20}, {-4, 4}}, {0, -708.396418532264, -87.3365479}},
      {Op::kSin, {{-4, 4}, {-1000, 1000}, {-1e6, 1e6}}, {0, 65536, 0x1p36}},
      {Op::kCos, {{-4, 4}, {-1000, 1000}, {-1e6, 1e6}}, {0, 65536, 0x1p36}},
      {Op::kTan, {{-4, 4}, {-1000, 1000}, {-1e6, 1e6}}, {0, 65536, 0x1p36}},
      {Op::kAsin, {{-1, 1}, {-.5, .5}}, {0, 1, -1, .5, -.5}},
      {Op::kAcos, {{-1, 1}, {-.5, .5}}, {0, 1, -1, .5, -.5}},
      {Op::kAtan, {{-4, 4}, {-.6, .6}}, {0, 1, .5, 3}},
      {Op::kErf, {{-6, 6}, {-1, 1}}, {0, 1, 3.92, 5.92}},
      {Op::kErfc, {{-6, 27.3}, {-4, 10.1}, {-1, 1}}, {0, 1, 26.5432, 27.2264, 9.1942, 10.0541}},
  };
  return table;
}

const Region& region_of(Op op) {
  static const Region other{Op::kSquare, {{-8, 8}, {.5, 2}}, {0, 1, -1}};
  for (const Region& region : regions()) {
    if (region.op == op) return region;
  }
  return other;
}

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) { return (next() >> 32) * n >> 32; }
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(next() >> 11) * 0x1p-53);
  }
  double sign() { return (next() >> 63) != 0 ? -1 : 1; }
  double octave(double low, double high) { return std::exp2(uniform(low, high)); }

  template <class T>
  T any_bits() {
    return std::bit_cast<T>(static_cast<Bits<T>>(next()));
  }
  // A few numbers further, in either direction.
  template <class T>
  T beside(T x) {
    const auto step = static_cast<int64_t>(below(17)) - 8;
    if (!std::isfinite(x) || std::abs(x) < std::numeric_limits<T>::min()) return x;
    return std::bit_cast<T>(
        static_cast<Bits<T>>(std::bit_cast<Bits<T>>(x) + static_cast<Bits<T>>(step)));
  }

 private:
  uint64_t state_;
};

template <class T>
class Chooser {
 public:
  Chooser(const Function& function, Random random)
      : function_(function), region_(region_of(function.op)), r_(random) {}

  T argument() {
    switch (r_.below(16)) {
      case 0:
      case 1:
        return r_.any_bits<T>();
      case 2:
        return tiny();
      case 3:
      case 4:
      case 5:
        return static_cast<T>(r_.sign() * r_.octave(-60, 60));
      case 6:
      case 7:
        return step();
      case 8:
      case 9:
      case 10:
        return near_centre();
      case 11:
        return is_periodic() ? near_multiple() : within();
      default:
        return within();
    }
  }

  void arguments(T& x, T& y) {
    const uint64_t kind = r_.below(16);
    if (kind < 2) {
      x = r_.any_bits<T>();
      y = r_.any_bits<T>();
    } else if (function_.op == Op::kPow) {
      powers(kind, x, y);
    } else if (function_.op == Op::kLogaddexp) {
      summands(kind, x, y);
    } else if (function_.op == Op::kFmod || function_.op == Op::kRemainder) {
      quotients(kind, x, y);
    } else {
      coordinates(kind, x, y);
    }
  }

 private:
  static constexpr int kDigits = std::numeric_limits<T>::digits;
  static constexpr int kLowest = std::numeric_limits<T>::min_exponent - kDigits;
  static constexpr int kHighest = std::numeric_limits<T>::max_exponent;

  bool is_periodic() const {
    return function_.op == Op::kSin || function_.op == Op::kCos || function_.op == Op::kTan;
  }

  // Subnormal, or nearly.
  T tiny() {
    const Bits<T> bits = static_cast<Bits<T>>(r_.next()) & ((Bits<T>{1} << (kDigits + 1)) - 1);
    return static_cast<T>(r_.sign()) *
           std::bit_cast<T>(static_cast<Bits<T>>(bits >> r_.below(kDigits)));
  }

  // Where tables step: few bits, in any octave or an ordinary one.
  T step() {
    const int exponent = r_.below(2) == 0 ? static_cast<int>(r_.below(12)) - 6
                                          : static_cast<int>(r_.below(120)) - 60;
    const double mantissa = static_cast<double>(64 + r_.below(64)) / 64;
    return r_.beside(static_cast<T>(r_.sign() * std::ldexp(mantissa, exponent)));
  }

  T near_centre() {
    const double centre = region_.centres[r_.below(region_.centres.size())];
    const double distance = r_.sign() * r_.octave(-kDigits - 3, -1);
    const T x = static_cast<T>(centre == 0 ? distance : centre * (1 + distance));
    return r_.below(4) == 0 ? r_.beside(static_cast<T>(centre)) : x;
  }

  T within() {
    const Interval& interval = region_.intervals[r_.below(region_.intervals.size())];
    return static_cast<T>(r_.uniform(interval.low, interval.high));
  }

  T near_multiple() {
    const double n = std::floor(r_.octave(0, r_.below(2) == 0 ? 10 : 60));
    const long double half_pi = std::numbers::pi_v<long double> / 2;
    return r_.beside(static_cast<T>(r_.sign() * static_cast<double>(n * half_pi)));
  }

  void powers(uint64_t kind, T& x, T& y) {
    const double limit = sizeof(T) == 4 ? 104 : 746;
    if (kind < 5) {
      x = static_cast<T>(kind == 2 ? r_.uniform(0, 10) : r_.octave(-8, 8));
    } else if (kind < 8) {
      x = static_cast<T>(1 + r_.sign() * r_.octave(-kDigits, -1));
    } else if (kind < 10) {
      x = static_cast<T>(r_.sign() * static_cast<double>(r_.below(40)));
      y = static_cast<T>(r_.sign() * static_cast<double>(r_.below(160)) / 2);
      return;
    } else {
      x = static_cast<T>(r_.octave(kLowest, kHighest));
      if (kind < 12) {
        y = static_cast<T>(r_.sign() * r_.octave(-20, 10));
        return;
      }
    }
    double power = r_.uniform(-limit, limit);
    if (r_.below(4) == 0) power = r_.uniform(-limit, -.9 * limit);
    y = static_cast<T>(power / std::log(static_cast<double>(x)));
  }

  void summands(uint64_t kind, T& x, T& y) {
    if (kind < 6) {
      x = static_cast<T>(r_.uniform(-50, 50));
      y = static_cast<T>(static_cast<double>(x) + r_.sign() * r_.octave(-kDigits, 6));
    } else if (kind < 14) {  // the result is near 0
      const double larger = kind < 10 ? r_.uniform(-std::numbers::ln2, 0) : -r_.octave(-60, -1);
      x = static_cast<T>(larger);
      y = r_.beside(static_cast<T>(std::log(-std::expm1(static_cast<double>(x)))));
      if (r_.below(2) == 0) y *= static_cast<T>(1 + r_.sign() * r_.octave(-kDigits, -3));
    } else {
      x = static_cast<T>(r_.sign() * r_.octave(-40, 12));
      y = static_cast<T>(r_.sign() * r_.octave(-40, 12));
    }
    if (r_.below(2) == 0) std::swap(x, y);
  }

  void quotients(uint64_t kind, T& x, T& y) {
    y = static_cast<T>(r_.sign() * r_.octave(-30, 30));
    if (kind < 8) {
      x = static_cast<T>(static_cast<double>(y) * r_.sign() * r_.octave(-10, 70));
    } else {
      const double n = std::floor(r_.octave(0, kind < 12 ? 8 : kDigits));
      x = r_.beside(static_cast<T>(static_cast<double>(y) * r_.sign() * n));
    }
  }

  void coordinates(uint64_t kind, T& x, T& y) {
    if (kind < 7) {
      x = static_cast<T>(r_.uniform(-1, 1));
      y = static_cast<T>(r_.uniform(-1, 1));
    } else if (kind < 12) {
      x = static_cast<T>(r_.sign() * r_.octave(kLowest, kHighest));
      y = static_cast<T>(static_cast<double>(x) * r_.sign() * r_.octave(-60, 60));
    } else {
      x = static_cast<T>(r_.sign() * r_.octave(-10, 10));
      const double ratio = static_cast<double>(64 + r_.below(64)) / 64;
      y = r_.beside(static_cast<T>(static_cast<double>(x) *
                                   std::ldexp(ratio, static_cast<int>(r_.below(8)) - 4)));
    }
  }

  const Function& function_;
  const Region& region_;
  Random r_;
};

}  // namespace

template <std::floating_point T>
void hard_points(const Function& function, uint64_t first, size_t count, T* x, T* y) {
  for (size_t i = 0; i < count; ++i) {
    Random random((first + i) * 0xd1342543de82ef95 + static_cast<uint64_t>(function.op));
    Chooser<T> choose(function, random);
    if (function.arity() == 2) {
      choose.arguments(x[i], y[i]);
    } else {
      x[i] = choose.argument();
      y[i] = static_cast<T>(function.exponent);
    }
  }
}
template void hard_points(const Function&, uint64_t, size_t, float*, float*);
template void hard_points(const Function&, uint64_t, size_t, double*, double*);

void all_points(const Function& function, uint64_t first, uint64_t stride, size_t count, float* x,
                float* y) {
  for (size_t i = 0; i < count; ++i) {
    x[i] = std::bit_cast<float>(static_cast<uint32_t>(first + i * stride));
    y[i] = static_cast<float>(function.exponent);
  }
}

}  // namespace lanewise::accuracy
