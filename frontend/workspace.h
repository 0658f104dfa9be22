// Memory of a program's temporaries: which buffers are one and the same memory, and where in the
// workspace each lies while it lives.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/kernel.h"

namespace lanewise::frontend {

class Workspace {
 public:
  // `is_blocked` tells which steps run block by block; the block buffers of others are ordinary
  // temporaries.
  Workspace(const ir::Program& program, const std::function<bool(const ir::Step&)>& is_blocked);

  int64_t bytes() const { return bytes_; }
  // The buffer whose memory this one uses: itself, or one that starts as it and overwrites it.
  int memory_of(int buffer) const { return owner_[static_cast<size_t>(buffer)]; }
  // Of a temporary that owns its memory: bytes from the start of the workspace.
  int64_t offset(int buffer) const { return offset_[static_cast<size_t>(buffer)]; }
  // The buffer that a chain of updates in place begins with.
  int first_of(int buffer) const;

 private:
  void share_updates(const ir::Program& program);
  void place(const ir::Program& program, const std::function<bool(const ir::Step&)>& is_blocked);

  const ir::Program& program_;
  std::vector<int> owner_;
  std::vector<int64_t> offset_;
  int64_t bytes_ = 0;
};

}  // namespace lanewise::frontend
