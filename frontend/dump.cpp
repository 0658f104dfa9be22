#include "frontend/dump.h"

#include "frontend/evaluate.h"
#include "frontend/lower.h"
#include "ir/text.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

namespace {

std::string text_of(const Executable& executable, Stage stage) {
  switch (stage) {
    case Stage::kLlvm:
      return executable.llvm_ir();
    case Stage::kAssembly:
      return executable.assembly();
    default:
      return ir::print(executable.program());
  }
}

}  // namespace

Stage stage_from_name(std::string_view name) {
  if (name == "graph") return Stage::kGraph;
  if (name == "optimized") return Stage::kOptimized;
  if (name == "llvm") return Stage::kLlvm;
  if (name == "asm") return Stage::kAssembly;
  throw ValueError(
      format("dump: unknown stage '{}': there are graph, optimized, llvm and asm", name));
}

std::string dump(std::span<const Array> arrays, Stage stage) {
  std::vector<NodeRef> kept;
  std::vector<Node*> roots;
  for (const Array& array : arrays) {
    kept.push_back(array.node());
    roots.push_back(kept.back().get());
  }
  const Recorded recorded(roots);
  const ir::Graph graph = recorded.graph();
  if (stage == Stage::kGraph) return ir::print(graph);
  return text_of(*Executable::build(graph, recorded.layouts(), {}), stage);
}

std::string dump(const Trace& trace, Stage stage) {
  if (stage == Stage::kGraph) return ir::print(trace.graph());
  return text_of(*trace.executable(), stage);
}

}  // namespace lanewise::frontend
