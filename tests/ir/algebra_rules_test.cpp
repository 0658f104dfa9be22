// Both sides of each rule of simplify_algebra, for each of its dtypes, on values that make
// trouble, compared by the interpreter.
#include "ir/passes/algebra_rules.h"

#include <gtest/gtest.h>

#include <set>

#include "ir/interpret.h"
#include "ir/passes/passes.h"
#include "ir/passes/structure_rules.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "tests/support/random_graph.h"
#include "tests/support/random_window.h"

namespace lanewise::ir {
namespace {

using algebra::Match;
using algebra::Rule;
using algebra::Term;

struct Parts {
  std::set<int> variables, masks, constants;
};

void collect(const Term& term, Parts& parts) {
  if (term.kind == Term::Kind::kVariable) parts.variables.insert(term.index);
  if (term.kind == Term::Kind::kMask) parts.masks.insert(term.index);
  if (term.kind == Term::Kind::kConstant) parts.constants.insert(term.index);
  for (const Term& operand : term.operands) collect(operand, parts);
}

// All combinations of special values for `count` operands, then random values: one column each.
std::vector<std::vector<Scalar>> columns(test::Random& random, DType dtype, size_t count) {
  const auto special = test::special_values(dtype);
  std::vector<std::vector<Scalar>> result(count);
  size_t combinations = 1;
  for (size_t i = 0; i < count; ++i) combinations *= special.size();
  for (size_t n = 0; n < combinations; ++n) {
    size_t rest = n;
    for (auto& column : result) {
      column.push_back(special[rest % special.size()]);
      rest /= special.size();
    }
  }
  for (auto& column : result) {
    for (int i = 0; i < 200; ++i) column.push_back(test::random_value(random, dtype));
  }
  return result;
}

Tensor tensor_of(DType dtype, const std::vector<Scalar>& values) {
  Tensor tensor(dtype, {std::ssize(values)});
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.set_element(i, values[static_cast<size_t>(i)]);
  }
  return tensor;
}

// A rule for one dtype and given constants: the pattern alone, and pattern with replacement.
class Instance {
 public:
  Instance(const Rule& rule, DType dtype, const Match& constants, test::Random& random)
      : rule_(rule), match_(constants) {
    match_.dtype = dtype;
    collect(rule.pattern, parts_);
    const auto values = columns(random, dtype, parts_.variables.size());
    const auto count = static_cast<int64_t>(values.empty() ? 2 : values[0].size());
    size_t column = 0;
    for (const int index : parts_.variables) {
      add_input(dtype, match_.variables[static_cast<size_t>(index)],
                tensor_of(dtype, values[column++]));
    }
    for (const int index : parts_.masks) {
      std::vector<Scalar> masks;
      for (int64_t i = 0; i < count; ++i) masks.push_back(Scalar::of(i % 7 % 2 == 0));
      add_input(DType::kBool, match_.masks[static_cast<size_t>(index)],
                tensor_of(DType::kBool, masks));
    }
    shape_ = Shape{count};
  }

  // Nothing where a computed constant of the replacement does not exist.
  bool check() {
    const auto pattern = side(rule_.pattern, DType::kBool);
    const DType dtype = graph_[*pattern].dtype;
    graph_.outputs = {*pattern};
    Graph simplified = graph_;
    const auto replacement = side(rule_.replacement, dtype);
    if (!replacement) return false;
    graph_.outputs.push_back(*replacement);
    verify(graph_, rule_.name);
    const auto results = interpret(graph_, inputs_);
    EXPECT_TRUE(same_bits(results[0], results[1])) << difference(results) << print(graph_);

    EXPECT_TRUE(simplify_algebra(simplified)) << "does not apply: " << print(simplified);
    verify(simplified, rule_.name);
    EXPECT_TRUE(same_bits(interpret(simplified, inputs_)[0], results[0])) << print(simplified);
    return true;
  }

 private:
  void add_input(DType dtype, Value& value, Tensor tensor) {
    value = builder_.input("x" + std::to_string(inputs_.size()), dtype, {tensor.shape[0]});
    inputs_.push_back(std::move(tensor));
  }

  std::optional<Value> side(const Term& term, DType dtype) {
    const auto apply = [&](Op op, std::span<const Value> v) {
      switch (v.size()) {
        case 1:
          return builder_.apply(op, {v[0]});
        case 2:
          return builder_.apply(op, {v[0], v[1]});
        default:
          return builder_.apply(op, {v[0], v[1], v[2]});
      }
    };
    return algebra::build(builder_, term, match_, shape_, dtype, apply);
  }

  std::string difference(const std::vector<Tensor>& results) const {
    for (int64_t i = 0; i < results[0].element_count(); ++i) {
      if (same_bits(results[0].element(i), results[1].element(i))) continue;
      std::string text = "for";
      for (const Tensor& input : inputs_)
        text += " " + std::to_string(input.element(i).to_double());
      return text + "\n";
    }
    return {};
  }

