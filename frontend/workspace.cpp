#include "frontend/workspace.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "ir/passes/schedule.h"

namespace lanewise::frontend {

namespace {

using ir::Buffer;
using ir::Moment;

constexpr int64_t kAlignment = 64;

bool is_temporary(const Buffer& buffer) {
  return buffer.kind == Buffer::Kind::kTemporary || buffer.kind == Buffer::Kind::kBlock;
}

}  // namespace

Workspace::Workspace(const ir::Program& program, const std::vector<bool>& in_scratch)
    : program_(program),
      in_place_(program.buffers.size(), false),
      owner_(program.buffers.size()),
      offset_(program.buffers.size(), 0) {
  share_updates();
  place(in_scratch);
}

int Workspace::updated_input(int buffer) const {
  while (true) {
    const Buffer& updated = program_.buffers[static_cast<size_t>(buffer)];
    if (updated.kind == Buffer::Kind::kInput) return updated.index;
    if (updated.starts_as < 0 || !in_place_[static_cast<size_t>(buffer)]) return -1;
    buffer = updated.starts_as;
  }
}

// A temporary that is only updated further is the updated buffer's memory from the start: not if it
// is stored before the checks have passed, since that memory may be a result's.
void Workspace::share_updates() {
  const std::vector<ir::Lifetime> lifetimes = ir::lifetimes(program_);
  std::vector<int> successor(owner_.size(), -1);
  for (size_t b = 0; b < owner_.size(); ++b) {
    const int from = program_.buffers[b].starts_as;
    if (from < 0) continue;
    in_place_[b] = ir::can_start_in_place(program_, static_cast<int>(b));
    if (!is_temporary(program_.buffers[static_cast<size_t>(from)])) continue;
    in_place_[b] =
        in_place_[b] && lifetimes[static_cast<size_t>(from)].first.step >= program_.check_steps;
    if (in_place_[b]) {
      successor[static_cast<size_t>(from)] = static_cast<int>(b);
    }
  }
  for (size_t b = 0; b < owner_.size(); ++b) {
    int last = static_cast<int>(b);
    while (successor[static_cast<size_t>(last)] >= 0) last = successor[static_cast<size_t>(last)];
    // Whoever comes by later jumps.
    for (int at = static_cast<int>(b); at != last;) {
      at = std::exchange(successor[static_cast<size_t>(at)], last);
    }
    owner_[b] = last;
  }
}

// First fit in the order of time: memory is free again after the last kernel that needs it.
void Workspace::place(const std::vector<bool>& in_scratch) {
  struct Interval {
    int buffer;
    Moment first, last;
    int64_t bytes;
  };
  std::vector<ir::Lifetime> lifetimes = ir::lifetimes(program_);
  for (const ir::FirstFailure& check : program_.checks) {
    // Read when the steps that decide the checks have run.
    ir::Lifetime& lifetime = lifetimes[static_cast<size_t>(check.buffer)];
    lifetime.last = std::max(lifetime.last, Moment{program_.check_steps, 0});
  }
  std::vector<Interval> intervals;
  std::vector<int> interval_of(owner_.size(), -1);
  for (size_t b = 0; b < owner_.size(); ++b) {
    const auto owner = static_cast<size_t>(owner_[b]);
    const Buffer& buffer = program_.buffers[owner];
    if (!is_temporary(buffer) || in_scratch[owner] || lifetimes[b].last == Moment{}) continue;
    if (interval_of[owner] < 0) {
      const int64_t bytes = buffer.shape.element_count().value() * size_of(buffer.dtype);
      const int64_t rounded = (std::max<int64_t>(bytes, 1) + kAlignment - 1) & -kAlignment;
      interval_of[owner] = static_cast<int>(intervals.size());
      intervals.push_back({owner_[b], lifetimes[b].first, lifetimes[b].last, rounded});
    }
    Interval& interval = intervals[static_cast<size_t>(interval_of[owner])];
    interval.first = std::min(interval.first, lifetimes[b].first);
    interval.last = std::max(interval.last, lifetimes[b].last);
  }
  std::ranges::stable_sort(intervals, std::less{}, &Interval::first);
  std::multimap<int64_t, int64_t> holes;                    // bytes to offset
  std::multimap<Moment, std::pair<int64_t, int64_t>> live;  // last use to offset and bytes
  for (const Interval& interval : intervals) {
    while (!live.empty() && live.begin()->first < interval.first) {
      const auto [offset, bytes] = live.begin()->second;
      holes.emplace(bytes, offset);
      live.erase(live.begin());
    }
    int64_t offset = bytes_;
    int64_t taken = interval.bytes;
    // A hole much larger than needed is kept for larger buffers.
    const auto hole = holes.lower_bound(interval.bytes);
    if (hole != holes.end() && hole->first <= 2 * interval.bytes) {
      std::tie(taken, offset) = *hole;
      holes.erase(hole);
    } else {
      bytes_ += taken;
    }
    offset_[static_cast<size_t>(interval.buffer)] = offset;
    live.emplace(interval.last, std::pair(offset, taken));
  }
}

}  // namespace lanewise::frontend
