// A folder of files that only this user can have written, shared by many processes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise::jit {

// Names are relative to the folder: "name" or "subfolder/name". Every call looks at the folder
// anew, so it may come, go and change hands at any time. Nothing is kept open between calls.
class PrivateFolder {
 public:
  // An absolute path. The last folder of it must belong to this user and not be writable by others;
  // what lies above need not. Our files have names that end in `extension`; others are let be.
  PrivateFolder(std::string path, std::string extension)
      : path_(std::move(path)), extension_(std::move(extension)) {}
  const std::string& path() const { return path_; }

  enum class Result : uint8_t {
    kOk,
    kAbsent,
    kUntrusted,  // somebody else could have written it
    kFailed,     // the system said no
  };
  struct Outcome {
    Result result = Result::kOk;
    std::string why = {};  // for kUntrusted and kFailed: "/path: cause"
  };

  // Whether the folder is there and to be trusted.
  Outcome check() const;
  // The whole file. `use`: if it was not used for an hour, it is marked as used now.
  Outcome read(const std::string& name, std::string& bytes, bool use = true) const;
  // Makes folders where they are missing. Readers see the old file, or all of the new one.
  Outcome write(const std::string& name, std::string_view bytes) const;
  void remove(const std::string& name) const;

  struct File {
    std::string name;
    uint64_t bytes = 0;
    int64_t used = 0;        // seconds since 1970
    bool temporary = false;  // of a write under way, or of a process that died in one
  };
  // Files of ours in a subfolder; none where that is not to be trusted.
  std::vector<File> list(const std::string& subfolder) const;
  // Names of subfolders.
  std::vector<std::string> subfolders(const std::string& subfolder = ".") const;
  // Removes the least recently used files of a subfolder until no more than `bytes` remain, and
  // what dead processes left. Other processes may do the same at the same time.
  void trim(const std::string& subfolder, uint64_t bytes) const;
  // Removes an empty subfolder.
  void remove_subfolder(const std::string& subfolder) const;

 private:
  std::string path_;
  std::string extension_;
};

}  // namespace lanewise::jit
