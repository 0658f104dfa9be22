#include "ir/index_map.h"

#include <algorithm>
#include <array>

#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

// ---- loops ---------------------------------------------------------------------------------

int Loops::append(const Dim& size, bool reduced) {
  const int loop = static_cast<int>(entries_.size());
  entries_.push_back({size, reduced});
  order_.push_back(loop);
  return loop;
}

void Loops::split(int loop, const Dim& inner) {
  const auto outer = exact_quotient(size(loop), inner);
  if (!outer) throw InternalError(format("a loop of {} split by {}", size(loop), inner));
  const int first = static_cast<int>(entries_.size());
  entries_.push_back({*outer, reduced(loop)});
  entries_.push_back({inner, reduced(loop)});
  entries_[static_cast<size_t>(loop)].outer = first;
  entries_[static_cast<size_t>(loop)].inner = first + 1;
  const auto place = std::ranges::find(order_, loop);
  *place = first;
  order_.insert(place + 1, first + 1);
}

std::vector<int> Loops::select(bool reduced) const {
  std::vector<int> loops;
  for (const int loop : order_) {
    if (entries_[static_cast<size_t>(loop)].reduced == reduced) loops.push_back(loop);
  }
  return loops;
}

AxisIndex Loops::expand(const AxisIndex& index) const {
  std::vector<AxisIndex::Term> pending = index.terms;
  AxisIndex result{index.offset, {}};
  while (!pending.empty()) {
    const AxisIndex::Term term = pending.back();
    pending.pop_back();
    const Entry& entry = entries_[static_cast<size_t>(term.loop)];
    if (entry.outer < 0) {
      result.terms.push_back(term);
    } else {
      pending.push_back({entry.outer, term.step * size(entry.inner)});
      pending.push_back({entry.inner, term.step});
    }
  }
  std::ranges::sort(result.terms, {}, &AxisIndex::Term::loop);
  return result;
}

// ---- arithmetic ----------------------------------------------------------------------------

size_t IndexMap::hash() const {
  size_t hash = shape.hash();
  const auto mix = [&](size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15 + (hash >> 29); };
  for (const AxisIndex& axis : axes) {
    mix(axis.offset.hash());
    for (const auto& term : axis.terms) {
      mix(static_cast<size_t>(term.loop));
      mix(term.step.hash());
    }
  }
  return hash;
}

AxisIndex add(const AxisIndex& a, const AxisIndex& b) {
  AxisIndex sum{a.offset + b.offset, {}};
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    if (right == b.terms.end() || (left != a.terms.end() && left->loop < right->loop)) {
      sum.terms.push_back(*left++);
    } else if (left == a.terms.end() || right->loop < left->loop) {
      sum.terms.push_back(*right++);
    } else {
      const Dim step = left->step + right->step;
      if (!step.is(0)) sum.terms.push_back({left->loop, step});
      ++left;
      ++right;
    }
  }
  return sum;
}

AxisIndex scale(const AxisIndex& a, const Dim& factor) {
  if (factor.is(0)) return {};
  AxisIndex product{a.offset * factor, a.terms};
  for (auto& term : product.terms) term.step = term.step * factor;
  return product;
}

bool names(const IndexMap& map, int loop) {
  return std::ranges::any_of(map.axes, [&](const AxisIndex& axis) {
    return std::ranges::find(axis.terms, loop, &AxisIndex::Term::loop) != axis.terms.end();
  });
}

AxisIndex flatten(const IndexMap& map) {
  if (map.axes.size() == 1) return map.axes[0];
  const std::vector<Dim> strides = row_major_strides(map.shape);
  AxisIndex flat;
  for (size_t k = 0; k < map.axes.size(); ++k) flat = add(flat, scale(map.axes[k], strides[k]));
  return flat;
}

IndexMap expand(const IndexMap& map, const Loops& loops) {
  if (!loops.any_split()) return map;
  IndexMap result{map.shape, {}};
  for (const AxisIndex& axis : map.axes) result.axes.push_back(loops.expand(axis));
  return result;
}

// ---- decomposition -------------------------------------------------------------------------

namespace {

// d >= 0, for symbols: for large sizes in whatever proportion.
bool assumed_nonnegative(const Dim& d) {
  if (d.is_constant()) return d.value() >= 0;
  const std::vector<std::string> symbols = d.symbols();
  std::vector<std::pair<std::string, int64_t>> values;
  for (const bool ascending : {true, false}) {
    values.clear();
    for (size_t i = 0; i < symbols.size(); ++i) {
      const size_t rank = ascending ? i : symbols.size() - 1 - i;
      values.emplace_back(symbols[i], 5003 * static_cast<int64_t>(1 + 3 * rank));
    }
    if (d.evaluate(values) < 0) return false;
  }
  return true;
}

// The digits of an index in the mixed radix of a shape with these strides.
std::vector<Dim> digits(Dim index, const Shape& shape, std::span<const Dim> strides) {
  std::vector<Dim> result(strides.size());
  for (size_t k = 0; k < strides.size(); ++k) {
    std::tie(result[k], index) = divide(index, strides[k]);
  }
  // n*m - 1 is digit n and -1 by polynomial division, n - 1 and m - 1 in truth.
  for (size_t k = strides.size() - 1; k > 0; --k) {
    if (assumed_nonnegative(result[k])) continue;
    result[k] = result[k] + shape[static_cast<int>(k)];
    result[k - 1] = result[k - 1] - Dim(1);
  }
  return result;
}

// 0 <= index < size over all trips.
bool stays_within(const AxisIndex& index, const Dim& size, const Loops& loops) {
  Dim lowest = index.offset;
  Dim highest = index.offset;
  for (const auto& [loop, step] : index.terms) {
    const Dim reach = step * (loops.size(loop) - Dim(1));
    if (assumed_nonnegative(step)) {
      highest = highest + reach;
    } else if (assumed_nonnegative(Dim(0) - step)) {
      lowest = lowest + reach;
    } else {
      return false;
    }
  }
  return assumed_nonnegative(lowest) && assumed_nonnegative(size - Dim(1) - highest);
}

}  // namespace

