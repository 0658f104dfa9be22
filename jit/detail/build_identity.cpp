#include "jit/detail/build_identity.h"

#include <elf.h>
#include <link.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/TargetSelect.h>

#include <cstring>

namespace lanewise::jit {

namespace {

struct Search {
  uintptr_t address;  // of something in the library
  std::string id;
};

// The build id among the notes from `at` on.
std::string find_build_id(const char* at, const char* end) {
  const auto padded = [](size_t size) { return (size + 3) & ~size_t{3}; };
  while (static_cast<size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, at, sizeof note);
    const char* const name = at + sizeof note;
    const char* const content = name + padded(note.n_namesz);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      return llvm::toHex(llvm::StringRef(content, note.n_descsz), /*LowerCase=*/true);
    }
    at = content + padded(note.n_descsz);
  }
  return "";
}

int visit(dl_phdr_info* library, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  bool found = false;
  std::string id;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) & header = library->dlpi_phdr[i];
    const uintptr_t start = library->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      found = found || search.address - start < header.p_memsz;
    } else if (header.p_type == PT_NOTE && id.empty()) {
      const auto* const notes = reinterpret_cast<const char*>(start);
      id = find_build_id(notes, notes + header.p_memsz);
    }
  }
  if (found) search.id = std::move(id);
  return found ? 1 : 0;
}

std::string build_id_at(const void* address) {
  Search search{reinterpret_cast<uintptr_t>(address), {}};
  dl_iterate_phdr(visit, &search);
  return search.id;
}

}  // namespace

const std::string& build_identity() {
  static const std::string identity = [] {
    const std::string ours = build_id_at(reinterpret_cast<const void*>(&build_identity));
    const std::string llvm = build_id_at(reinterpret_cast<const void*>(&LLVMInitializeX86Target));
    if (ours.empty() || llvm.empty()) return std::string();
    return ours == llvm ? ours : ours + "-" + llvm;
  }();
  return identity;
}

}  // namespace lanewise::jit
