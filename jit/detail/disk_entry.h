// What one file of the disk cache holds: its key, the name of the function, the object file.
//
//   bytes  0 ..  7   "lanewise"
//          8 .. 15   number of this format, bytes of the name          (32 bits each)
//         16 .. 31   bytes of the key, bytes of the object             (64 bits each)
//         32 .. 47   BLAKE3 of all bytes but these
//         48 ..      key, name, object, and nothing more
#pragma once

#include <string>
#include <string_view>

namespace lanewise::jit {

inline constexpr int kDiskFormat = 1;

struct DiskEntry {
  std::string_view key;
  std::string_view symbol;
  std::string_view object;
};

std::string encode(const DiskEntry& entry);
// "" if `bytes` are such a file, undamaged; `entry` then points into them. Else what is wrong.
std::string decode(std::string_view bytes, DiskEntry& entry);

// 32 hexadecimal digits.
std::string digest_text(std::string_view bytes);

}  // namespace lanewise::jit
