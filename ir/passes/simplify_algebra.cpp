#include <algorithm>

#include "ir/interpret.h"
#include "ir/passes/algebra_rules.h"
#include "ir/passes/passes.h"
#include "ir/passes/structure_rules.h"

namespace lanewise::ir {

namespace {

using algebra::Match;
using algebra::Rule;
using algebra::Term;

// ---- matching ------------------------------------------------------------------------------

// Finds what the parts of a pattern stand for. Keeps a list of what is left to match, so that a
// choice (the order of commutative operands) can be taken back.
class Matcher {
 public:
  explicit Matcher(const Graph& graph) : graph_(graph) {}

  std::optional<Match> match(const Rule& rule, const Node& root) {
    if (!may_match(rule.pattern, root)) return std::nullopt;
    match_ = {};
    has_dtype_ = false;
    if (!match_operands(rule.pattern, root, {})) return std::nullopt;
    if (!contains(rule.dtypes, match_.dtype)) return std::nullopt;
    if (rule.where && !rule.where(match_)) return std::nullopt;
    return match_;
  }

 private:
  struct Goal {
    const Term* term;
    Value value;
    bool is_condition;
  };
  struct Goals {
    std::array<Goal, 12> list;
    size_t count = 0;
  };

  static bool can_swap(Op op) { return (spec(op).traits & kCommutative) != 0 || op == Op::kFma; }

  // Most rules fail here: each op or constant that the pattern names is among the operands.
  bool may_match(const Term& pattern, const Node& root) const {
    return std::ranges::all_of(pattern.operands, [&](const Term& term) {
      const bool is_constant =
          term.kind == Term::Kind::kConstant || term.kind == Term::Kind::kNumber;
      if (!is_constant && term.kind != Term::Kind::kOp) return true;
      const Op op = is_constant ? Op::kConstant : term.op;
      return std::ranges::any_of(root.inputs(),
                                 [&](Value value) { return graph_[value].op == op; });
    });
  }

  bool match_operands(const Term& term, const Node& node, const Goals& rest) {
    if (node.op != term.op) return false;
    const auto attempt = [&](bool swapped) {
      Goals goals = rest;
      for (size_t i = term.operands.size(); i-- > 0;) {
        const size_t operand = swapped && i < 2 ? 1 - i : i;
        const bool is_condition = i == 0 && (spec(term.op).traits & kCondition) != 0;
        goals.list[goals.count++] = {&term.operands[i], node.operands[operand], is_condition};
      }
      return match_goals(goals);
    };
    const Match saved = match_;
    const bool had_dtype = has_dtype_;
    if (attempt(false)) return true;
    if (!can_swap(node.op)) return false;
    match_ = saved;
    has_dtype_ = had_dtype;
    return attempt(true);
  }

  bool match_goals(Goals goals) {
    if (goals.count == 0) return true;
    const Goal goal = goals.list[--goals.count];
    if (goal.term->kind == Term::Kind::kOp) {
      return match_operands(*goal.term, graph_[goal.value], goals);
    }
    return match_leaf(goal) && match_goals(goals);
  }

  bool match_leaf(const Goal& goal) {
    const Term& term = *goal.term;
    const Node& node = graph_[goal.value];
    const auto index = static_cast<size_t>(term.index);
    switch (term.kind) {
      case Term::Kind::kVariable:
        return bind_dtype(node.dtype) && bind(match_.variables[index], goal.value);
      case Term::Kind::kMask:
        return is_bool(node.dtype) && bind(match_.masks[index], goal.value);
      case Term::Kind::kConstant:
        if (node.op != Op::kConstant || !bind_dtype(node.dtype)) return false;
        match_.constants[index] = node.get<Scalar>();
        return true;
      case Term::Kind::kNumber:
        return node.op == Op::kConstant && (goal.is_condition || bind_dtype(node.dtype)) &&
               node.get<Scalar>() == algebra::number_of(node.dtype, term.number);
      case Term::Kind::kComputed:
      case Term::Kind::kOp:
        return false;
    }
    __builtin_unreachable();
  }

  bool bind_dtype(DType dtype) {
    if (!has_dtype_) match_.dtype = dtype;
    has_dtype_ = true;
    return match_.dtype == dtype;
  }

  static bool bind(Value& slot, Value value) {
    if (!slot.valid()) slot = value;
    return slot == value;
  }

  const Graph& graph_;
  Match match_;
  bool has_dtype_ = false;
};

// The rules whose pattern begins with an op.
std::span<const Rule* const> rules_of(Op op) {
  static const auto by_op = [] {
    std::vector<std::vector<const Rule*>> lists(op_table().size());
    for (const Rule& rule : algebra::rules()) {
      lists[static_cast<size_t>(rule.pattern.op)].push_back(&rule);
    }
    return lists;
  }();
  return by_op[static_cast<size_t>(op)];
}

// ---- rewriting -----------------------------------------------------------------------------

class Simplifier {
 public:
  explicit Simplifier(Builder& builder) : builder_(builder) {}

  // The value of `node`, whose operands are in the new graph, by the first rule that applies.
  Value simplify(const Node& node) {
    // What a rule makes is simplified in turn. Rules shrink their pattern, or turn it into one that
    // later rules know, so this ends soon; the limit makes that sure.
    constexpr int kMaxDepth = 32;
    if (depth_ < kMaxDepth) {
      ++depth_;
      const auto value = is_elementwise(node.op) ? apply_algebra(node) : std::nullopt;
      const auto result = value ? value : apply_structure(node);
      --depth_;
      if (result) return *result;
    }
    return builder_.clone(node, node.inputs());
  }

 private:
  std::optional<Value> apply_algebra(const Node& node) {
    for (const Rule* rule : rules_of(node.op)) {
      const auto match = Matcher(builder_.graph()).match(*rule, node);
      if (!match) continue;
      const auto apply = [&](Op op, std::span<const Value> operands) {
        return make(op, operands, node);
      };
      const auto value =
          algebra::build(builder_, rule->replacement, *match, node.shape, node.dtype, apply);
      if (value) return value;
    }
    return std::nullopt;
  }

  std::optional<Value> apply_structure(const Node& node) {
    for (const structure::Rule& rule : structure::rules()) {
      if (const auto value = rule.apply(builder_, node)) return value;
    }
    return std::nullopt;
  }

  // A node of a replacement: folded if it is a primitive on constants, else simplified.
  Value make(Op op, std::span<const Value> operands, const Node& root) {
    Node node{.op = op,
              .dtype = builder_[operands.back()].dtype,
              .shape = root.shape,
              .source = root.source};
    if (spec(op).result == ResultRule::kBool) node.dtype = DType::kBool;
    std::ranges::copy(operands, node.operands.begin());
    std::array<Scalar, kMaxArity> constants;
    size_t count = 0;
    for (const Value operand : operands) {
      const bool folds =
          builder_[operand].op == Op::kConstant && spec(op).kind == OpKind::kPrimitive;
      if (!folds) return simplify(node);
      constants[count++] = builder_[operand].get<Scalar>();
    }
    return builder_.constant(interpret_element(node, {constants.data(), count}), root.shape);
  }

  Builder& builder_;
  int depth_ = 0;
};

}  // namespace

bool simplify_algebra(Graph& graph) {
  return rewrite(graph, [](Builder& builder, const Node& node, std::span<const Value> operands) {
    Node candidate = node;
    std::ranges::copy(operands, candidate.operands.begin());
    return Simplifier(builder).simplify(candidate);
  });
}

}  // namespace lanewise::ir
