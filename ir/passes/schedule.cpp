#include "ir/passes/schedule.h"

#include <algorithm>
#include <set>
#include <span>

namespace lanewise::ir {

namespace {

// Fewer trips of the outermost loop are not cut into blocks: threads need them. Longer rows would
// leave the cache before they are used again.
constexpr int64_t kFewTrips = 16;
constexpr int64_t kLongRow = 65536;

template <class Visit>
void for_each_load(const Kernel& kernel, Visit visit) {
  for (const Node& node : kernel.body.nodes()) {
    if (node.op == Op::kLoad) visit(kernel.operands[static_cast<size_t>(node.get<Slot>().index)]);
  }
}

template <class Visit>
void for_each_store(const Kernel& kernel, Visit visit) {
  for (const Store& store : kernel.stores) {
    visit(kernel.operands[static_cast<size_t>(store.operand)]);
  }
}

// Buffers that a step needs and makes, each once, ascending.
struct Flow {
  std::vector<int> loads;
  std::vector<int> stores;
  std::vector<int> bases;  // what its stores start as
};

void sort_unique(std::vector<int>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

Flow flow_of(const Step& step, const Program& program) {
  Flow flow;
  for (const Kernel& kernel : step.kernels) {
    for_each_load(kernel, [&](const Operand& operand) { flow.loads.push_back(operand.buffer); });
    for_each_store(kernel, [&](const Operand& operand) {
      flow.stores.push_back(operand.buffer);
      const int base = program.buffers[static_cast<size_t>(operand.buffer)].starts_as;
      if (base >= 0) flow.bases.push_back(base);
    });
  }
  sort_unique(flow.loads);
  sort_unique(flow.stores);
  sort_unique(flow.bases);
  return flow;
}

// ---- blocks --------------------------------------------------------------------------------

// Trip i of the outermost loop touches row i of the operand and no other.
bool is_row(const Operand& operand) {
  if (operand.axes.empty()) return false;
  const AxisIndex& first = operand.axes[0];
  if (!first.offset.is(0) || first.terms.size() != 1) return false;
  if (first.terms[0].loop != 0 || !first.terms[0].step.is(1)) return false;
  return std::none_of(operand.axes.begin() + 1, operand.axes.end(), [](const AxisIndex& axis) {
    return std::ranges::find(axis.terms, 0, &AxisIndex::Term::loop) != axis.terms.end();
  });
}

bool can_block(const Kernel& kernel, const Dim& trips) {
  if (kernel.domain.rank() == kernel.reduced || kernel.domain[0] != trips) return false;
  Dim row = 1;
  for (int loop = 1; loop < kernel.domain.rank(); ++loop) row = row * kernel.domain[loop];
  return !row.is_constant() || row.value() <= kLongRow;
}

// Whether `second` can run on each block of rows right after `first`.
bool can_block(const Step& first, const Flow& first_flow, const Step& second,
               const Flow& second_flow) {
  if (!first_flow.bases.empty() || !second_flow.bases.empty()) return false;
  const Shape& domain = first.kernels[0].domain;
  if (domain.rank() == 0) return false;
  if (domain[0].is_constant() && domain[0].value() < kFewTrips) return false;
  for (const Step* step : {&first, &second}) {
    for (const Kernel& kernel : step->kernels) {
      if (!can_block(kernel, domain[0])) return false;
    }
  }
  std::vector<int> crossing;
  std::ranges::set_intersection(first_flow.stores, second_flow.loads, std::back_inserter(crossing));
  if (crossing.empty()) return false;
  bool rows = true;
  std::vector<const Shape*> seen_as(crossing.size());
  const auto look = [&](const Operand& operand) {
    const auto place = std::ranges::lower_bound(crossing, operand.buffer);
    if (place == crossing.end() || *place != operand.buffer) return;
    const Shape*& shape = seen_as[static_cast<size_t>(place - crossing.begin())];
    if (!shape) shape = &operand.shape;
    rows &= is_row(operand) && *shape == operand.shape;
  };
  for (const Kernel& kernel : first.kernels) for_each_store(kernel, look);
  for (const Kernel& kernel : second.kernels) for_each_load(kernel, look);
  return rows;
}

// ---- order ---------------------------------------------------------------------------------

class Scheduler {
 public:
  explicit Scheduler(Program& program) : program_(program) {}
  void run();

 private:
  void find_flows();
  void run_part(int first, int last);
  int choose(int previous);
  bool waits_for_readers(int step) const;
  void emit(int step);
  void make_blocks();

  Program& program_;
  std::vector<Step> source_;
  std::vector<Flow> flows_;
  std::vector<std::vector<int>> users_;  // steps that need a step's results
  std::vector<int> missing_;             // results that a step still waits for
  std::vector<int> readers_;             // of each buffer: steps to come that load it
  std::set<int> ready_;
  std::vector<Step> steps_;
  Flow last_flow_;  // of the last of `steps_`
};

void Scheduler::find_flows() {
  const size_t count = source_.size();
  std::vector<int> writer(program_.buffers.size(), -1);
  readers_.assign(program_.buffers.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    flows_.push_back(flow_of(source_[i], program_));
    for (const int buffer : flows_[i].stores)
      writer[static_cast<size_t>(buffer)] = static_cast<int>(i);
    for (const int buffer : flows_[i].loads) ++readers_[static_cast<size_t>(buffer)];
  }
  users_.resize(count);
  missing_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    std::vector<int> needed;
    for (const auto* list : {&flows_[i].loads, &flows_[i].bases}) {
      for (const int buffer : *list) {
        const int from = writer[static_cast<size_t>(buffer)];
        if (from >= 0 && from != static_cast<int>(i)) needed.push_back(from);
      }
    }
    sort_unique(needed);
    missing_[i] = static_cast<int>(needed.size());
    for (const int from : needed) users_[static_cast<size_t>(from)].push_back(static_cast<int>(i));
  }
}

// The step would overwrite what others have yet to read.
bool Scheduler::waits_for_readers(int step) const {
  const Flow& flow = flows_[static_cast<size_t>(step)];
  return std::ranges::any_of(flow.bases, [&](int base) {
    const int own = std::ranges::binary_search(flow.loads, base) ? 1 : 0;
    return readers_[static_cast<size_t>(base)] > own;
  });
}

// A step that can be blocked with the one before, else the first that need not wait.
int Scheduler::choose(int previous) {
  if (previous >= 0) {
    for (const int user : users_[static_cast<size_t>(previous)]) {
      if (ready_.contains(user) &&
          can_block(steps_.back(), last_flow_, source_[static_cast<size_t>(user)],
                    flows_[static_cast<size_t>(user)])) {
        return user;
      }
    }
  }
  const auto free =
      std::ranges::find_if(ready_, [&](int step) { return !waits_for_readers(step); });
  return free != ready_.end() ? *free : *ready_.begin();
}

void Scheduler::emit(int number) {
  Step& step = source_[static_cast<size_t>(number)];
  Flow& flow = flows_[static_cast<size_t>(number)];
  for (const int buffer : flow.loads) --readers_[static_cast<size_t>(buffer)];
  if (!steps_.empty() && can_block(steps_.back(), last_flow_, step, flow)) {
    steps_.back().blocked = true;
    std::ranges::move(step.kernels, std::back_inserter(steps_.back().kernels));
    for (auto [to, from] :
         {std::pair(&last_flow_.loads, &flow.loads), std::pair(&last_flow_.stores, &flow.stores)}) {
      to->insert(to->end(), from->begin(), from->end());
      sort_unique(*to);
    }
    return;
  }
  steps_.push_back(std::move(step));
  last_flow_ = flow;
}

// The steps first..last-1, which need nothing of later ones.
void Scheduler::run_part(int first, int last) {
  steps_.clear();
  last_flow_ = {};
  for (int i = first; i < last; ++i) {
    if (missing_[static_cast<size_t>(i)] == 0) ready_.insert(i);
  }
  int previous = -1;
  while (!ready_.empty()) {
    const int next = choose(previous);
    ready_.erase(next);
    emit(next);
    for (const int user : users_[static_cast<size_t>(next)]) {
      if (--missing_[static_cast<size_t>(user)] == 0 && user < last) ready_.insert(user);
    }
    previous = next;
  }
  std::ranges::move(steps_, std::back_inserter(program_.steps));
}

// Temporaries that one blocked step alone uses, row by row, are blocks.
void Scheduler::make_blocks() {
  constexpr int kUnused = -1, kMany = -2;
  std::vector<int> user(program_.buffers.size(), kUnused);
  std::vector<bool> rows(program_.buffers.size(), true);
  std::vector<const Shape*> seen_as(program_.buffers.size());
  for (size_t i = 0; i < program_.steps.size(); ++i) {
    const auto look = [&](const Operand& operand) {
      const auto buffer = static_cast<size_t>(operand.buffer);
      const int step = static_cast<int>(i);
      user[buffer] = user[buffer] == kUnused || user[buffer] == step ? step : kMany;
      if (!seen_as[buffer]) seen_as[buffer] = &operand.shape;
      if (!is_row(operand) || *seen_as[buffer] != operand.shape) rows[buffer] = false;
    };
    for (const Kernel& kernel : program_.steps[i].kernels) {
      for_each_load(kernel, look);
      for_each_store(kernel, look);
    }
  }
  for (const FirstFailure& check : program_.checks) user[static_cast<size_t>(check.buffer)] = kMany;
  for (const Buffer& buffer : program_.buffers) {
    if (buffer.starts_as >= 0) user[static_cast<size_t>(buffer.starts_as)] = kMany;
  }
  for (size_t i = 0; i < program_.buffers.size(); ++i) {
    Buffer& buffer = program_.buffers[i];
    if (buffer.kind != Buffer::Kind::kTemporary || buffer.starts_as >= 0 || !rows[i]) continue;
    if (user[i] < 0 || !program_.steps[static_cast<size_t>(user[i])].blocked) continue;
    buffer.kind = Buffer::Kind::kBlock;
    buffer.shape = *seen_as[i];
  }
}

void Scheduler::run() {
  source_ = std::move(program_.steps);
  program_.steps.clear();
  find_flows();
  const int checks = program_.check_steps;
  run_part(0, checks);
  program_.check_steps = static_cast<int>(program_.steps.size());
  run_part(checks, static_cast<int>(source_.size()));
  make_blocks();
}

}  // namespace

void schedule(Program& program) { Scheduler(program).run(); }

// ---- lifetimes -----------------------------------------------------------------------------

std::vector<Lifetime> lifetimes(const Program& program) {
  std::vector<Lifetime> result(program.buffers.size());
  const auto need = [&](int buffer, Moment from, Moment to) {
    Lifetime& lifetime = result[static_cast<size_t>(buffer)];
    if (lifetime.first.step < 0 || from < lifetime.first) lifetime.first = from;
    lifetime.last = std::max(lifetime.last, to);
  };
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const Moment begin{static_cast<int>(s), 0};
    const Moment end{static_cast<int>(s), static_cast<int>(step.kernels.size()) - 1};
    for (size_t k = 0; k < step.kernels.size(); ++k) {
      const Moment now{static_cast<int>(s), static_cast<int>(k)};
      const auto touch = [&](const Operand& operand) {
        const Buffer& buffer = program.buffers[static_cast<size_t>(operand.buffer)];
        const bool whole = step.blocked && buffer.kind != Buffer::Kind::kBlock;
        need(operand.buffer, whole ? begin : now, whole ? end : now);
      };
      for_each_load(step.kernels[k], touch);
      for_each_store(step.kernels[k], [&](const Operand& operand) {
        touch(operand);
        const int base = program.buffers[static_cast<size_t>(operand.buffer)].starts_as;
        if (base >= 0) need(base, step.blocked ? begin : now, step.blocked ? begin : now);
      });
    }
  }
  for (const FirstFailure& check : program.checks) {
    const int step = program.check_steps - 1;
    const auto kernels = program.steps[static_cast<size_t>(step)].kernels.size();
    need(check.buffer, {step, static_cast<int>(kernels) - 1},
         {step, static_cast<int>(kernels) - 1});
  }
  return result;
}

