#include "tests/accuracy/measure.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <thread>

#include "support/error.h"
#include "tests/accuracy/compare.h"
#include "tests/accuracy/machine_code.h"
#include "tests/accuracy/points.h"
#include "tests/support/ulp.h"

namespace lanewise::accuracy {

namespace {

constexpr size_t kHardest = 8;
constexpr size_t kChunk = 64 * kBlock;  // what a thread takes at a time

template <class T>
using Reference = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
bool is_exhaustive(const Function& function) {
  return std::is_same_v<T, float> && function.arity() == 1;
}

// MPFR's numbers for one thread. Squares of float64 numbers are exact.
class Judge {
 public:
  explicit Judge(const Function& function) : function_(function) {
    mpfr_inits2(128, x_, y_, value_, static_cast<mpfr_ptr>(nullptr));
  }
  ~Judge() { mpfr_clears(x_, y_, value_, static_cast<mpfr_ptr>(nullptr)); }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  struct Verdict {
    double error;
    bool misrounded;
    bool wrong_zero;
  };

  template <class T>
  Verdict operator()(T x, T y, T result, double smallest_unit) {
    mpfr_set_d(x_, static_cast<double>(x), MPFR_RNDN);
    mpfr_set_d(y_, static_cast<double>(y), MPFR_RNDN);
    function_.reference.exact(value_, x_, y_);
    Verdict verdict{test::ulp_error(result, value_), false, false};
    if (std::isnan(result)) return verdict;
    T nearest;
    if constexpr (std::is_same_v<T, float>) {
      nearest = mpfr_get_flt(value_, MPFR_RNDN);
    } else {
      nearest = mpfr_get_d(value_, MPFR_RNDN);
    }
    verdict.misrounded = nearest != result;
    verdict.wrong_zero =
        result == 0 && nearest == 0 && std::signbit(result) != std::signbit(nearest);
    if (smallest_unit > 0) rescale<T>(verdict, smallest_unit);
    return verdict;
  }

 private:
  // From units in the last place to larger ones.
  template <class T>
  void rescale(Verdict& verdict, double smallest_unit) const {
    using Limits = std::numeric_limits<T>;
    const long exponent =
        mpfr_regular_p(value_) ? mpfr_get_exp(value_) : mpfr_exp_t{Limits::min_exponent};
    const long lowest = Limits::min_exponent;
    const double unit =
        std::ldexp(1., static_cast<int>(std::max(exponent, lowest)) - Limits::digits);
    if (mpfr_inf_p(value_) || unit >= smallest_unit) return;
    verdict.error *= unit / smallest_unit;
    verdict.misrounded = false;
  }

  const Function& function_;
  mpfr_t x_, y_, value_;
};

// What one thread measures.
template <class T>
class Worker {
 public:
  Worker(const Function& function, const ir::Program& program,
         const std::vector<jit::Target>& targets, const Effort& effort)
      : function_(function),
        effort_(effort),
        unit_(smallest_unit(function.spec(), dtype_of<T>())),
        tolerance_(filter_tolerance<T>(function.op)),
        judge_(function) {
    // Results that are rounded right have errors up to 1/2, many of them; exact ones have none.
    if (function.spec().max_ulp >= .5) worth_judging_ = .499;
    for (const jit::Target target : targets) codes_.emplace_back(function, program, target);
    results_.resize(targets.size(), std::vector<T>(kChunk));
  }

  void measure_chunk(uint64_t first, size_t count) {
    if constexpr (std::is_same_v<T, float>) {
      if (is_exhaustive<T>(function_)) {
        all_points(function_, first * effort_.stride, effort_.stride, kChunk, x_.data(), y_.data());
      } else {
        hard_points(function_, first, kChunk, x_.data(), y_.data());
      }
    } else {
      hard_points(function_, first, kChunk, x_.data(), y_.data());
    }
    run_codes(count);
    for (size_t begin = 0; begin < count; begin += kBlock) {
      compare_block(first, begin, std::min(kBlock, count - begin));
    }
    measured_.points += count;
  }

