#include "runtime/launch.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <chrono>
#include <cmath>
#include <cstring>

#include "runtime/cpu.h"
#include "runtime/float_environment.h"
#include "runtime/memory.h"
#include "runtime/threads.h"
#include "support/inline_array.h"

namespace lanewise::runtime {

namespace {

using Clock = std::chrono::steady_clock;

using Bases = InlineArray<intptr_t, 32>;
using Sizes = InlineArray<int64_t, 8>;
using Scalars = InlineArray<uint64_t, 32>;

constexpr int64_t kLine = 64;  // bytes, and so at least as many elements

// All in nanoseconds.
constexpr double kTooShortToMeasure = 2e3;
constexpr double kLeastOfThread = 8e3;  // less is not worth waking a thread
constexpr double kShortestBox = 4e3;
constexpr double kLongestBox = 5e6;  // between two looks at the interrupt flag
constexpr double kBoxesOfThread = 8;

int threads_for(double nanoseconds) {
  const double worthwhile = nanoseconds / kLeastOfThread;
  return worthwhile < 2 ? 1 : std::min(num_threads(), static_cast<int>(std::min(worthwhile, 1e6)));
}

// How long a box should take.
double box_time(double nanoseconds, int threads) {
  if (threads == 1) return kLongestBox;
  return std::clamp(nanoseconds / (threads * kBoxesOfThread), kShortestBox, kLongestBox);
}

// Measures the calling thread's part of a loop over boxes.
class Stopwatch {
 public:
  // Around the work of a box with this many points.
  template <class Work>
  void measure(double points, const Work& work) {
    const Clock::time_point start = Clock::now();
    work();
    nanoseconds_ += std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    points_ += points;
  }
  void teach(const detail::Cost& cost) const {
    if (points_ > 0) cost.learn(nanoseconds_ / points_);
  }

