#include "jit/detail/section.h"

#include <algorithm>
#include <map>

namespace lanewise::jit {

namespace {

constexpr int kUnused = -1;
constexpr int kAlways = 0;
constexpr uint32_t kNoNode = UINT32_MAX;

// A region is code that runs under the same conditions: region 0 always, any other where some
// lane of its mask is set, inside its parent. All Rare nodes of one region and one mask share one.
class Regions {
 public:
  Regions(const ir::Graph& body, std::span<const uint32_t> nodes, const std::vector<bool>& kept)
      : body_(body),
        nodes_(nodes),
        region_(body.size(), kUnused),
        owner_(body.size(), kNoNode),
        inside_(body.size(), false) {
    for (const uint32_t node : nodes) {
      inside_[node] = true;
      if (kept[node] || is_anchored(node)) region_[node] = kAlways;
    }
    find_regions();
    find_owners();
  }

  Section section() const {
    Section section;
    for (const uint32_t node : nodes_) {
      if (region_[node] == kAlways) section.nodes.push_back(node);
      if (region_[node] > kAlways) section.cold[owner_[node]].push_back(node);
      if (is_rare(node) && needs_cold_code(node)) section.cold[node];
    }
    find_shared(section);
    return section;
  }

 private:
  struct Region {
    int parent = -1;
    int depth = 0;
  };

  bool is_rare(uint32_t node) const { return body_[ir::Value{node}].op == ir::Op::kRare; }
  // Loads stay out of cold code: their place decides what memory is touched. Scans need every
  // element.
  bool is_anchored(uint32_t node) const {
    const ir::Op op = body_[ir::Value{node}].op;
    return op == ir::Op::kLoad || ir::is_scan(op);
  }

  int region_of_rare_operand(uint32_t rare) {
    const uint32_t mask = body_[ir::Value{rare}].operands[0].index;
    const auto [found, is_new] = by_mask_.try_emplace({region_[rare], mask}, regions_.size());
    if (is_new) regions_.push_back({region_[rare], regions_[region_[rare]].depth + 1});
    return found->second;
  }

  int common_region(int a, int b) const {
    while (a != b) {
      int& deeper = regions_[a].depth >= regions_[b].depth ? a : b;
      deeper = regions_[deeper].parent;
    }
    return a;
  }

  bool needs_cold_code(uint32_t rare) const {
    const uint32_t operand = body_[ir::Value{rare}].operands[2].index;
    return region_[rare] != kUnused && inside_[operand] && region_[operand] != region_[rare];
  }

  // Calls visit(operand, is_rare_operand) for the operands of `node` in the section.
  template <class F>
  void for_operands(uint32_t node, F visit) const {
    const auto operands = body_[ir::Value{node}].inputs();
    for (size_t i = 0; i < operands.size(); ++i) {
      if (inside_[operands[i].index]) visit(operands[i].index, is_rare(node) && i == 2);
    }
  }

  // Users come before their operands here, so a node's region is final when it is reached.
  void find_regions() {
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (region_[*node] == kUnused) continue;
      for_operands(*node, [&](uint32_t operand, bool is_rare_operand) {
        const int use = is_rare_operand ? region_of_rare_operand(*node) : region_[*node];
        int& region = region_[operand];
        region = region == kUnused ? use : common_region(region, use);
      });
    }
  }

  // The Rare node through whose cold code, directly in `region`, `user` needs an operand.
  uint32_t entered_through(uint32_t user, bool is_rare_operand, int region) const {
    if (is_rare_operand && mask_region(user) == region) return user;
    while (region_[user] != region) user = owner_[user];
    return owner_[user];
  }

  int mask_region(uint32_t rare) const {
    const uint32_t mask = body_[ir::Value{rare}].operands[0].index;
    return by_mask_.at({region_[rare], mask});
  }

  // Of several, the first: its cold code runs before those of the others.
  void find_owners() {
    for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
      if (region_[*node] == kUnused) continue;
      for_operands(*node, [&](uint32_t operand, bool is_rare_operand) {
        if (region_[operand] <= kAlways) return;
        const uint32_t rare = entered_through(*node, is_rare_operand, region_[operand]);
        owner_[operand] = std::min(owner_[operand], rare);
      });
    }
  }

  void find_shared(Section& section) const {
    std::vector<bool> is_shared(body_.size(), false);
    for (const uint32_t node : nodes_) {
      if (region_[node] == kUnused) continue;
      for_operands(node, [&](uint32_t operand, bool is_rare_operand) {
        if (region_[operand] <= kAlways || is_shared[operand]) return;
        if (!is_within(node, is_rare_operand, owner_[operand])) {
          is_shared[operand] = true;
          section.shared.push_back(operand);
        }
      });
    }
  }

  // Whether `user` uses its operand inside the cold code of `rare`.
  bool is_within(uint32_t user, bool is_rare_operand, uint32_t rare) const {
    if (is_rare_operand && user == rare) return true;
    for (uint32_t at = user; region_[at] > kAlways; at = owner_[at]) {
      if (owner_[at] == rare) return true;
    }
    return false;
  }

  const ir::Graph& body_;
  std::span<const uint32_t> nodes_;
  std::vector<Region> regions_{Region{}};
  std::map<std::pair<int, uint32_t>, int> by_mask_;  // (parent region, mask) -> region
  std::vector<int> region_;                          // by node
  std::vector<uint32_t> owner_;                      // by node: the Rare node with its cold code
  std::vector<bool> inside_;
};

}  // namespace

Section make_section(const ir::Graph& body, std::span<const uint32_t> nodes,
                     const std::vector<bool>& kept) {
  return Regions(body, nodes, kept).section();
}

}  // namespace lanewise::jit
