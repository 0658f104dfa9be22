// Affine index maps: how the loops of a nest walk an array. Fusion composes windows with them, so
// that views cost nothing, and splits loops where a reshape asks for it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace lanewise::ir {

// The loops of a nest under construction. A loop can be split into two; index maps that name the
// whole loop stay valid and `expand` rewrites them. Loops are named by number, in the order of
// their making.
class Loops {
 public:
  // Innermost of all so far.
  int append(const Dim& size, bool reduced = false);
  // Makes `loop` an outer loop around an inner one of `inner` trips, which divides its size.
  void split(int loop, const Dim& inner);
  void set_reduced(int loop) { entries_[static_cast<size_t>(loop)].reduced = true; }

  const Dim& size(int loop) const { return entries_[static_cast<size_t>(loop)].size; }
  bool reduced(int loop) const { return entries_[static_cast<size_t>(loop)].reduced; }
  // The loops that are not split, outermost first; those of them that are (not) reduced.
  const std::vector<int>& order() const { return order_; }
  std::vector<int> reduced_loops() const { return select(true); }
  std::vector<int> kept_loops() const { return select(false); }
  bool any_split() const { return order_.size() != entries_.size(); }

  AxisIndex expand(const AxisIndex& index) const;

 private:
  struct Entry {
    Dim size;
    bool reduced = false;
    int outer = -1;  // the parts of a split loop
    int inner = -1;
  };
  std::vector<int> select(bool reduced) const;

  std::vector<Entry> entries_;
  std::vector<int> order_;
};

// Element [axes[0], axes[1], ...] of an array seen as a row-major array of shape `shape`.
struct IndexMap {
  Shape shape;
  std::vector<AxisIndex> axes;
  friend bool operator==(const IndexMap&, const IndexMap&) = default;
  size_t hash() const;
};

// Terms are kept sorted by loop, one a loop, none with step 0.
AxisIndex add(const AxisIndex& a, const AxisIndex& b);
AxisIndex scale(const AxisIndex& a, const Dim& factor);
bool names(const IndexMap& map, int loop);

// The number of the element in row-major order.
AxisIndex flatten(const IndexMap& map);
IndexMap expand(const IndexMap& map, const Loops& loops);

// The axes of `shape` for an index in row-major order, if each is affine: every digit of the
// index, in the mixed radix of the shape, must stay within its axis over all trips of the loops.
//
// For constant sizes this decides exactly. With symbols, a bound that holds for all large sizes,
// in whatever proportion, is taken to hold: the windows of a graph lie inside their operands, and
// those that slices make stay within each axis.
std::optional<std::vector<AxisIndex>> decompose(const AxisIndex& flat, const Shape& shape,
                                                const Loops& loops);

// The map for an index in row-major order of an array of `shape`: with the axes of the shape if
// they can be had, else on the array seen as one axis.
IndexMap map_of(const AxisIndex& flat, const Shape& shape, const Loops& loops);

// The same elements, with the axes of `shape`. Splits loops where that is what it takes.
std::optional<IndexMap> see_as(const IndexMap& map, const Shape& shape, Loops& loops);

// The operand's element for each element of the window's result; `map` is on the result's shape.
IndexMap compose(const IndexMap& map, const Window& window, const Shape& operand,
                 const Loops& loops);

// Walks `shape` by new loops, one for each axis whose size is not 1.
IndexMap append_loops(const Shape& shape, Loops& loops);

// If some loops together visit each element of the array once and no other loop matters: these
// loops, in row-major order of the elements.
std::optional<std::vector<int>> covering_loops(const IndexMap& map, const Loops& loops);

}  // namespace lanewise::ir
