// Long cold code as a function of its own: there is one copy for all places that enter it, and its
// vectors are one register wide, so that it is short however long the vectors around it are.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "jit/detail/section.h"
#include "jit/detail/vector_builder.h"

namespace lanewise::jit {

// Where the lanes of a node's values are in memory.
using Places = std::unordered_map<uint32_t, llvm::Value*>;

// What cold code reads and writes beside its result.
struct ColdInterface {
  int64_t nodes = 0;             // computed, nested cold code included
  int widest = 1;                // bytes of the widest element among them
  std::vector<uint32_t> inputs;  // nodes from outside
  std::vector<uint32_t> shared;  // of Section::shared
};

// Nothing if the cold code of `rare` stays where it is entered: it is short, no wider than a
// register as it is, or in need of more than its operands.
std::optional<ColdInterface> separable(const VectorBuilder& b, const ir::Graph& body,
                                       const Section& section, uint32_t rare);

// A function (pointers to the lanes of inputs, of shared nodes, and of the result) for vectors of
// `lanes`. `emit` gives the result for those of its builder's lanes at the places it gets, for
// inputs and shared nodes.
using EmitCold = std::function<llvm::Value*(VectorBuilder& b, const Places& places)>;
llvm::Function* make_cold_function(VectorBuilder& caller, const ir::Graph& body,
                                   const ColdInterface& interface, DType result,
                                   const EmitCold& emit);

// Vectors in memory: bool takes a byte there.
llvm::Value* load_lanes(VectorBuilder& b, DType dtype, llvm::Value* place);
void store_lanes(VectorBuilder& b, llvm::Value* value, llvm::Value* place);
llvm::Value* stack_lanes(VectorBuilder& b, DType dtype);

}  // namespace lanewise::jit
