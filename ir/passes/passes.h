// The passes over graphs, each in the file of its name. Each returns true if it changed the graph,
// walks the nodes without recursion, and takes time linear in their number. None but `relax`
// changes the bits of a result, except the payload and sign of a NaN.
#pragma once

#include <functional>
#include <span>

#include "ir/builder.h"
#include "ir/graph.h"

namespace lanewise::ir {

// One order for what can be written in several: Input nodes first, one a parameter; operands of
// commutative ops and comparisons by number, scalars after them, constants last; no window or
// cast that changes nothing.
bool canonicalize(Graph& graph);
// Replaces elementwise ops on constants, windows on constants and the like by constants.
bool fold_constants(Graph& graph);
// Applies the rules of algebra_rules.cpp and structure_rules.cpp.
bool simplify_algebra(Graph& graph);
// Replaces what has a cheaper form with other roundings, for functions that allow it.
bool relax(Graph& graph);
// Replaces composite ops by their expansions (ir/math/).
bool expand(Graph& graph);
// Makes equal nodes one.
bool common_subexpressions(Graph& graph);
// Removes what no output or check needs. Input nodes stay.
bool dead_code(Graph& graph);

// What a pass does to one node: the value that stands for it in the new graph, given its operands
// there.
using RewriteNode =
    std::function<Value(Builder& builder, const Node& node, std::span<const Value> operands)>;

// Rebuilds the graph node by node in order, outputs and checks mapped along. `begin` may append
// nodes before all others. New nodes inherit the source of the node they stand for. Returns true if
// the result differs.
bool rewrite(Graph& graph, const RewriteNode& rewrite_node,
             const std::function<void(Builder& builder)>& begin = {});

}  // namespace lanewise::ir
