#include <algorithm>
#include <set>

#include "ir/detail/kernel_rules.h"
#include "ir/detail/literal.h"

namespace lanewise::ir::detail {

namespace {

// The loops that a value or an operand varies with, as bits.
using LoopSet = uint64_t;

class KernelChecker {
 public:
  KernelChecker(const Program& program, const Kernel& kernel)
      : program_(program), kernel_(kernel), body_(kernel.body) {}

  std::optional<Problem> find(int number) {
    if (const Complaint bad = check_loops()) return Problem{*bad, number};
    if (const Complaint bad = check_scalars()) return Problem{*bad, number};
    for (const Operand& operand : kernel_.operands) {
      if (const Complaint bad = check_operand(operand)) return Problem{*bad, number};
    }
    for (size_t i = 0; i < body_.size(); ++i) {
      if (const Complaint bad = check_node(i)) return Problem{*bad, number, body_.value(i)};
    }
    for (const Store& store : kernel_.stores) {
      if (const Complaint bad = check_store(store)) return Problem{*bad, number};
    }
    if (const Complaint bad = check_numbering()) return Problem{*bad, number};
    return std::nullopt;
  }

 private:
  const Buffer& buffer(const Operand& operand) const {
    return program_.buffers[static_cast<size_t>(operand.buffer)];
  }

  Complaint check_loops() const {
    const int rank = kernel_.domain.rank();
    if (static_cast<int>(kernel_.loops.size()) != rank) {
      return complaint("{} names for {} loops", kernel_.loops.size(), rank);
    }
    if (rank > 64) return complaint("{} loops", rank);
    if (kernel_.reduced < 0 || kernel_.reduced > rank) {
      return complaint("{} of {} loops are reduced", kernel_.reduced, rank);
    }
    std::set<std::string> names;
    for (const std::string& loop : kernel_.loops) {
      if (!is_identifier(loop)) return complaint("'{}' is no name for a loop", loop);
      if (!names.insert(loop).second) return complaint("two loops are named {}", loop);
    }
    if (Complaint bad = check_sizes(kernel_.domain)) return bad;
    if (Complaint bad = no_loop_in(kernel_.domain, names)) return bad;
    for (const Operand& operand : kernel_.operands) {
      if (Complaint bad = no_loop_in(operand.shape, names)) return bad;
      for (const AxisIndex& axis : operand.axes) {
        if (Complaint bad = no_loop_in({axis.offset}, names)) return bad;
        for (const auto& term : axis.terms) {
          if (Complaint bad = no_loop_in({term.step}, names)) return bad;
        }
      }
    }
    return {};
  }

  // The text could not tell a loop from a size of the same name.
  static Complaint no_loop_in(const Shape& sizes, const std::set<std::string>& loops) {
    for (const Dim& size : sizes) {
      for (const std::string& symbol : size.symbols()) {
        if (loops.contains(symbol)) return complaint("a loop and a size are named {}", symbol);
      }
    }
    return {};
  }

  Complaint check_scalars() const {
    if (kernel_.scalars.size() != body_.scalars.size()) {
      return complaint("{} dtypes for {} scalars", body_.scalars.size(), kernel_.scalars.size());
    }
    for (size_t i = 0; i < kernel_.scalars.size(); ++i) {
      const auto number = static_cast<size_t>(kernel_.scalars[i]);
      if (number >= program_.scalars.size()) {
        return complaint("scalar {} of {}", kernel_.scalars[i], program_.scalars.size());
      }
      if (program_.scalars[number] != body_.scalars[i]) {
        return complaint("scalar ${} is {}, not {}", number, program_.scalars[number],
                         body_.scalars[i]);
      }
    }
    return {};
  }

