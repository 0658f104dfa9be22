#include "jit/detail/disk_entry.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/BLAKE3.h>

#include <cstring>

namespace lanewise::jit {

namespace {

constexpr size_t kDigestBytes = 16;
using Digest = llvm::BLAKE3Result<kDigestBytes>;

struct Header {
  char magic[8] = {'l', 'a', 'n', 'e', 'w', 'i', 's', 'e'};
  uint32_t format = kDiskFormat;
  uint32_t symbol_bytes = 0;
  uint64_t key_bytes = 0;
  uint64_t object_bytes = 0;
  Digest digest = {};
};
static_assert(sizeof(Header) == 48);

// Of the header without its digest, and of what follows the header.
Digest digest_of(const Header& header, std::string_view rest) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(reinterpret_cast<const char*>(&header), offsetof(Header, digest)));
  hasher.update(llvm::StringRef(rest));
  return hasher.final<kDigestBytes>();
}

}  // namespace

std::string encode(const DiskEntry& entry) {
  Header header;
  header.symbol_bytes = static_cast<uint32_t>(entry.symbol.size());
  header.key_bytes = entry.key.size();
  header.object_bytes = entry.object.size();
  std::string bytes(sizeof header, '\0');
  bytes.append(entry.key).append(entry.symbol).append(entry.object);
  header.digest = digest_of(header, std::string_view(bytes).substr(sizeof header));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

std::string decode(std::string_view bytes, DiskEntry& entry) {
  Header header;
  if (bytes.size() < sizeof header) return "truncated";
  const Header expected;
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, expected.magic, sizeof header.magic) != 0) {
    return "not a file of the cache";
  }
  if (header.format != expected.format) return "of another format";
  std::string_view rest = bytes.substr(sizeof header);
  // Subtracted one by one: the sum of the sizes may wrap.
  const auto take = [&rest](uint64_t size, std::string_view& part) {
    if (size > rest.size()) return false;
    part = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  };
  if (!take(header.key_bytes, entry.key) || !take(header.symbol_bytes, entry.symbol) ||
      !take(header.object_bytes, entry.object) || !rest.empty()) {
    return "of another size than it says";
  }
  if (digest_of(header, bytes.substr(sizeof header)) != header.digest) return "damaged";
  return "";
}

std::string digest_text(std::string_view bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(llvm::StringRef(bytes));
  return llvm::toHex(hasher.final<kDigestBytes>(), /*LowerCase=*/true);
}

}  // namespace lanewise::jit
