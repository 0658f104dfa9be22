// One kernel out of a draft.
#pragma once

#include <span>
#include <string>
#include <unordered_map>

#include "ir/passes/fusion/draft.h"

namespace lanewise::ir::fusion {

// Values of the draft that another kernel stores, and where they are loaded from.
using Crossing = std::unordered_map<uint32_t, Operand>;

// Goes through the values of a draft, each once: operands before users, and of the operands of a
// value first those that need more registers.
class Walk {
 public:
  explicit Walk(const Draft& draft);
  // Forgets what was visited.
  void restart() { ++round_; }
  // Visits what `value` is made of and has not been visited, then itself. `given(v)`: visit v, but
  // not what it is made of.
  template <class Given, class Visit>
  void go(Value value, Given given, Visit visit);

 private:
  const Draft& draft_;
  std::vector<uint32_t> registers_;  // needed to compute a value, as Sethi and Ullman count them
  std::vector<uint32_t> visited_;    // the round
  std::vector<std::pair<Value, bool>> pending_;  // the flag: operands have been visited
  uint32_t round_ = 1;
};

// The kernel that makes these stores, in canonical form: operands, scalars, body nodes and loops
// numbered by first use, loops that nothing walks left out.
Kernel extract(const Draft& draft, Walk& walk, std::span<const Draft::Store> stores,
               const Crossing& crossing, std::string name);

template <class Given, class Visit>
void Walk::go(Value value, Given given, Visit visit) {
  pending_.emplace_back(value, false);
  while (!pending_.empty()) {
    const auto [next, ready] = pending_.back();
    pending_.pop_back();
    if (visited_[next.index] == round_) continue;
    const Node& node = draft_.body[next];
    if (ready || node.arity() == 0 || given(next)) {
      visited_[next.index] = round_;
      visit(next);
      continue;
    }
    pending_.emplace_back(next, true);
    // The last one pushed comes first: that with the most registers, of equals the left one.
    const auto operands = node.inputs();
    unsigned pushed = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      size_t least = operands.size();
      for (size_t k = operands.size(); k-- > 0;) {
        if (pushed >> k & 1) continue;
        if (least == operands.size() ||
            registers_[operands[k].index] < registers_[operands[least].index]) {
          least = k;
        }
      }
      pushed |= 1U << least;
      pending_.emplace_back(operands[least], false);
    }
  }
}

}  // namespace lanewise::ir::fusion
