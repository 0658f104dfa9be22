// Memory of a program's temporaries: which buffers are one and the same memory, and where in the
// workspace each lies while it lives.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/kernel.h"

namespace lanewise::frontend {

class Workspace {
 public:
  // `in_scratch` buffers are placed by others.
  Workspace(const ir::Program& program, const std::vector<bool>& in_scratch);

  int64_t bytes() const { return bytes_; }
  // The buffer whose memory this one uses: itself, or one that starts as it and updates it in
  // place.
  int memory_of(int buffer) const { return owner_[static_cast<size_t>(buffer)]; }
  // Of a temporary that owns its memory: bytes from the start of the workspace.
  int64_t offset(int buffer) const { return offset_[static_cast<size_t>(buffer)]; }
  // The input that `buffer`, or what it is an update in place of, starts with and may overwrite
  // if its owner agrees; -1 if there is none.
  int updated_input(int buffer) const;

 private:
  void share_updates();
  void place(const std::vector<bool>& in_scratch);

  const ir::Program& program_;
  std::vector<bool> in_place_;  // whether a buffer may take over what it starts as
  std::vector<int> owner_;
  std::vector<int64_t> offset_;
  int64_t bytes_ = 0;
};

}  // namespace lanewise::frontend
