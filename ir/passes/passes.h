// The passes over graphs. Each returns true if it changed the graph.
#pragma once

#include <functional>
#include <span>

#include "ir/builder.h"
#include "ir/graph.h"

namespace lanewise::ir {

bool expand(Graph& graph);

// What a pass does to one node: the value that stands for it in the new graph, given its operands
// there.
using RewriteNode =
    std::function<Value(Builder& builder, const Node& node, std::span<const Value> operands)>;

// Rebuilds the graph node by node in order, outputs and checks mapped along. New nodes inherit
// the source of the node they stand for. Returns true if the result differs.
bool rewrite(Graph& graph, const RewriteNode& rewrite_node);

}  // namespace lanewise::ir