  Complaint check_operand(const Operand& operand) const {
    const bool is_index = operand.buffer == Operand::kIndex;
    const size_t rank = is_index ? 1 : static_cast<size_t>(operand.shape.rank());
    if (!is_index && static_cast<size_t>(operand.buffer) >= program_.buffers.size()) {
      return complaint("operand on no buffer");
    }
    if (is_index && operand.shape.rank() != 0) return complaint("an index has a shape");
    if (operand.axes.size() != rank) {
      return complaint("{} indices for shape '{}'", operand.axes.size(), operand.shape);
    }
    for (const AxisIndex& axis : operand.axes) {
      int previous = -1;
      for (const auto& term : axis.terms) {
        if (term.loop <= previous || term.loop >= kernel_.domain.rank()) {
          return complaint("loops of an index are not ascending");
        }
        if (term.step.is(0)) return complaint("an index moves by 0 along a loop");
        previous = term.loop;
      }
    }
    if (is_index) return {};
    if (operand.shape != buffer(operand).shape) {
      if (!buffer(operand).contiguous) return complaint("a strided buffer in another shape");
      if (operand.shape.element_count() != buffer(operand).shape.element_count()) {
        return complaint("shape '{}' of a buffer of shape '{}'", operand.shape,
                         buffer(operand).shape);
      }
    }
    return check_bounds(operand);
  }

  // That each index stays inside its axis, as far as sizes are known.
  Complaint check_bounds(const Operand& operand) const {
    if (kernel_.domain.is_constant() && kernel_.domain.element_count().is(0)) return {};
    for (int axis = 0; axis < operand.shape.rank(); ++axis) {
      const AxisIndex& index = operand.axes[static_cast<size_t>(axis)];
      bool known = index.offset.is_constant() && operand.shape[axis].is_constant();
      for (const auto& term : index.terms) {
        known = known && term.step.is_constant() && kernel_.domain[term.loop].is_constant();
      }
      if (!known) continue;
      int64_t first = index.offset.value();
      int64_t last = first;
      for (const auto& term : index.terms) {
        const int64_t span = (kernel_.domain[term.loop].value() - 1) * term.step.value();
        (span < 0 ? first : last) += span;
      }
      if (first < 0 || last >= operand.shape[axis].value()) {
        return complaint("index {} to {} of an axis of {}", first, last, operand.shape[axis]);
      }
    }
    return {};
  }

  Complaint check_node(size_t i) {
    const Node& node = body_.nodes()[i];
    if (Complaint bad = check_form(body_, i, true)) return bad;
    if (node.shape.rank() != 0) return complaint("{}: shape {} in a body", node.op, node.shape);
    LoopSet varies = 0;
    for (const Value operand : node.inputs()) varies |= varies_[operand.index];
    Complaint bad;
    if (is_reduction(node.op) || is_scan(node.op)) {
      bad = check_row(node, varies);
    } else if (is_elementwise(node.op)) {
      if (spec(node.op).kind == OpKind::kComposite) {
        return complaint("{}: not expanded", node.op);
      }
      bad = check_elementwise(body_, node);
    } else {
      bad = check_leaf(node, varies);
    }
    varies_.push_back(varies);
    return bad;
  }

  // A reduction leaves a value for each row, a scan one for each point.
  Complaint check_row(const Node& node, LoopSet& varies) const {
    if (kernel_.reduced == 0) return complaint("{}: no loop is reduced", node.op);
    if (is_scan(node.op)) {
      varies |= reduced_loops();
    } else {
      varies &= ~reduced_loops();
    }
    return check_dtypes(body_, node);
  }

  Complaint check_leaf(const Node& node, LoopSet& varies) const {
    switch (node.op) {
      case Op::kConstant:
        return check_constant(node);
      case Op::kScalar: {
        const auto slot = static_cast<size_t>(node.get<Slot>().index);
        if (slot >= body_.scalars.size()) {
          return complaint("scalar: number {} of {}", node.get<Slot>().index, body_.scalars.size());
        }
        if (node.dtype == body_.scalars[slot]) return {};
        return complaint("scalar: {} of a scalar {}", node.dtype, body_.scalars[slot]);
      }
      case Op::kLoad:
      case Op::kIota:
        return check_access(node, varies);
      default:
        return complaint("{}: not an op of kernels", node.op);
    }
  }

  Complaint check_access(const Node& node, LoopSet& varies) const {
    const auto slot = static_cast<size_t>(node.get<Slot>().index);
    if (slot >= kernel_.operands.size()) {
      return complaint("{}: operand {} of {}", node.op, node.get<Slot>().index,
                       kernel_.operands.size());
    }
    const Operand& operand = kernel_.operands[slot];
    varies = loops_of(operand);
    const bool is_index = operand.buffer == Operand::kIndex;
    if (is_index != (node.op == Op::kIota))
      return complaint("{}: operand of another kind", node.op);
    if (is_index) {
      return is_int(node.dtype) ? Complaint() : complaint("iota: {} is no integer", node.dtype);
    }
    if (node.dtype == buffer(operand).dtype) return {};
    return complaint("load: {} from a buffer of {}", node.dtype, buffer(operand).dtype);
  }

