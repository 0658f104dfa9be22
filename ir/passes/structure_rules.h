// The rules of simplify_algebra for conversions, windows, updates and reductions: what patterns of
// ops alone cannot say.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ir/builder.h"

namespace lanewise::ir::structure {

// `node` has operands in the graph of `builder`. What stands for it, or nothing where the rule does
// not apply.
struct Rule {
  std::string_view name;
  std::optional<Value> (*apply)(Builder& builder, const Node& node);
};

// In the order in which they are tried.
std::span<const Rule> rules();

// One window that is `outer` on the result of `inner`, where that is a window for all sizes.
std::optional<Window> compose(const Window& inner, const Shape& inner_shape, const Window& outer,
                              const Shape& outer_shape);

// Whether converting `from` to `through` and then to `to` is the same as converting at once.
bool cast_is_redundant(DType from, DType through, DType to);

}  // namespace lanewise::ir::structure