// Where the index is affine in every axis, its digits at the first point and at that point's
// neighbour along each loop give the only candidate.
std::optional<std::vector<AxisIndex>> decompose(const AxisIndex& flat, const Shape& shape,
                                                const Loops& loops) {
  if (shape.rank() == 0) return std::vector<AxisIndex>{};
  if (shape.rank() == 1) return std::vector{flat};
  std::vector<AxisIndex> axes(static_cast<size_t>(shape.rank()));
  // Nothing is ever read from an empty array.
  if (shape.element_count().is(0)) return axes;
  const std::vector<Dim> strides = row_major_strides(shape);
  const std::vector<Dim> origin = digits(flat.offset, shape, strides);
  for (size_t k = 0; k < axes.size(); ++k) axes[k].offset = origin[k];
  for (const auto& [loop, step] : flat.terms) {
    const std::vector<Dim> next = digits(flat.offset + step, shape, strides);
    for (size_t k = 0; k < axes.size(); ++k) {
      const Dim difference = next[k] - origin[k];
      if (!difference.is(0)) axes[k].terms.push_back({loop, difference});
    }
  }
  // The outermost axis is within its bounds if the others are and the index lies in the array.
  bool outermost = true;
  for (size_t k = 0; k < axes.size(); ++k) {
    const Dim& size = shape[static_cast<int>(k)];
    const bool implied = outermost && !size.is_constant();
    if (!size.is(1)) outermost = false;
    if (!implied && !stays_within(axes[k], size, loops)) return std::nullopt;
  }
  return axes;
}

IndexMap map_of(const AxisIndex& flat, const Shape& shape, const Loops& loops) {
  if (auto axes = decompose(flat, shape, loops)) return {shape, std::move(*axes)};
  return {Shape{shape.element_count()}, {flat}};
}

namespace {

// Splits a loop that walks over the boundary between two axes of `shape` so that each part stays
// on one side. False if there is none.
bool split_at_boundary(const AxisIndex& flat, const Shape& shape, Loops& loops) {
  const std::vector<Dim> strides = row_major_strides(shape);
  for (const auto& [loop, step] : flat.terms) {
    for (size_t k = 0; k + 1 < strides.size(); ++k) {
      for (const Dim& distance : {step, Dim(0) - step}) {
        const auto inner = exact_quotient(strides[k], distance);
        if (!inner || inner->is(1) || !assumed_nonnegative(*inner)) continue;
        const auto outer = exact_quotient(loops.size(loop), *inner);
        if (!outer || outer->is(1) || outer->is(0)) continue;
        loops.split(loop, *inner);
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::optional<IndexMap> see_as(const IndexMap& map, const Shape& shape, Loops& loops) {
  if (map.shape == shape) return expand(map, loops);
  AxisIndex flat = loops.expand(flatten(map));
  Loops candidate = loops;
  while (true) {
    if (auto axes = decompose(flat, shape, candidate)) {
      loops = std::move(candidate);
      return IndexMap{shape, std::move(*axes)};
    }
    if (!split_at_boundary(flat, shape, candidate)) return std::nullopt;
    flat = candidate.expand(flat);
  }
}

IndexMap compose(const IndexMap& map, const Window& window, const Shape& operand,
                 const Loops& loops) {
  AxisIndex flat{window.offset, {}};
  for (size_t k = 0; k < map.axes.size(); ++k) {
    flat = add(flat, scale(map.axes[k], window.strides[k]));
  }
  return map_of(flat, operand, loops);
}

IndexMap append_loops(const Shape& shape, Loops& loops) {
  IndexMap map{shape, {}};
  for (const Dim& size : shape) {
    AxisIndex axis;
    if (!size.is(1)) axis.terms.push_back({loops.append(size), 1});
    map.axes.push_back(std::move(axis));
  }
  return map;
}

std::optional<std::vector<int>> covering_loops(const IndexMap& map, const Loops& loops) {
  const AxisIndex flat = flatten(map);
  if (!flat.offset.is(0)) return std::nullopt;
  std::vector<int> found;
  std::vector<AxisIndex::Term> terms = flat.terms;
  Dim stride = 1;  // of the next loop outwards
  while (!terms.empty()) {
    const auto next = std::ranges::find(terms, stride, &AxisIndex::Term::step);
    if (next == terms.end()) return std::nullopt;
    found.push_back(next->loop);
    stride = stride * loops.size(next->loop);
    terms.erase(next);
  }
  if (stride != map.shape.element_count()) return std::nullopt;
  std::ranges::reverse(found);
  return found;
}

}  // namespace lanewise::ir