bool can_start_in_place(const Program& program, int number) {
  const int base = program.buffers[static_cast<size_t>(number)].starts_as;
  if (base < 0 || std::ranges::find(program.outputs, base) != program.outputs.end()) return false;
  bool overwritten = false;  // by a kernel met so far
  for (const Step& step : program.steps) {
    const bool mixed = step.blocked && std::ranges::any_of(step.kernels, [&](const Kernel& kernel) {
                         bool stores = false;
                         for_each_store(kernel, [&](const Operand& operand) {
                           stores |= operand.buffer == number;
                         });
                         return stores;
                       });
    for (const Kernel& kernel : step.kernels) {
      const Operand* target = nullptr;
      bool starts_another = false;
      for_each_store(kernel, [&](const Operand& operand) {
        if (operand.buffer == number) target = &operand;
        const Buffer& other = program.buffers[static_cast<size_t>(operand.buffer)];
        starts_another |= operand.buffer != number && other.starts_as == base;
      });
      overwritten |= target != nullptr;
      if (overwritten && starts_another) return false;
      bool safe = true;
      for_each_load(kernel, [&](const Operand& operand) {
        if (operand.buffer != base) return;
        const bool same_element = target && kernel.reduced == 0 && operand.shape == target->shape &&
                                  operand.axes == target->axes;
        safe &= same_element || (!overwritten && !mixed);
      });
      if (!safe) return false;
    }
  }
  return true;
}

}  // namespace lanewise::ir
