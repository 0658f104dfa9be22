#include "frontend/evaluate.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "frontend/lower.h"
#include "frontend/lru.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

// An evaluation under way. Others that need one of its nodes wait for it instead of computing
// the node again, or reading an operand that is being updated in place.
struct Flight {
  std::mutex mutex;
  std::condition_variable landed;
  bool done = false;

  void wait() {
    std::unique_lock lock(mutex);
    landed.wait(lock, [this] { return done; });
  }
  void land() {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    landed.notify_all();
  }
};

namespace {

Host& mutable_host() {
  static Host& host = *new Host{[](const std::function<void()>& work) { work(); }, [] {},
                                [](Source) { return std::string(); }};
  return host;
}

struct KeyHash {
  size_t operator()(const std::vector<uint64_t>& words) const {
    uint64_t hash = words.size();
    for (const uint64_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 27);
    return hash;
  }
};

// Executables of lazily recorded graphs.
auto& executable_cache() {
  static auto& cache =
      *new LruCache<std::vector<uint64_t>, std::shared_ptr<const Executable>, KeyHash>(1024);
  return cache;
}

std::shared_ptr<const Executable> executable_for(const Recorded& recorded) {
  std::vector<uint64_t> key = recorded.key();
  if (auto* found = executable_cache().find(key)) return *found;
  const ir::Graph graph = recorded.graph();
  std::vector<ArrayLayout> inputs;
  for (const LeafUse& use : recorded.leaves()) inputs.push_back(use.layout());
  std::shared_ptr<const Executable> executable;
  host().unlocked([&] { executable = Executable::build(graph, inputs, {}); });
  executable_cache().insert(std::move(key), executable);
  return executable;
}

// Creating values again is cheaper than storing them.
bool is_worth_keeping(const Node& node) { return !node.operands().empty(); }

// True if no node but outputs survives: then leaves that only this graph uses die with it.
bool is_closed(const Recorded& recorded) {
  std::unordered_map<const Node*, uint32_t> uses;
  for (const Node* node : recorded.nodes()) {
    for (const NodeRef& operand : node->operands()) ++uses[operand.get()];
  }
  const auto outputs = recorded.outputs();
  return std::ranges::all_of(recorded.nodes(), [&](const Node* node) {
    return std::ranges::find(outputs, node) != outputs.end() ||
           node->reference_count() == uses[node] + 1;  // held by the flight
  });
}

// Whether output k may be computed in the memory of the input it starts with.
bool may_take_over(const Recorded& recorded, const Executable::OutputSpec& output) {
  if (output.starts_as < 0) return false;
  const LeafUse& use = recorded.leaves()[static_cast<size_t>(output.starts_as)];
  if (use.window || use.leaf->data().buffer->reference_count() != 1) return false;
  uint32_t uses = 0;
  for (const Node* node : recorded.nodes()) {
    for (const NodeRef& operand : node->operands()) uses += operand.get() == use.leaf;
  }
  for (const LeafUse& other : recorded.leaves()) {
    if (&other != &use && other.leaf == use.leaf) return false;  // read elsewhere, or in part
  }
  return use.leaf->reference_count() == uses && is_closed(recorded);
}

// Memory of the outputs; those that take over an input's are that input's buffer.
std::vector<LeafData> output_memory(const Recorded& recorded, const Executable& executable) {
  std::vector<LeafData> memory;
  for (const Executable::OutputSpec& output : executable.outputs()) {
    if (may_take_over(recorded, output)) {
      memory.push_back(
          recorded.leaves()[static_cast<size_t>(output.starts_as)].leaf->data());
    } else {
      memory.push_back({runtime::allocate(static_cast<size_t>(output.bytes)), 0});
    }
  }
  return memory;
}

void compute(const Recorded& recorded) {
  const std::shared_ptr<const Executable> executable = executable_for(recorded);
  std::vector<LeafData> memory = output_memory(recorded, *executable);
  std::vector<intptr_t> inputs, outputs;
  std::vector<uint64_t> scalars;
  for (const LeafUse& use : recorded.leaves()) {
    inputs.push_back(reinterpret_cast<intptr_t>(use.data()));
  }
  for (const Scalar& scalar : recorded.scalars()) scalars.push_back(scalar.bits);
  for (const LeafData& data : memory) outputs.push_back(reinterpret_cast<intptr_t>(data.data()));
  const auto run = [&] { executable->run(inputs.data(), scalars.data(), outputs.data()); };
  if (executable->is_small()) {
    run();
  } else {
    host().unlocked(run);
  }
  for (size_t i = 0; i < memory.size(); ++i) {
    recorded.outputs()[i]->become_leaf(std::move(memory[i]));
  }
}

// A flight over all nodes of a recorded graph, ended when this goes out of scope. Holds the nodes,
// since their last user may go while the lock is released.
class FlightScope {
 public:
  explicit FlightScope(const Recorded& recorded) : flight_(std::make_shared<Flight>()) {
    held_.reserve(recorded.nodes().size());
    for (Node* node : recorded.nodes()) {
      node->flight = flight_;
      held_.emplace_back(node);
    }
  }
  ~FlightScope() {
    for (const NodeRef& node : held_) node->flight = nullptr;
    flight_->land();
  }