 private:
  double nanoseconds_ = 0;
  double points_ = 0;
};

void resolve(const detail::Stage& stage, const intptr_t* origins, Bases& bases) {
  for (size_t i = 0; i < stage.bases.size(); ++i) {
    const int origin = stage.origins[i];
    bases[i] = stage.bases[i] + (origin < 0 ? 0 : origins[origin]);
  }
}

void gather(const detail::Stage& stage, const uint64_t* all, Scalars& scalars) {
  for (size_t i = 0; i < stage.scalars.size(); ++i) scalars[i] = all[stage.scalars[i]];
}

}  // namespace

detail::Stage::Stage(const LaunchSpec& spec)
    : kernel(spec.kernel),
      rank(static_cast<int>(spec.nest.sizes.size())),
      sizes(spec.nest.sizes),
      origins(spec.origins),
      scalars(spec.scalars) {
  assert(origins.size() == spec.nest.operands.size());
  for (const NestOperand& operand : spec.nest.operands) {
    bases.push_back(operand.base);
    strides.insert(strides.end(), operand.strides.begin(), operand.strides.end());
  }
}

// ---- one kernel ---------------------------------------------------------------------------

PreparedLaunch::PreparedLaunch(const LaunchSpec& spec)
    : stage_(spec),
      ranges_(spec.ranges),
      points_(1),
      tiling_(spec.nest),
      cost_(spec.nanoseconds_per_point) {
  const int kept = stage_.rank - spec.nest.reduced;
  for (const int64_t size : stage_.sizes) points_ *= static_cast<double>(size);
  // The outermost loop that gives boxes enough to go round, else the longest.
  const int64_t enough = spec.nest.reduced > 0 ? 32 : 256;
  for (int loop = 0; loop < kept; ++loop) {
    if (cut_loop_ < 0 || stage_.sizes[loop] > stage_.sizes[cut_loop_]) cut_loop_ = loop;
    if (stage_.sizes[loop] >= enough) break;
  }
  // Whole vectors and cache lines, where cutting the loop cuts rows of what is written; but rows to
  // reduce may be few and long.
  const bool of_rows = cut_loop_ >= 0 && cut_loop_ == kept - 1;
  const bool divisible =
      spec.nest.reduced == 0 || stage_.sizes[std::max(cut_loop_, 0)] >= 16 * kLine;
  if (of_rows && divisible) cut_granule_ = kLine;
  // Neighbouring rows that lie side by side: long pieces of what is then read line after line.
  const bool side_by_side =
      of_rows && spec.nest.reduced > 0 &&
      std::any_of(spec.nest.operands.begin(), spec.nest.operands.end(), [&](const auto& operand) {
        return !operand.written && operand.element_size > 0 &&
               operand.strides[cut_loop_] == operand.element_size;
      });
  if (side_by_side) cut_granule_ = 8 * kLine;
  if (!tiling_.any()) return;
  tile_strides_ = stage_.strides;
  for (size_t i = 0; i < tiling_.packed.size(); ++i) {
    int64_t* const strides = &tile_strides_[tiling_.packed[i] * stage_.rank];
    strides[stage_.rank - 1] = tiling_.element_sizes[i];
    strides[tiling_.loop] = tiling_.element_sizes[i] * tiling_.sizes.back();
  }
}

void PreparedLaunch::run(const intptr_t* origins, const uint64_t* scalars) const {
  const DefaultFloatEnvironment environment;
  Bases bases(stage_.bases.size());
  resolve(stage_, origins, bases);
  Scalars gathered(stage_.scalars.size());
  gather(stage_, scalars, gathered);
  const KernelArguments arguments = {.bases = bases.data(),
                                     .strides = stage_.strides.data(),
                                     .sizes = stage_.sizes.data(),
                                     .scalars = gathered.data()};
  if (tiling_.any()) [[unlikely]] {
    run_in_tiles(arguments);
  } else if (points_ * cost_.nanoseconds() < kTooShortToMeasure) [[likely]] {
    stage_.kernel(&arguments);
  } else {
    run_in_boxes(arguments);
  }
}

void PreparedLaunch::run_in_boxes(const KernelArguments& whole) const {
  const double expected = points_ * cost_.nanoseconds();
  const int threads = threads_for(expected);
  const double wanted = std::ceil(expected / box_time(expected, threads));
  const bool in_ranges = ranges_ && (threads > 1 || ranges_->resume == nullptr);
  if (in_ranges && wanted > 1) return run_in_ranges(whole, wanted, threads);
  Stopwatch stopwatch;
  if (wanted <= 1 || cut_loop_ < 0) {
    stopwatch.measure(points_, [&] { stage_.kernel(&whole); });
    stopwatch.teach(cost_);
    return;
  }
  const int64_t trips = stage_.sizes[cut_loop_];
  const auto fair = static_cast<int64_t>(std::ceil(static_cast<double>(trips) / wanted));
  const int64_t box = (fair + cut_granule_ - 1) / cut_granule_ * cut_granule_;
  const double points_of_trip = points_ / static_cast<double>(trips);

  const auto run_box = [&](int64_t i, int worker) {
    const int64_t first = i * box;
    const int64_t count = std::min(box, trips - first);
    Bases bases(stage_.bases.size());
    for (size_t k = 0; k < stage_.bases.size(); ++k) {
      bases[k] = whole.bases[k] + first * stage_.strides[k * stage_.rank + cut_loop_];
    }
    Sizes sizes(stage_.rank);
    std::copy_n(whole.sizes, stage_.rank, sizes.data());
    sizes[cut_loop_] = count;
    const KernelArguments arguments = {.bases = bases.data(),
                                       .strides = whole.strides,
                                       .sizes = sizes.data(),
                                       .scalars = whole.scalars};
    const auto call = [&] { stage_.kernel(&arguments); };
    if (worker == 0) {
      stopwatch.measure(points_of_trip * static_cast<double>(count), call);
    } else {
      call();
    }
  };
  parallel_for((trips + box - 1) / box, threads, run_box);
  stopwatch.teach(cost_);
}

void PreparedLaunch::run_in_tiles(const KernelArguments& whole) const {
  const int rank = stage_.rank;
  const int inner = rank - 1;
  const int64_t tiles = tiling_.count(whole.sizes);
  const int threads = tiles == 1 ? 1 : threads_for(points_ * cost_.nanoseconds());
  const int64_t bytes = tiling_.offsets.back();
  const BufferRef memory = Buffer::allocate(static_cast<size_t>(bytes * threads));
  Stopwatch stopwatch;
  const auto run_tile = [&](int64_t i, int worker) {
    Bases bases(stage_.bases.size());
    std::copy_n(whole.bases, stage_.bases.size(), bases.data());
    Sizes sizes(rank);
    double points = 1;
    for (int loop = inner; loop >= 0; --loop) {
      const int64_t along = (whole.sizes[loop] + tiling_.sizes[loop] - 1) / tiling_.sizes[loop];
      const int64_t first = i % along * tiling_.sizes[loop];
      i /= along;
      sizes[loop] = std::min(tiling_.sizes[loop], whole.sizes[loop] - first);
      points *= static_cast<double>(sizes[loop]);
      for (size_t k = 0; k < stage_.bases.size(); ++k) {
        bases[k] += first * stage_.strides[k * rank + loop];
      }
    }
    const auto work = [&] {
      for (size_t k = 0; k < tiling_.packed.size(); ++k) {
        const int operand = tiling_.packed[k];
        const int64_t* const strides = &stage_.strides[operand * rank];
        char* const copy = memory->data() + worker * bytes + tiling_.offsets[k];
        detail::copy_tile(reinterpret_cast<const char*>(bases[operand]), strides[tiling_.loop],
                          strides[inner], copy, tiling_.sizes[inner], sizes[tiling_.loop],
                          sizes[inner], tiling_.element_sizes[k]);
        bases[operand] = reinterpret_cast<intptr_t>(copy);
      }
      const KernelArguments arguments = {.bases = bases.data(),
                                         .strides = tile_strides_.data(),
                                         .sizes = sizes.data(),
                                         .scalars = whole.scalars};
      stage_.kernel(&arguments);
    };
    if (worker == 0) {
      stopwatch.measure(points, work);
    } else {
      work();
    }
  };
  parallel_for(tiles, threads, run_tile);
  stopwatch.teach(cost_);
}

namespace {

// One run of a kernel range by range.
class RangeRun {
 public:
  RangeRun(const detail::Stage& stage, const LaunchSpec::Ranges& code, const KernelArguments& whole,
           double wanted)
      : stage_(stage),
        code_(code),
        whole_(whole),
        rank_(stage.rank),
        length_(stage.sizes[rank_ - 1]) {
    const int64_t granules = (length_ + code.granule - 1) / code.granule;
    const auto fair = static_cast<uint64_t>(static_cast<double>(granules) / wanted);
    const auto of_range = static_cast<int64_t>(std::bit_floor(std::max(fair, uint64_t{1})));
    range_ = of_range * code.granule;
    count_ = (granules + of_range - 1) / of_range;
    states_of_row_ = code.resume != nullptr ? granules : count_;
    states_of_range_ = code.resume != nullptr ? of_range : 1;
    place_states();
  }