  const Rule& rule_;
  Match match_;
  Parts parts_;
  Graph graph_;
  Builder builder_{graph_};
  Shape shape_;
  std::vector<Tensor> inputs_;
};

std::vector<Scalar> constants_of(test::Random& random, DType dtype) {
  auto values = test::special_values(dtype);
  for (int i = 0; i < 6; ++i) values.push_back(test::random_value(random, dtype));
  for (int i = 0; i < 8; ++i) values.push_back(Scalar::from_int(dtype, int64_t{1} << i));
  if (is_float(dtype)) {
    for (const double value : {0.125, -4.0, 0x1p127, 0x1p-127, 0x1p-149, 0x1p1023, 0x1p-1023}) {
      values.push_back(Scalar::from_double(dtype, value));
    }
  }
  return values;
}

// The constants of a rule, in all combinations.
std::vector<Match> constant_choices(const Rule& rule, DType dtype, test::Random& random) {
  Parts parts;
  collect(rule.pattern, parts);
  std::vector<Match> choices(1);
  for (const int index : parts.constants) {
    std::vector<Match> more;
    for (const Match& choice : choices) {
      for (const Scalar value : constants_of(random, dtype)) {
        more.push_back(choice);
        more.back().constants[static_cast<size_t>(index)] = value;
      }
    }
    choices = std::move(more);
  }
  std::erase_if(choices, [&](const Match& match) { return rule.where && !rule.where(match); });
  return choices;
}

class AlgebraRules : public testing::TestWithParam<size_t> {};

TEST_P(AlgebraRules, BothSidesAreEqual) {
  const Rule& rule = algebra::rules()[GetParam()];
  test::Random random(GetParam());
  for (int d = 0; d < kDTypeCount; ++d) {
    const auto dtype = static_cast<DType>(d);
    if (!contains(rule.dtypes, dtype)) continue;
    SCOPED_TRACE(text_name(dtype));
    int checked = 0;
    for (const Match& constants : constant_choices(rule, dtype, random)) {
      checked += Instance(rule, dtype, constants, random).check() ? 1 : 0;
      if (HasFailure()) return;
    }
    EXPECT_GT(checked, 0);
  }
}

std::string rule_name(const testing::TestParamInfo<size_t>& info) {
  std::string name;
  bool capital = true;
  for (const char c : algebra::rules()[info.param].name) {
    if (c == '-') {
      capital = true;
    } else {
      name += static_cast<char>(capital ? std::toupper(c) : c);
      capital = false;
    }
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, AlgebraRules, testing::Range<size_t>(0, algebra::rules().size()),
                         rule_name);

TEST(AlgebraRules, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Rule& rule : algebra::rules())
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name;
}

// ---- rules of structure --------------------------------------------------------------------

TEST(StructureRules, CastsOfCasts) {
  test::Random random(1);
  for (int a = 0; a < kDTypeCount; ++a) {
    const auto from = static_cast<DType>(a);
    auto values = columns(random, from, 1)[0];
    // Rounds to float32 in another way by way of float64.
    values.push_back(Scalar::from_int(from, (int64_t{1} << 62) + (int64_t{1} << 38) + 1));
    // Outside one integer and inside the next.
    for (const double x : {300.0, 70000.0, 5e9}) values.push_back(Scalar::from_double(from, x));
    const Tensor input = tensor_of(from, values);
    for (int b = 0; b < kDTypeCount; ++b) {
      for (int c = 0; c < kDTypeCount; ++c) {
        const auto through = static_cast<DType>(b), to = static_cast<DType>(c);
        Graph graph;
        Builder builder(graph);
        const Value x = builder.input("x", from, {input.shape[0]});
        graph.outputs = {builder.cast(builder.cast(x, through), to), builder.cast(x, to)};
        const auto results = interpret(graph, std::vector{input});
        // Where the rule does not apply, some value shows why.
        const bool expected = from == through || through == to || same_bits(results[0], results[1]);
        const bool redundant =
            from == through || through == to || structure::cast_is_redundant(from, through, to);
        EXPECT_EQ(redundant, expected)
            << text_name(from) << " " << text_name(through) << " " << text_name(to);
      }
    }
  }
}

// Slices of slices, transposes, flips, reshapes: where the rule joins two windows, all elements are
// those of the two in turn.
TEST(StructureRules, WindowsOfWindows) {
  test::Random random(2);
  int joined = 0;
  for (int i = 0; i < 20000; ++i) {
    test::RandomGraphOptions options{.inputs = 1, .scalars = 0, .nodes = 0, .max_size = 6};
    options.dtypes = {DType::kI32};
    Graph graph = test::random_graph(random, options);
    Builder builder(graph);
    const Value first = test::random_window(random, builder, graph.value(0));
    const Value second = test::random_window(random, builder, first);
    if (first == graph.value(0) || second == first) continue;  // all of the operand
    const auto window = structure::compose(graph[first].get<Window>(), graph[first].shape,
                                           graph[second].get<Window>(), graph[second].shape);
    if (!window || graph[second].shape.element_count().is(0)) continue;
    ++joined;
    const Shape shape = graph[second].shape;
    graph.outputs = {second, builder.window(graph.value(0), shape, *window)};
    ASSERT_FALSE(find_problem(graph)) << print(graph);
    Tensor input(DType::kI32, evaluate(graph.inputs[0].shape, {}));
    for (int64_t k = 0; k < input.element_count(); ++k) input.at<int32_t>(k) = int32_t(k);
    const auto results = interpret(graph, std::vector{input});
    ASSERT_TRUE(same_bits(results[0], results[1])) << print(graph);
  }
  EXPECT_GT(joined, 5000);
}

}  // namespace
}  // namespace lanewise::ir
