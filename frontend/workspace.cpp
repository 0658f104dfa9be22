#include "frontend/workspace.h"

#include <algorithm>
#include <map>

namespace lanewise::frontend {

namespace {

using ir::Buffer;

constexpr int64_t kAlignment = 64;
constexpr int kNever = -1;

// The kernels, counted over all steps, that use a buffer.
struct Use {
  int first_store = INT32_MAX;
  int last_load = kNever;
  int last_store = kNever;
  int first() const { return std::min(first_store, last_load == kNever ? first_store : last_load); }
  int last() const { return std::max(last_load, last_store); }
};

bool is_stored(const ir::Kernel& kernel, size_t operand) {
  return std::ranges::any_of(kernel.stores, [&](const ir::Store& store) {
    return static_cast<size_t>(store.operand) == operand;
  });
}

// Uses by step, since a blocked step's kernels take turns.
std::vector<Use> uses_of(const ir::Program& program) {
  std::vector<Use> uses(program.buffers.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const int step = static_cast<int>(s);
    for (const ir::Kernel& kernel : program.steps[s].kernels) {
      for (size_t i = 0; i < kernel.operands.size(); ++i) {
        if (kernel.operands[i].buffer == ir::Operand::kIndex) continue;
        Use& use = uses[static_cast<size_t>(kernel.operands[i].buffer)];
        if (is_stored(kernel, i)) {
          use.first_store = std::min(use.first_store, step);
          use.last_store = std::max(use.last_store, step);
        } else {
          use.last_load = std::max(use.last_load, step);
        }
      }
    }
  }
  // Contents are copied from where a buffer starts when its first store is due.
  for (size_t b = 0; b < uses.size(); ++b) {
    const int from = program.buffers[b].starts_as;
    if (from < 0 || uses[b].first_store == INT32_MAX) continue;
    Use& use = uses[static_cast<size_t>(from)];
    use.last_load = std::max(use.last_load, uses[b].first_store);
  }
  // What checks have found is read after their steps.
  for (const ir::FirstFailure& check : program.checks) {
    Use& use = uses[static_cast<size_t>(check.buffer)];
    use.last_load = std::max(use.last_load, program.check_steps);
  }
  return uses;
}

// Whether `kernel` reads `from` only where it writes `to` at the same point.
bool reads_in_step(const ir::Kernel& kernel, int from, int to) {
  const ir::Operand* written = nullptr;
  for (size_t i = 0; i < kernel.operands.size(); ++i) {
    if (kernel.operands[i].buffer == to && is_stored(kernel, i)) written = &kernel.operands[i];
  }
  return std::ranges::all_of(kernel.operands, [&](const ir::Operand& operand) {
    return operand.buffer != from ||
           (written && kernel.reduced == 0 && operand.axes == written->axes &&
            operand.shape == written->shape);
  });
}

}  // namespace

Workspace::Workspace(const ir::Program& program,
                     const std::function<bool(const ir::Step&)>& is_blocked)
    : program_(program), owner_(program.buffers.size()), offset_(program.buffers.size(), 0) {
  for (size_t b = 0; b < owner_.size(); ++b) owner_[b] = static_cast<int>(b);
  share_updates(program);
  place(program, is_blocked);
}

int Workspace::first_of(int buffer) const {
  const int memory = memory_of(buffer);
  int at = buffer;
  while (true) {
    const int from = program_.buffers[static_cast<size_t>(at)].starts_as;
    if (from < 0) return at;
    const bool is_input =
        program_.buffers[static_cast<size_t>(from)].kind == Buffer::Kind::kInput;
    if (is_input) return from;
    if (memory_of(from) != memory) return at;
    at = from;
  }
}

// A temporary that is only updated further needs no copy: it is the updated buffer's memory from
// the start. Users of updates come later in the program, so owners are found backwards.
void Workspace::share_updates(const ir::Program& program) {
  std::vector<int> updates(program.buffers.size(), 0);
  for (const Buffer& buffer : program.buffers) {
    if (buffer.starts_as >= 0) ++updates[static_cast<size_t>(buffer.starts_as)];
  }
  const std::vector<Use> uses = uses_of(program);
  std::vector<int> order;
  for (size_t b = 0; b < program.buffers.size(); ++b) order.push_back(static_cast<int>(b));
  std::ranges::stable_sort(order, std::greater{},
                           [&](int b) { return uses[static_cast<size_t>(b)].first_store; });
  for (const int b : order) {
    const Buffer& buffer = program.buffers[static_cast<size_t>(b)];
    const int from = buffer.starts_as;
    if (from < 0 || updates[static_cast<size_t>(from)] != 1) continue;
    const Buffer& before = program.buffers[static_cast<size_t>(from)];
    const bool is_temporary = before.kind == Buffer::Kind::kTemporary;
    const int step = uses[static_cast<size_t>(b)].first_store;
    if (!is_temporary || step == INT32_MAX || uses[static_cast<size_t>(from)].last_load > step ||
        uses[static_cast<size_t>(from)].last_store >= step ||
        uses[static_cast<size_t>(b)].last_store != step) {
      continue;
    }
    const ir::Step& updating = program.steps[static_cast<size_t>(step)];
    if (updating.kernels.size() != 1 || !reads_in_step(updating.kernels[0], from, b)) continue;
    owner_[static_cast<size_t>(from)] = owner_[static_cast<size_t>(b)];
  }
}

// First fit over the steps: memory is free again after its buffers' last use.
void Workspace::place(const ir::Program& program,
                      const std::function<bool(const ir::Step&)>& is_blocked) {
  const std::vector<Use> uses = uses_of(program);
  struct Interval {
    int first = INT32_MAX, last = kNever;
    int64_t bytes = 0;
  };
  std::vector<Interval> intervals(program.buffers.size());
  std::vector<bool> in_scratch(program.buffers.size(), false);
  for (const ir::Step& step : program.steps) {
    if (!is_blocked(step)) continue;
    for (const ir::Kernel& kernel : step.kernels) {
      for (const ir::Operand& operand : kernel.operands) {
        if (operand.buffer == ir::Operand::kIndex) continue;
        const auto b = static_cast<size_t>(operand.buffer);
        in_scratch[b] = program.buffers[b].kind == Buffer::Kind::kBlock;
      }
    }
  }
  for (size_t b = 0; b < program.buffers.size(); ++b) {
    const auto owner = static_cast<size_t>(owner_[b]);
    const Buffer& buffer = program.buffers[owner];
    const bool is_temporary =
        buffer.kind == Buffer::Kind::kTemporary || buffer.kind == Buffer::Kind::kBlock;
    if (!is_temporary || in_scratch[owner] || uses[b].last() == kNever) continue;
    Interval& interval = intervals[owner];
    interval.first = std::min(interval.first, uses[b].first());
    interval.last = std::max(interval.last, uses[b].last());
    const int64_t bytes = buffer.shape.element_count().value() * size_of(buffer.dtype);
    interval.bytes = std::max<int64_t>(bytes + kAlignment - 1, kAlignment) / kAlignment * kAlignment;
  }
  std::vector<int> order;
  for (size_t b = 0; b < intervals.size(); ++b) {
    if (intervals[b].bytes > 0) order.push_back(static_cast<int>(b));
  }
  std::ranges::stable_sort(order, std::less{}, [&](int b) {
    return intervals[static_cast<size_t>(b)].first;
  });
  std::multimap<int64_t, int64_t> free;               // bytes and offset of holes
  std::multimap<int, std::pair<int64_t, int64_t>> live;  // last step to offset and bytes
  for (const int b : order) {
    const Interval& interval = intervals[static_cast<size_t>(b)];
    while (!live.empty() && live.begin()->first < interval.first) {
      const auto [offset, bytes] = live.begin()->second;
      free.emplace(bytes, offset);
      live.erase(live.begin());
    }
    const auto hole = free.lower_bound(interval.bytes);
    int64_t offset = bytes_;
    int64_t taken = interval.bytes;
    // A hole much larger than needed is kept for larger buffers.
    if (hole != free.end() && hole->first <= 2 * interval.bytes) {
      taken = hole->first;
      offset = hole->second;
      free.erase(hole);
    } else {
      bytes_ += taken;
    }
    offset_[static_cast<size_t>(b)] = offset;
    live.emplace(interval.last, std::pair(offset, taken));
  }
}

}  // namespace lanewise::frontend