  Complaint check_store(const Store& store) const {
    if (static_cast<size_t>(store.operand) >= kernel_.operands.size()) {
      return complaint("store: operand {} of {}", store.operand, kernel_.operands.size());
    }
    const Operand& operand = kernel_.operands[static_cast<size_t>(store.operand)];
    if (operand.buffer == Operand::kIndex) return complaint("store: to an index");
    if (store.value.index >= body_.size()) return complaint("store: no value of the body");
    const DType dtype = body_[store.value].dtype;
    if (dtype != buffer(operand).dtype) {
      return complaint("store: {} to a buffer of {}", dtype, buffer(operand).dtype);
    }
    // Otherwise several points would write different values to one element.
    if (varies_[store.value.index] & ~loops_of(operand) & ~single_trips()) {
      return complaint("store: the value varies with a loop that the operand does not");
    }
    return {};
  }

  // Operands and scalars in the order of first use, each once; none both loaded and stored.
  Complaint check_numbering() const {
    int operands = 0;
    int scalars = 0;
    const auto visit = [](int slot, int& count) {
      count += slot == count ? 1 : 0;
      return slot < count;
    };
    std::set<int> loaded, stored;
    for (const Node& node : body_.nodes()) {
      const Slot* slot = std::get_if<Slot>(&node.attribute);
      if (!slot) continue;
      if (!visit(slot->index, node.op == Op::kScalar ? scalars : operands)) {
        return complaint("{}: not numbered in the order of use", node.op);
      }
      if (node.op != Op::kLoad) continue;
      loaded.insert(kernel_.operands[static_cast<size_t>(slot->index)].buffer);
    }
    for (const Store& store : kernel_.stores) {
      if (!visit(store.operand, operands)) {
        return complaint("store: not numbered in the order of use");
      }
      stored.insert(kernel_.operands[static_cast<size_t>(store.operand)].buffer);
    }
    if (operands != static_cast<int>(kernel_.operands.size()) ||
        scalars != static_cast<int>(kernel_.scalars.size())) {
      return complaint("an operand or scalar is not used");
    }
    for (const int buffer : stored) {
      if (loaded.contains(buffer)) return complaint("a buffer is loaded and stored");
    }
    return check_distinct();
  }

  Complaint check_distinct() const {
    const auto& operands = kernel_.operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (std::ranges::find(operands.begin() + static_cast<ptrdiff_t>(i) + 1, operands.end(),
                            operands[i]) != operands.end()) {
        return complaint("two operands are equal");
      }
    }
    const std::set<int> scalars(kernel_.scalars.begin(), kernel_.scalars.end());
    if (scalars.size() != kernel_.scalars.size()) return complaint("two scalars are equal");
    return {};
  }

  LoopSet reduced_loops() const {
    LoopSet loops = 0;
    const int rank = kernel_.domain.rank();
    for (int loop = rank - kernel_.reduced; loop < rank; ++loop) loops |= LoopSet{1} << loop;
    return loops;
  }

  LoopSet single_trips() const {
    LoopSet loops = 0;
    for (int loop = 0; loop < kernel_.domain.rank(); ++loop) {
      if (kernel_.domain[loop].is(1)) loops |= LoopSet{1} << loop;
    }
    return loops;
  }

  static LoopSet loops_of(const Operand& operand) {
    LoopSet loops = 0;
    for (const AxisIndex& axis : operand.axes) {
      for (const auto& term : axis.terms) loops |= LoopSet{1} << term.loop;
    }
    return loops;
  }

  const Program& program_;
  const Kernel& kernel_;
  const Graph& body_;
  std::vector<LoopSet> varies_;  // of each value
};

}  // namespace

std::optional<Problem> find_problem(const Program& program, const Kernel& kernel, int number) {
  return KernelChecker(program, kernel).find(number);
}

}  // namespace lanewise::ir::detail
