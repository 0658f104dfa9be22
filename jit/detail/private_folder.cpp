#include "jit/detail/private_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "support/format.h"

namespace lanewise::jit {

namespace {

using Outcome = PrivateFolder::Outcome;
using Result = PrivateFolder::Result;

constexpr std::string_view kTemporary = "tmp-";
// Seconds. A last use is recorded no more exactly than this, so that hits rarely write.
constexpr int64_t kUseGrain = 3600;
constexpr int64_t kAbandoned = 3600;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

Outcome failed(const std::string& path) {
  return {Result::kFailed, format("{}: {}", path, std::strerror(errno))};
}
Outcome absent_or_failed(const std::string& path) {
  return errno == ENOENT ? Outcome{Result::kAbsent} : failed(path);
}

// Whether a file or folder is ours alone to write, and of the kind expected.
Outcome check_private(int descriptor, mode_t kind, const std::string& path, struct stat& status) {
  if (::fstat(descriptor, &status) != 0) return absent_or_failed(path);
  const auto untrusted = [&](const char* why) {
    return Outcome{Result::kUntrusted, format("{}: {}", path, why)};
  };
  if ((status.st_mode & S_IFMT) != kind) return untrusted("not of the kind expected");
  if (status.st_uid != ::geteuid()) return untrusted("belongs to another user");
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return untrusted("others may write to it");
  return {};
}

struct Opened {
  Descriptor descriptor;
  Outcome outcome;
};

Opened open_folder(const std::string& path) {
  Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return {std::move(folder), absent_or_failed(path)};
  struct stat status;
  Outcome outcome = check_private(folder.number(), S_IFDIR, path, status);
  return {std::move(folder), std::move(outcome)};
}

// With all that is missing above it.
bool make_folders(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return true;
  const size_t slash = path.rfind('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0) return false;
  return make_folders(path.substr(0, slash)) &&
         (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST);
}

bool make_subfolders(int folder, const std::string& name) {
  for (size_t slash = name.find('/'); slash != std::string::npos;
       slash = name.find('/', slash + 1)) {
    if (::mkdirat(folder, name.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST)
      return false;
  }
  return true;
}

bool read_all(int file, std::string& bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::read(file, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return true;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return true;
}

// Unlike any other, also of processes in other containers that share the folder.
std::string temporary_name() {
  uint64_t random = 0;
  if (::getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random) {
    random = static_cast<uint64_t>(::getpid()) << 32 ^ static_cast<uint64_t>(::clock());
  }
  return std::string(kTemporary) + std::to_string(random);
}

// Calls f(name, status) for what is in a folder. False if it cannot be read.
template <class F>
bool for_each_in(const std::string& path, F f) {
  Opened folder = open_folder(path);
  if (folder.outcome.result != Result::kOk) return false;
  DIR* const stream = ::fdopendir(folder.descriptor.number());
  if (stream == nullptr) return false;
  folder.descriptor.release();  // the stream's now
  while (const dirent* const entry = ::readdir(stream)) {
    struct stat status;
    if (entry->d_name[0] == '.' ||
        ::fstatat(::dirfd(stream), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    f(std::string(entry->d_name), status);
  }
  ::closedir(stream);
  return true;
}

}  // namespace

Outcome PrivateFolder::check() const { return open_folder(path_).outcome; }

Outcome PrivateFolder::read(const std::string& name, std::string& bytes, bool use) const {
  const Opened folder = open_folder(path_);
  if (folder.outcome.result != Result::kOk) return folder.outcome;
  const std::string path = path_ + "/" + name;
  // Neither a link nor a pipe, which would block, is one of our files.
  const Descriptor file(::openat(folder.descriptor.number(), name.c_str(),
                                 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ELOOP) return {Result::kUntrusted, format("{}: a symbolic link", path)};
    return absent_or_failed(path);
  }
  struct stat status;
  if (Outcome outcome = check_private(file.number(), S_IFREG, path, status);
      outcome.result != Result::kOk) {
    return outcome;
  }
  bytes.resize(static_cast<size_t>(status.st_size));
  if (!read_all(file.number(), bytes)) return absent_or_failed(path);
  if (use && ::time(nullptr) - status.st_mtime > kUseGrain) ::futimens(file.number(), nullptr);
  return {};
}

Outcome PrivateFolder::write(const std::string& name, std::string_view bytes) const {
  if (!make_folders(path_)) return failed(path_);
  const Opened folder = open_folder(path_);
  if (folder.outcome.result != Result::kOk) return folder.outcome;
  const int root = folder.descriptor.number();
  const std::string path = path_ + "/" + name;
  if (!make_subfolders(root, name)) return failed(path);

  const size_t slash = name.rfind('/') + 1;  // 0 where there is none
  const std::string temporary = name.substr(0, slash) + temporary_name();
  Descriptor file(::openat(root, temporary.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file.is_open()) return failed(path);
  const bool written = write_all(file.number(), bytes) && ::close(file.release()) == 0 &&
                       ::renameat(root, temporary.c_str(), root, name.c_str()) == 0;
  if (written) return {};
  const Outcome outcome = failed(path);
  ::unlinkat(root, temporary.c_str(), 0);
  return outcome;
}

void PrivateFolder::remove(const std::string& name) const {
  const Opened folder = open_folder(path_);
  if (folder.outcome.result == Result::kOk) {
    ::unlinkat(folder.descriptor.number(), name.c_str(), 0);
  }
}

std::vector<PrivateFolder::File> PrivateFolder::list(const std::string& subfolder) const {
  std::vector<File> files;
  for_each_in(path_ + "/" + subfolder, [&](const std::string& name, const struct stat& status) {
    const bool temporary = name.starts_with(kTemporary);
    if (!S_ISREG(status.st_mode) || (!temporary && !name.ends_with(extension_))) return;
    files.push_back({name, static_cast<uint64_t>(status.st_size), status.st_mtime, temporary});
  });
  return files;
}

std::vector<std::string> PrivateFolder::subfolders(const std::string& subfolder) const {
  std::vector<std::string> names;
  for_each_in(path_ + "/" + subfolder, [&](const std::string& name, const struct stat& status) {
    if (S_ISDIR(status.st_mode)) names.push_back(name);
  });
  return names;
}

void PrivateFolder::trim(const std::string& subfolder, uint64_t bytes) const {
  std::vector<File> files = list(subfolder);
  const int64_t now = ::time(nullptr);
  uint64_t total = 0;
  for (const File& file : files) {
    total += file.bytes;
    if (file.temporary && now - file.used > kAbandoned) remove(subfolder + "/" + file.name);
  }
  if (total <= bytes) return;
  std::ranges::sort(files, {}, &File::used);
  for (const File& file : files) {
    if (total <= bytes) return;
    if (file.temporary) continue;
    remove(subfolder + "/" + file.name);
    total -= file.bytes;
  }
}

void PrivateFolder::remove_subfolder(const std::string& subfolder) const {
  ::rmdir((path_ + "/" + subfolder).c_str());
}

}  // namespace lanewise::jit