 private:
  std::shared_ptr<Flight> flight_;
  std::vector<NodeRef> held_;
};

// The flight that is computing some node below, if there is one.
std::shared_ptr<Flight> flight_of(const Recorded& recorded) {
  for (const Node* node : recorded.nodes()) {
    if (node->flight) return node->flight;
  }
  return nullptr;
}

}  // namespace

void evaluate_nodes(std::span<const NodeRef> wanted) {
  while (true) {
    std::vector<Node*> roots;
    for (const NodeRef& node : wanted) {
      if (node->is_traced()) throw UnsupportedError("evaluate: a traced array has no value yet");
      if (!node->is_leaf() && std::ranges::find(roots, node.get()) == roots.end()) {
        roots.push_back(node.get());
      }
    }
    if (roots.empty()) return;
    Recorded recorded(roots);
    if (const auto flight = flight_of(recorded)) {
      host().unlocked([&] { flight->wait(); });
      continue;
    }
    for (Node* root : roots) recorded.add_output(root);
    for (Node* node : recorded.nodes()) {
      if (node->storage_count > 0 && is_worth_keeping(*node) &&
          std::ranges::find(roots, node) == roots.end()) {
        recorded.add_output(node);
      }
    }
    const FlightScope flight(recorded);
    compute(recorded);
    return;
  }
}

void evaluate(std::span<const Array> arrays) {
  std::vector<NodeRef> nodes;
  for (const Array& array : arrays) nodes.push_back(array.storage()->node());
  evaluate_nodes(nodes);
}

StridedData strided_data(const Array& array) {
  evaluate({&array, 1});
  const LeafData& data = array.storage()->node()->data();
  const int64_t size = size_of(array.dtype());
  StridedData result{data.buffer, data.data() + array.window().offset.value() * size, {}};
  for (const Dim& stride : array.window().strides) {
    result.strides.push_back(stride.value() * size);
  }
  return result;
}

void evaluate_into_leaf(const NodeRef& value, const Node& leaf) {
  evaluate_nodes({&value, 1});
  const int64_t bytes = leaf.shape().element_count().value() * size_of(leaf.dtype());
  std::memmove(leaf.data().data(), value->data().data(), static_cast<size_t>(bytes));
}

void set_host(Host host) { mutable_host() = std::move(host); }
const Host& host() { return mutable_host(); }

ir::Graph graph_of(std::span<const Array> arrays) {
  std::vector<NodeRef> kept;
  std::vector<Node*> roots;
  for (const Array& array : arrays) {
    kept.push_back(array.node());
    roots.push_back(kept.back().get());
  }
  Recorded recorded(roots);
  for (Node* root : roots) recorded.add_output(root);
  return recorded.graph();
}

}  // namespace lanewise::frontend