  int64_t count() const { return count_; }
  int64_t trips(int64_t range) const { return std::min(range_, length_ - range * range_); }
  double length() const { return static_cast<double>(length_); }
  void reduce(int64_t range) { call(code_.range, range); }
  void resume(int64_t range) { call(code_.resume, range); }
  void join() { call(code_.join, 0, states_of_row_, 0); }

  void fill(uint8_t byte) { std::memset(states_->data(), byte, states_->size()); }
  uint8_t state(int64_t range) const {
    return static_cast<uint8_t>(states_->data()[range * code_.state_bytes]);
  }

 private:
  // Those of a row are next to each other.
  void place_states() {
    const size_t operands = stage_.bases.size();
    strides_.assign(whole_.strides, whole_.strides + operands * rank_);
    strides_.resize((operands + 1) * rank_);
    int64_t bytes = code_.state_bytes;
    for (int loop = rank_ - 1; loop >= 0; --loop) {
      strides_[operands * rank_ + loop] = bytes;
      bytes *= loop == rank_ - 1 ? states_of_row_ : stage_.sizes[loop];
    }
    states_ = Buffer::allocate(static_cast<size_t>(bytes));
  }

  void call(KernelFunction kernel, int64_t range) const {
    call(kernel, range * range_, trips(range), range * states_of_range_);
  }

