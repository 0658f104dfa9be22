// The values of a kernel's body while its code is emitted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "ir/graph.h"
#include "jit/detail/cold_function.h"
#include "jit/detail/section.h"
#include "jit/detail/vector_builder.h"

namespace lanewise::jit {

class Body {
 public:
  Body(VectorBuilder& builder, const ir::Graph& graph)
      : b_(builder), graph_(graph), scalars_(graph.size()), vectors_(graph.size()) {}

  // Appends the section's code, for as many lanes as the builder has. `leaf` gives loads, indices
  // and scalar arguments.
  using Leaf = std::function<llvm::Value*(const ir::Node& node)>;
  void emit(const Section& section, const Leaf& leaf);

  // A value in as many lanes as the builder has.
  llvm::Value* value(ir::Value value);
  void set(ir::Value value, llvm::Value* emitted) { values()[value.index] = emitted; }

  // Makes vectors of `lanes` of a scalar, for code that this place dominates.
  void broadcast(uint32_t node, int lanes);

 private:
  std::vector<llvm::Value*>& values() { return b_.lanes == 1 ? scalars_ : vectors_; }
  void emit_node(const Section& section, uint32_t number, const Leaf& leaf);
  llvm::Value* emit_value(const Section& section, uint32_t number, const Leaf& leaf);
  // The third operand of a Rare node, by the code that stands apart for it.
  llvm::Value* emit_cold(const Section& section, uint32_t rare, const Leaf& leaf);
  llvm::Value* call_cold(const Section& section, uint32_t rare);

  struct ColdFunction {
    llvm::Function* function = nullptr;
    ColdInterface interface;
  };
  // Null if the code is emitted where it is entered.
  const ColdFunction* cold_function(const Section& section, uint32_t rare);

  VectorBuilder& b_;
  const ir::Graph& graph_;
  std::vector<llvm::Value*> scalars_;
  std::vector<llvm::Value*> vectors_;
  Places shared_;  // where shared nodes are kept
  // By Rare node of a section, and lanes.
  std::map<std::tuple<const Section*, uint32_t, int>, std::optional<ColdFunction>> cold_functions_;
};

}  // namespace lanewise::jit