  void measure_points(const std::vector<Point>& points) {
    if (points.size() > kChunk) throw InternalError("accuracy: too many points");
    for (size_t i = 0; i < points.size(); ++i) {
      x_[i] = static_cast<T>(points[i].x);
      y_[i] = static_cast<T>(points[i].y);
    }
    run_codes(points.size());
    for (size_t i = 0; i < points.size(); ++i) judge(i);
    measured_.points += points.size();
  }

  const Measurement& measured() const { return measured_; }

 private:
  void run_codes(size_t count) {
    for (size_t i = 0; i < codes_.size(); ++i) {
      codes_[i].run(x_.data(), y_.data(), results_[i].data(), count);
      size_t where = 0;
      const size_t differing =
          count_differing(results_[0].data(), results_[i].data(), count, where);
      measured_.differing += differing;
      if (differing > 0) set_fault(where, 0);
    }
  }

  void set_fault(size_t i, double error) {
    measured_.fault = {static_cast<double>(x_[i]), static_cast<double>(y_[i]), error};
  }

  void reference(size_t begin) {
    for (size_t i = 0; i < kBlock; ++i) {
      wide_x_[i] = x_[begin + i];
      wide_y_[i] = y_[begin + i];
    }
    if constexpr (std::is_same_v<T, float>) {
      function_.reference.filter32(wide_x_.data(), wide_y_.data(), reference_.data());
    } else {
      for (size_t i = 0; i < kBlock; ++i) {
        reference_[i] = function_.reference.filter64(wide_x_[i], wide_y_[i]);
      }
    }
  }

  void compare_block(uint64_t first, size_t begin, size_t count) {
    reference(begin);
    const T* const results = results_[0].data() + begin;
    if constexpr (std::is_same_v<T, float>) {
      compare(results, reference_.data(), unit_, comparison_);
    } else {
      compare(results, reference_.data(), tolerance_, unit_, comparison_);
    }
    constexpr size_t kSample = std::is_same_v<T, float> ? 65536 : 1024;
    const size_t sample = (begin * 7919 + first / kChunk * 613) % kSample;
    if (sample < count) check_filter(begin, sample);

    const double ignored = std::max(worth_judging_ - tolerance_, tolerance_);
    const bool simple =
        comparison_.largest < ignored && (comparison_.any_flag & (kUnclear | kZeroSign)) == 0;
    if (simple && count == kBlock) {
      measured_.misrounded += comparison_.misrounded;
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      if (!(comparison_.errors[i] < ignored) ||
          (comparison_.flags[i] & (kUnclear | kZeroSign)) != 0) {
        judge(begin + i);
      } else {
        measured_.misrounded += comparison_.flags[i] & kMisrounded;
      }
    }
  }

  void judge(size_t i) {
    const auto verdict = judge_(x_[i], y_[i], results_[0][i], unit_);
    ++measured_.by_mpfr;
    measured_.misrounded += verdict.misrounded;
    if (verdict.wrong_zero) {
      ++measured_.wrong_zeros;
      set_fault(i, 0);
    }
    if (verdict.error <= worth_judging_) return;
    auto& hardest = measured_.hardest;
    const Point point{static_cast<double>(x_[i]), static_cast<double>(y_[i]), verdict.error};
    hardest.insert(std::ranges::upper_bound(hardest, point.error, std::greater{}, &Point::error),
                   point);
    if (hardest.size() > kHardest) hardest.pop_back();
    if (hardest.size() == kHardest) worth_judging_ = hardest.back().error;
  }

  void check_filter(size_t begin, size_t i) {
    const auto verdict = judge_(x_[begin + i], y_[begin + i], results_[0][begin + i], unit_);
    ++measured_.by_mpfr;
    // NaN is judged in any case.
    if (!(std::abs(comparison_.errors[i] - verdict.error) > tolerance_)) return;
    ++measured_.filter_misses;
    set_fault(begin + i, verdict.error);
  }

