#include "frontend/evaluate.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "frontend/lower.h"
#include "frontend/lru.h"
#include "frontend/strides.h"
#include "runtime/threads.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::frontend {

// An evaluation under way. Others that need one of its nodes wait for it instead of computing
// the node again, or reading an operand that is being updated in place.
struct Flight {
  std::mutex mutex;
  std::condition_variable landed;
  bool done = false;
  int process = forks().load(std::memory_order_relaxed);

  // How many forks lie between the first process and this one.
  static std::atomic<int>& forks() {
    static std::atomic<int> count = [] {
      pthread_atfork(nullptr, nullptr, [] { forks().fetch_add(1, std::memory_order_relaxed); });
      return 0;
    }();
    return count;
  }
  // A forked child has no thread that would land the flights of its parent.
  bool is_lost() const { return process != forks().load(std::memory_order_relaxed); }

  // Open to interrupts.
  void wait() {
    constexpr auto kBetweenChecks = std::chrono::milliseconds(50);
    std::unique_lock lock(mutex);
    while (!landed.wait_for(lock, kBetweenChecks, [this] { return done; })) {
      lock.unlock();
      runtime::check_interrupt();
      lock.lock();
    }
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
  static Host& host = *new Host{[](const std::function<void()>& work) { work(); },
                                [](Source) { return std::string(); }};
  return host;
}

// Executables of lazily recorded graphs.
auto& executable_cache() {
  static auto& cache =
      *new LruCache<std::vector<uint64_t>, std::shared_ptr<const Executable>, WordsHash>(1024);
  return cache;
}

std::shared_ptr<const Executable> executable_for(const Recorded& recorded) {
  std::vector<uint64_t> key = recorded.key();
  if (auto* found = executable_cache().find(key)) return *found;
  const ir::Graph graph = recorded.graph();
  const std::vector<ArrayLayout> inputs = recorded.layouts();
  std::shared_ptr<const Executable> executable;
  host().unlocked([&] { executable = Executable::build(graph, inputs, {}); });
  executable_cache().insert(std::move(key), executable);
  return executable;
}

// Creating values again is cheaper than storing them.
bool is_worth_keeping(const Node& node) { return !node.operands().empty(); }

// References to each node from within a recorded graph.
std::unordered_map<const Node*, uint32_t> count_uses(const Recorded& recorded) {
  std::unordered_map<const Node*, uint32_t> uses;
  for (const auto nodes : {recorded.nodes(), recorded.windows()}) {
    for (const Node* node : nodes) {
      for (const NodeRef& operand : node->operands()) ++uses[operand.get()];
    }
  }
  return uses;
}

// Whether output `spec` may be computed in the memory of the input it starts with: that is all
// of a leaf, which dies with this graph, and other reads of it are in step with the writes.
bool may_take_over(const Recorded& recorded, const Executable::OutputSpec& spec) {
  if (spec.starts_as < 0) return false;
  const auto leaves = recorded.leaves();
  const auto start = static_cast<size_t>(spec.starts_as);
  const Node* leaf = leaves[start].leaf;
  if (leaves[start].window || !leaf->data().buffer->is_unique()) return false;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (i == start || leaves[i].leaf != leaf) continue;
    const Executable::OutputSpec::Alias alias{static_cast<int>(i),
                                              leaves[i].data() - leaves[start].data()};
    if (std::ranges::find(spec.may_alias, alias) == spec.may_alias.end()) return false;
  }
  // Nobody outside may keep a node that would still need the old value.
  auto uses = count_uses(recorded);
  const auto outputs = recorded.outputs();
  const auto dies = [&](const Node* node, uint32_t held) {
    return std::ranges::find(outputs, node) != outputs.end() ||
           node->reference_count() == uses[node] + held;
  };
  constexpr uint32_t kHeldByFlight = 1;
  return dies(leaf, 0) &&
         std::ranges::all_of(recorded.nodes(),
                             [&](const Node* node) { return dies(node, kHeldByFlight); }) &&
         std::ranges::all_of(recorded.windows(), [&](const Node* node) { return dies(node, 0); });
}

// Memory of the outputs; those that take over an input's are that input's buffer.
std::vector<LeafData> output_memory(const Recorded& recorded, const Executable& executable) {
  std::vector<LeafData> memory;
  for (const Executable::OutputSpec& output : executable.outputs()) {
    if (may_take_over(recorded, output)) {
      memory.push_back(recorded.leaves()[static_cast<size_t>(output.starts_as)].leaf->data());
    } else {
      memory.push_back({runtime::Buffer::allocate(static_cast<size_t>(output.bytes)), 0});
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
      if (flight->is_lost()) {
        throw ValueError(
            "evaluate: another thread was computing this value when the process forked");
      }
      host().unlocked([&] { flight->wait(); });
      continue;
    }
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
  append_byte_strides(result.strides, array.window().strides, array.dtype());
  return result;
}

void evaluate_into_leaf(const NodeRef& value, const Node& leaf) {
  evaluate_nodes({&value, 1});
  const int64_t bytes = leaf.shape().element_count().value() * size_of(leaf.dtype());
  std::memmove(leaf.data().data(), value->data().data(), static_cast<size_t>(bytes));
}

void set_host(Host host) { mutable_host() = std::move(host); }
const Host& host() { return mutable_host(); }

}  // namespace lanewise::frontend