  void call(KernelFunction kernel, int64_t first, int64_t trips, int64_t state) const {
    const size_t operands = stage_.bases.size();
    Bases bases(operands + 1);
    for (size_t k = 0; k < operands; ++k) {
      bases[k] = whole_.bases[k] + first * stage_.strides[k * rank_ + rank_ - 1];
    }
    bases[operands] = reinterpret_cast<intptr_t>(states_->data()) + state * code_.state_bytes;
    Sizes sizes(rank_);
    std::copy_n(whole_.sizes, rank_, sizes.data());
    sizes[rank_ - 1] = trips;
    const KernelArguments arguments = {.bases = bases.data(),
                                       .strides = strides_.data(),
                                       .sizes = sizes.data(),
                                       .scalars = whole_.scalars,
                                       .first = first};
    kernel(&arguments);
  }

  const detail::Stage& stage_;
  const LaunchSpec::Ranges& code_;
  const KernelArguments& whole_;
  int rank_;
  int64_t length_;  // of rows
  int64_t range_;   // elements of one
  int64_t count_;   // of ranges
  int64_t states_of_row_;
  int64_t states_of_range_;
  std::vector<int64_t> strides_;
  BufferRef states_;
};

// Ranges in any order until one decides; the others' states say nothing then.
void run_until_decided(RangeRun& run, bool decisive, int threads) {
  run.fill(decisive ? 0 : 1);
  std::atomic<bool> decided{false};
  parallel_for(run.count(), threads, [&](int64_t range, int) {
    if (decided.load(std::memory_order_relaxed)) return;
    run.reduce(range);
    if (run.state(range) == uint8_t{decisive}) decided.store(true, std::memory_order_relaxed);
  });
  run.join();
}

}  // namespace

void PreparedLaunch::run_in_ranges(const KernelArguments& whole, double wanted, int threads) const {
  RangeRun run(stage_, *ranges_, whole, wanted);
  // Says nothing of what elements cost.
  if (ranges_->decisive) return run_until_decided(run, *ranges_->decisive, threads);
  Stopwatch stopwatch;
  const auto measured = [&](int64_t range, int worker, const auto& work) {
    const double points = points_ / run.length() * static_cast<double>(run.trips(range));
    worker == 0 ? stopwatch.measure(points, work) : work();
  };
  parallel_for(run.count(), threads, [&](int64_t range, int worker) {
    measured(range, worker, [&] { run.reduce(range); });
  });
  run.join();
  if (ranges_->resume != nullptr) {
    parallel_for(run.count(), threads, [&](int64_t range, int worker) {
      measured(range, worker, [&] { run.resume(range); });
    });
  }
  stopwatch.teach(cost_);
}

// ---- blocks -------------------------------------------------------------------------------

namespace {

// Points of a block: what kernels hand to each other should stay in the second cache, with room for
// what else they touch, but a call of a kernel must be worth it.
int64_t block_length(const std::vector<int>& element_sizes, int64_t size) {
  constexpr int64_t kShortest = 512;
  constexpr int64_t kLongest = 8192;
  int64_t bytes = 0;
  for (const int element_size : element_sizes) bytes += element_size;
  const auto room = static_cast<int64_t>(cache_sizes().l2 / 4);
  const int64_t fitting = bytes == 0 ? kLongest : room / bytes / kLine * kLine;
  return std::min(std::clamp(fitting, kShortest, kLongest), size);
}

double sum_of_costs(const std::vector<LaunchSpec>& kernels) {
  double sum = 0;
  for (const LaunchSpec& spec : kernels) sum += spec.nanoseconds_per_point;
  return sum;
}

}  // namespace

PreparedBlocks::PreparedBlocks(const std::vector<LaunchSpec>& kernels,
                               const std::vector<int>& scratch_element_sizes)
    : size_(kernels.front().nest.sizes.front()),
      block_(block_length(scratch_element_sizes, size_)),
      cost_(sum_of_costs(kernels)) {
  for (const LaunchSpec& spec : kernels) {
    assert(spec.nest.sizes.size() == 1 && spec.nest.sizes[0] == size_ && spec.nest.reduced == 0);
    stages_.emplace_back(spec);
  }
  scratch_offsets_.push_back(0);
  for (const int element_size : scratch_element_sizes) {
    const int64_t bytes = (block_ * element_size + kLine - 1) / kLine * kLine;
    scratch_offsets_.push_back(scratch_offsets_.back() + bytes);
  }
}

void PreparedBlocks::run_block(const intptr_t* origins, const uint64_t* scalars,
                               const intptr_t* scratch, int64_t first, int64_t last) const {
  for (const detail::Stage& stage : stages_) {
    Bases bases(stage.bases.size());
    resolve(stage, origins, bases);
    for (size_t k = 0; k < stage.bases.size(); ++k) {
      const int array = -2 - stage.origins[k];
      bases[k] = array >= 0 ? scratch[array] : bases[k] + first * stage.strides[k];
    }
    Scalars gathered(stage.scalars.size());
    gather(stage, scalars, gathered);
    const int64_t count = last - first;
    const KernelArguments arguments = {.bases = bases.data(),
                                       .strides = stage.strides.data(),
                                       .sizes = &count,
                                       .scalars = gathered.data()};
    stage.kernel(&arguments);
  }
}

void PreparedBlocks::run(const intptr_t* origins, const uint64_t* scalars) const {
  const DefaultFloatEnvironment environment;
  const double expected = static_cast<double>(size_) * cost_.nanoseconds();
  const int threads = threads_for(expected);
  // A box is some blocks.
  const double time_of_block = static_cast<double>(block_) * cost_.nanoseconds();
  const double fair = box_time(expected, threads) / std::max(time_of_block, 1.0);
  const int64_t box = block_ * static_cast<int64_t>(std::clamp(fair, 1.0, 1e6));
  const int64_t bytes = scratch_offsets_.back();
  const BufferRef memory = Buffer::allocate(static_cast<size_t>(bytes * threads));
  const size_t arrays = scratch_offsets_.size() - 1;

  Stopwatch stopwatch;
  const auto run_box = [&](int64_t i, int worker) {
    InlineArray<intptr_t, 32> scratch(arrays);
    for (size_t k = 0; k < arrays; ++k) {
      scratch[k] =
          reinterpret_cast<intptr_t>(memory->data() + worker * bytes + scratch_offsets_[k]);
    }
    const int64_t end = std::min((i + 1) * box, size_);
    const auto run_blocks = [&] {
      for (int64_t first = i * box; first < end; first += block_) {
        run_block(origins, scalars, scratch.data(), first, std::min(first + block_, end));
      }
    };
    if (worker == 0) {
      stopwatch.measure(static_cast<double>(end - i * box), run_blocks);
    } else {
      run_blocks();
    }
  };
  parallel_for((size_ + box - 1) / box, threads, run_box);
  stopwatch.teach(cost_);
}

}  // namespace lanewise::runtime