  const Function& function_;
  const Effort& effort_;
  double unit_;
  double tolerance_;
  Judge judge_;
  std::vector<MachineCode> codes_;
  std::vector<T> x_ = std::vector<T>(kChunk), y_ = std::vector<T>(kChunk);
  std::vector<std::vector<T>> results_;  // by target
  std::vector<Reference<T>> wide_x_ = std::vector<Reference<T>>(kBlock);
  std::vector<Reference<T>> wide_y_ = std::vector<Reference<T>>(kBlock);
  std::vector<Reference<T>> reference_ = std::vector<Reference<T>>(kBlock);
  Comparison comparison_;
  double worth_judging_ = 0;
  Measurement measured_;
};

void merge(Measurement& total, const Measurement& part) {
  total.points += part.points;
  total.by_mpfr += part.by_mpfr;
  total.misrounded += part.misrounded;
  total.differing += part.differing;
  total.wrong_zeros += part.wrong_zeros;
  total.filter_misses += part.filter_misses;
  if (part.fault.error >= 0) total.fault = part.fault;
  total.hardest.insert(total.hardest.end(), part.hardest.begin(), part.hardest.end());
  std::ranges::sort(total.hardest, std::greater{}, &Point::error);
  if (total.hardest.size() > kHardest) total.hardest.resize(kHardest);
}

template <class T>
Measurement measure_all(const Function& function, const ir::Program& program,
                        const std::vector<jit::Target>& targets, const Effort& effort,
                        const std::function<void(double)>& progress) {
  const uint64_t points = point_count(function, dtype_of<T>(), effort);
  std::atomic<uint64_t> next = 0;
  std::mutex mutex;
  std::condition_variable ended;
  int running = effort.threads;
  std::exception_ptr failure;
  Measurement total;
  const auto work = [&] {
    try {
      const auto worker = std::make_unique<Worker<T>>(function, program, targets, effort);
      for (uint64_t first; (first = next.fetch_add(kChunk)) < points;) {
        worker->measure_chunk(first, static_cast<size_t>(std::min(points - first, kChunk)));
      }
      const std::lock_guard lock(mutex);
      merge(total, worker->measured());
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    --running;
    ended.notify_one();
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < effort.threads; ++i) threads.emplace_back(work);
  {
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::seconds(1), [&] { return running == 0; })) {
      progress(std::min(1., static_cast<double>(next.load()) / static_cast<double>(points)));
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return total;
}

}  // namespace

double smallest_unit(const ir::OpSpec& spec, DType dtype) {
  if (spec.max_absolute == 0) return 0;
  return spec.max_absolute / spec.max_ulp * (dtype == DType::kF32 ? 0x1p-24 : 0x1p-53);
}

uint64_t point_count(const Function& function, DType dtype, const Effort& effort) {
  if (dtype != DType::kF32 || function.arity() != 1) return effort.points;
  return ((uint64_t{1} << 32) + effort.stride - 1) / effort.stride;
}

Measurement measure(const Function& function, DType dtype, const ir::Program& program,
                    const std::vector<jit::Target>& targets, const Effort& effort,
                    const std::function<void(double)>& progress) {
  return dtype == DType::kF32 ? measure_all<float>(function, program, targets, effort, progress)
                              : measure_all<double>(function, program, targets, effort, progress);
}

Measurement measure_at(const Function& function, DType dtype, const ir::Program& program,
                       const std::vector<jit::Target>& targets, const std::vector<Point>& points) {
  const auto run = [&]<class T>(T) {
    const Effort effort;
    const auto worker = std::make_unique<Worker<T>>(function, program, targets, effort);
    worker->measure_points(points);
    return worker->measured();
  };
  return dtype == DType::kF32 ? run(float{}) : run(double{});
}

}  // namespace lanewise::accuracy
