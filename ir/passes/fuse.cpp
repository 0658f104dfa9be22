#include "ir/passes/fuse.h"

#include <algorithm>
#include <set>

#include "ir/passes/fusion/build.h"
#include "ir/passes/fusion/cut.h"
#include "ir/passes/fusion/plan.h"

namespace lanewise::ir {

namespace {

using fusion::Group;
using fusion::Places;
using fusion::Plan;

Buffer input_buffer(const Graph& graph, size_t i) {
  const Parameter& input = graph.inputs[i];
  return {.kind = Buffer::Kind::kInput,
          .index = static_cast<int>(i),
          .dtype = input.dtype,
          .shape = input.shape,
          .contiguous = input.contiguous};
}

// A buffer for node `i`, which some group stores.
Buffer stored_buffer(const Graph& graph, size_t i, const Places& places,
                     const FuseOptions& options) {
  const Node& node = graph[graph.value(i)];
  Buffer buffer{.dtype = node.dtype, .shape = node.shape};
  if (node.op == Op::kUpdate) buffer.starts_as = places.buffer[node.operands[0].index];
  const auto output = std::ranges::find(graph.outputs, graph.value(i));
  if (output == graph.outputs.end() || node.op == Op::kInput) return buffer;
  const auto number = static_cast<size_t>(output - graph.outputs.begin());
  buffer.kind = Buffer::Kind::kOutput;
  buffer.index = static_cast<int>(number);
  buffer.contiguous = number >= options.strided_outputs.size() || !options.strided_outputs[number];
  return buffer;
}

// The arguments, then what is stored, in the order of the graph.
Places place(const Plan& plan, const FuseOptions& options, Program& program) {
  const Graph& graph = plan.graph;
  Places places;
  places.buffer.assign(graph.size(), -1);
  places.copy.assign(graph.inputs.size(), -1);
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    program.buffers.push_back(input_buffer(graph, i));
  }
  for (size_t i = 0; i < graph.size(); ++i) {
    const Node& node = graph[graph.value(i)];
    const bool is_input = node.op == Op::kInput;
    if (is_input) places.buffer[i] = node.get<Slot>().index;
    if (plan.home[i] < 0) continue;
    int& place =
        is_input ? places.copy[static_cast<size_t>(node.get<Slot>().index)] : places.buffer[i];
    place = static_cast<int>(program.buffers.size());
    program.buffers.push_back(stored_buffer(graph, i, places, options));
  }
  for (const Value output : graph.outputs) program.outputs.push_back(places.buffer[output.index]);
  return places;
}

// Groups after those they need, those that decide checks first, otherwise in the order of the
// graph: a group stands where its first result does.
std::vector<int> order_of(const std::vector<Group>& groups) {
  std::vector<int> missing(groups.size());
  std::vector<std::vector<int>> users(groups.size());
  std::vector<std::pair<int, uint32_t>> priority;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group& group = groups[i];
    const auto first = std::ranges::min_element(group.roots, {}, &fusion::Root::node);
    priority.emplace_back(group.early ? 0 : 1, first->node);
    std::vector<int> needs = group.needs;
    std::ranges::sort(needs);
    needs.erase(std::unique(needs.begin(), needs.end()), needs.end());
    missing[i] = static_cast<int>(needs.size());
    for (const int needed : needs)
      users[static_cast<size_t>(needed)].push_back(static_cast<int>(i));
  }
  std::set<std::pair<std::pair<int, uint32_t>, int>> ready;
  for (size_t i = 0; i < groups.size(); ++i) {
    if (missing[i] == 0) ready.emplace(priority[i], i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const int next = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(next);
    for (const int user : users[static_cast<size_t>(next)]) {
      const auto index = static_cast<size_t>(user);
      if (--missing[index] == 0) ready.emplace(priority[index], user);
    }
  }
  return order;
}

bool is_empty(const Shape& domain) {
  return std::ranges::any_of(domain, [](const Dim& size) { return size.is(0); });
}

}  // namespace

Program fuse(const Graph& graph, const FuseOptions& options) {
  Plan plan = fusion::plan(fusion::prepare(graph, options), options.limits);
  Program program;
  program.name = graph.name;
  program.inputs = graph.inputs;
  program.scalars = graph.scalars;
  const Places places = place(plan, options, program);
  int kernels = 0;
  for (const int group : order_of(plan.groups)) {
    fusion::Draft draft = fusion::build(plan, group, places);
    if (is_empty(draft.domain)) continue;
    program.steps.push_back(fusion::cut(std::move(draft), program, options.limits, kernels));
    if (plan.groups[static_cast<size_t>(group)].early) ++program.check_steps;
  }
  for (size_t i = 0; i < graph.checks.size(); ++i) {
    if (!plan.failures[i].valid()) continue;
    const Check& check = graph.checks[i];
    program.checks.push_back({places.buffer[plan.failures[i].index], graph[check.predicate].shape,
                              check.message, check.source});
  }
  return program;
}

}  // namespace lanewise::ir
