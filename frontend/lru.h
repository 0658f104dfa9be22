// A map that forgets what was not used for longest.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

namespace lanewise::frontend {

// Of keys that are lists of words.
struct WordsHash {
  size_t operator()(const std::vector<uint64_t>& words) const {
    uint64_t hash = words.size();
    for (const uint64_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15 + (hash >> 27);
    return hash;
  }
};

// Not thread-safe. Pointers from `find` are valid until the next `insert`.
template <class Key, class Value, class Hash>
class LruCache {
 public:
  explicit LruCache(size_t limit) : limit_(limit) {}

  Value* find(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }

  void insert(Key key, Value value) {
    if (Value* present = find(key)) {
      *present = std::move(value);
      return;
    }
    entries_.emplace_front(key, std::move(value));
    index_.emplace(std::move(key), entries_.begin());
    if (entries_.size() > limit_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
  }

  void clear() {
    index_.clear();
    entries_.clear();
  }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  size_t limit_;
  Entries entries_;
  std::unordered_map<Key, typename Entries::iterator, Hash> index_;
};

}  // namespace lanewise::frontend
