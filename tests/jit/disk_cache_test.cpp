// The cache on disk: nothing but what was stored under a key ever comes back for it.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "jit/detail/build_identity.h"
#include "jit/detail/disk_cache.h"
#include "jit/detail/disk_entry.h"
#include "kernel_case.h"
#include "tests/support/small_stack.h"

namespace lanewise::jit::test {
namespace {

namespace fs = std::filesystem;

// Tests use the disk only where they say so, however the program is started.
[[maybe_unused]] const int kOff = ::setenv("LANEWISE_CACHE_DIR", "0", 1);

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
}

// A folder that goes away with the test.
class DiskCacheTest : public testing::Test {
 protected:
  DiskCacheTest() {
    std::string path = (fs::temp_directory_path() / "lanewise-test-XXXXXX").string();
    if (::mkdtemp(path.data()) == nullptr) throw std::runtime_error("mkdtemp");
    top_ = path;
  }
  ~DiskCacheTest() override {
    std::error_code ignored;
    fs::remove_all(top_, ignored);
  }

  std::string folder() const { return top_ / "a" / "cache"; }
  std::unique_ptr<DiskCache> open(uint64_t limit = uint64_t{1} << 30) const {
    return std::make_unique<DiskCache>(
        DiskCacheOptions{.directory = folder(), .byte_limit = limit});
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (!fs::exists(folder())) return found;
    for (const auto& entry : fs::recursive_directory_iterator(folder())) {
      if (entry.is_regular_file()) found.push_back(entry.path());
    }
    return found;
  }

  fs::path top_;
};

std::string loaded(DiskCache& cache, const std::string& key) {
  const auto found = cache.load(key);
  return found ? found->symbol + ":" + found->object : "nothing";
}

TEST_F(DiskCacheTest, GivesBackWhatWasStored) {
  const auto cache = open();
  const std::string key("a key\0with a zero", 17);
  EXPECT_EQ(loaded(*cache, key), "nothing");
  cache->store(key, "symbol", "object");
  EXPECT_EQ(loaded(*cache, key), "symbol:object");
  EXPECT_EQ(loaded(*open(), key), "symbol:object");
  EXPECT_EQ(loaded(*cache, key + "!"), "nothing");
  cache->store(key, "symbol", "another");
  EXPECT_EQ(loaded(*cache, key), "symbol:another");
  const DiskCacheStatistics statistics = cache->statistics();
  EXPECT_EQ(statistics.hits, 2U);
  EXPECT_EQ(statistics.misses, 2U);
  EXPECT_EQ(statistics.stored, 2U);
  EXPECT_EQ(statistics.rejected + statistics.failures, 0U);
  EXPECT_EQ(cache->take_warning(), "");
}

TEST_F(DiskCacheTest, IsPrivate) {
  const mode_t before = ::umask(0);
  open()->store("key", "symbol", "object");
  ::umask(before);
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
  ASSERT_EQ(files().size(), 1U);
  EXPECT_EQ(fs::status(files()[0]).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(DiskCacheTest, EveryFlippedByteIsNoticed) {
  open()->store("some key", "symbol", std::string(300, 'o'));
  const fs::path file = files().at(0);
  const std::string good = read_file(file);
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      write_file(file, bad);
      const auto cache = open();
      ASSERT_EQ(loaded(*cache, "some key"), "nothing") << "byte " << i;
      ASSERT_EQ(cache->statistics().rejected, 1U);
      ASSERT_NE(cache->take_warning(), "");
      ASSERT_FALSE(fs::exists(file));
    }
  }
}

TEST_F(DiskCacheTest, EveryOtherLengthIsNoticed) {
  open()->store("some key", "symbol", "object");
  const fs::path file = files().at(0);
  const std::string good = read_file(file);
  for (size_t length = 0; length <= good.size() + 3; ++length) {
    std::string bytes = good;
    bytes.resize(length, '\0');
    write_file(file, bytes);
    ASSERT_EQ(loaded(*open(), "some key"), length == good.size() ? "symbol:object" : "nothing");
  }
}

// Undamaged files are not believed either where they do not belong.
TEST_F(DiskCacheTest, AFileOfAnotherKeyIsNotUsed) {
  open()->store("one", "symbol_one", "object one");
  const fs::path one = files().at(0);
  const std::string bytes = read_file(one);
  open()->store("two", "symbol_two", "object two");
  for (const fs::path& file : files()) write_file(file, bytes);
  const auto cache = open();
  EXPECT_EQ(loaded(*cache, "two"), "nothing");
  EXPECT_EQ(loaded(*cache, "one"), "symbol_one:object one");
  EXPECT_NE(cache->take_warning().find("of another kernel"), std::string::npos);
}

TEST_F(DiskCacheTest, WarnsOnce) {
  const auto cache = open();
  for (const char* const key : {"one", "two", "three"}) cache->store(key, "symbol", "object");
  for (const fs::path& file : files()) write_file(file, "rubbish");
  EXPECT_EQ(loaded(*cache, "one"), "nothing");
  const std::string warning = cache->take_warning();
  EXPECT_NE(warning.find("cache of compiled kernels: " + folder()), std::string::npos) << warning;
  EXPECT_NE(warning.find("truncated; compiling instead"), std::string::npos) << warning;
  EXPECT_EQ(loaded(*cache, "two"), "nothing");
  EXPECT_EQ(cache->take_warning(), "");
  EXPECT_EQ(cache->statistics().rejected, 2U);
}

TEST_F(DiskCacheTest, WhatOthersMayWriteIsNotTrusted) {
  open()->store("key", "symbol", "object");
  const fs::path file = files().at(0);
  for (const fs::path& path : {fs::path(folder()), file}) {
    const fs::perms before = fs::status(path).permissions();
    for (const fs::perms more : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(path, before | more);
      const auto cache = open();
      EXPECT_EQ(loaded(*cache, "key"), "nothing");
      EXPECT_NE(cache->take_warning().find("others may write to it"), std::string::npos);
      EXPECT_EQ(cache->statistics().untrusted.empty(), path == file);
      if (path != file) {
        cache->store("key", "symbol", "forged");
        EXPECT_EQ(cache->statistics().stored, 0U);
      }
    }
    fs::permissions(path, before);
  }
  EXPECT_EQ(loaded(*open(), "key"), "symbol:object");
}

TEST_F(DiskCacheTest, WhatBelongsToOthersIsNotTrusted) {
  if (::geteuid() == 0) {
    open()->store("key", "symbol", "object");
    ASSERT_EQ(::chown(folder().c_str(), 65534, 65534), 0);
    const auto cache = open();
    EXPECT_EQ(loaded(*cache, "key"), "nothing");
    EXPECT_NE(cache->take_warning().find("belongs to another user"), std::string::npos);
    ASSERT_EQ(::chown(folder().c_str(), 0, 0), 0);
    ASSERT_EQ(::chown(files().at(0).c_str(), 65534, 65534), 0);
    EXPECT_EQ(loaded(*open(), "key"), "nothing");
  } else {
    DiskCache cache(DiskCacheOptions{.directory = "/usr"});
    EXPECT_EQ(loaded(cache, "key"), "nothing");
    EXPECT_NE(cache.take_warning().find("belongs to another user"), std::string::npos);
  }
}

// None of these may block, be followed, or be overwritten through.
TEST_F(DiskCacheTest, LinksPipesAndFoldersAreNotFiles) {
  open()->store("key", "symbol", "object");
  const fs::path file = files().at(0);
  const fs::path target = top_ / "target";
  fs::rename(file, target);
  const std::string before = read_file(target);
  fs::create_symlink(target, file);
  EXPECT_EQ(loaded(*open(), "key"), "nothing");
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(loaded(*open(), "key"), "nothing");
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_EQ(loaded(*open(), "key"), "nothing");
  fs::remove(file);
  fs::create_symlink(target, file);
  open()->store("key", "symbol", "other");
  EXPECT_EQ(read_file(target), before);
  EXPECT_EQ(loaded(*open(), "key"), "symbol:other");
}

TEST_F(DiskCacheTest, AFolderThatCannotBeIsNoError) {
  write_file(top_ / "a", "a file where a folder should be");
  for (const std::string& directory : {folder(), std::string("/proc/lanewise/cache")}) {
    DiskCache cache(DiskCacheOptions{.directory = directory});
    EXPECT_EQ(loaded(cache, "key"), "nothing");
    cache.store("key", "symbol", "object");
    EXPECT_EQ(loaded(cache, "key"), "nothing");
    EXPECT_EQ(cache.take_warning(), "");
    EXPECT_GE(cache.statistics().failures, 1U);
    EXPECT_NE(cache.statistics().last_failure, "");
  }
}

TEST_F(DiskCacheTest, StaysBelowItsLimitAndKeepsWhatIsUsed) {
  constexpr uint64_t kLimit = 64 * 4000;  // of each folder: three files of this size
  const auto cache = open(kLimit);
  const std::string object(1000, 'o');
  for (int i = 0; i < 1000; ++i) cache->store("key " + std::to_string(i), "symbol", object);
  const DiskCacheSize size = cache->size();
  EXPECT_LE(size.bytes, kLimit);
  EXPECT_GT(size.bytes, kLimit / 2);
  EXPECT_EQ(size.files, files().size());

  // Of three files in one folder the one that was not used goes.
  cache->clear();
  std::vector<std::string> keys;
  for (int i = 0; keys.size() < 4; ++i) {
    const std::string key = "key " + std::to_string(i);
    if (std::stoul(digest_text(key).substr(0, 2), nullptr, 16) % 64 == 7) keys.push_back(key);
  }
  for (int i = 0; i < 3; ++i) {
    cache->store(keys[i], "symbol", object);
    for (const fs::path& file : files()) {
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(24));
    }
  }
  EXPECT_NE(loaded(*cache, keys[0]), "nothing");  // the oldest, but used now
  cache->store(keys[3], "symbol", object);
  EXPECT_NE(loaded(*cache, keys[0]), "nothing");
  EXPECT_EQ(loaded(*cache, keys[1]), "nothing");
  EXPECT_NE(loaded(*cache, keys[2]), "nothing");
}

TEST_F(DiskCacheTest, RemovesWhatDeadProcessesLeft) {
  const auto cache = open();
  cache->store("key", "symbol", "object");
  const fs::path shard = files().at(0).parent_path();
  write_file(shard / "tmp-1", "half an obj");
  write_file(shard / "tmp-2", "half an obj");
  fs::last_write_time(shard / "tmp-1", fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache->store("key", "symbol", "object");
  EXPECT_FALSE(fs::exists(shard / "tmp-1"));
  EXPECT_TRUE(fs::exists(shard / "tmp-2"));  // somebody may be writing it
}

TEST_F(DiskCacheTest, ClearRemovesOursOnly) {
  const auto cache = open();
  cache->store("one", "symbol", "object");
  cache->store("two", "symbol", "object");
  write_file(fs::path(folder()) / "notes.txt", "mine");
  fs::create_directories(fs::path(folder()) / "var" / "01");
  write_file(fs::path(folder()) / "var" / "01" / "a.kernel", "mine");
  EXPECT_EQ(cache->clear().files, 2U);
  EXPECT_EQ(files().size(), 2U);
  EXPECT_EQ(loaded(*cache, "one"), "nothing");
  cache->store("one", "symbol", "object");
  EXPECT_EQ(loaded(*cache, "one"), "symbol:object");
  DiskCache off(DiskCacheOptions{});
  EXPECT_EQ(off.clear().files, 0U);
  EXPECT_EQ(off.size().files, 0U);
  EXPECT_TRUE(off.entries().empty());
}

TEST_F(DiskCacheTest, KilledWritersLeaveNothingThatCounts) {
  const std::string object(200'000, 'o');
  for (int round = 0; round < 30; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      const auto cache = open();
      for (int i = 0;; ++i) cache->store("key " + std::to_string(i % 50), "symbol", object);
    }
    ::usleep(static_cast<useconds_t>(1000 + 700 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  const auto cache = open();
  int found = 0;
  for (int i = 0; i < 50; ++i) {
    const std::string entry = loaded(*cache, "key " + std::to_string(i));
    if (entry == "nothing") continue;
    ++found;
    ASSERT_EQ(entry, "symbol:" + object);
  }
  EXPECT_GT(found, 0);
  EXPECT_EQ(cache->statistics().rejected, 0U);
}

TEST_F(DiskCacheTest, ProcessesWriteReadAndRemoveAtOnce) {
  std::vector<pid_t> children;
  for (int number = 0; number < 4; ++number) {
    const pid_t child = fork();
    if (child == 0) {
      ::alarm(60);
      const auto cache = open(64 * 20'000);
      std::mt19937 random(static_cast<unsigned>(number));
      bool right = true;
      for (int i = 0; i < 1500; ++i) {
        const std::string key = std::to_string(random() % 200);
        const std::string object(1000 + 10 * std::stoul(key), key[0]);
        const std::string entry = loaded(*cache, key);
        right = right && (entry == "nothing" || entry == "s:" + object);
        if (entry == "nothing") cache->store(key, "s", object);
      }
      right = right && cache->statistics().rejected == 0 && cache->statistics().failures == 0;
      _exit(right ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

// ---- kernels -------------------------------------------------------------------------------

class DiskKernelTest : public DiskCacheTest {
 protected:
  DiskKernelTest() { reopen(); }
  ~DiskKernelTest() override {
    replace_disk_cache(std::make_unique<DiskCache>(DiskCacheOptions{}));
    set_warning_handler([](const std::string&) {});
  }

  // As a new process would find things.
  void reopen() {
    clear_cache();
    replace_disk_cache(open());
    warnings_.clear();
    set_warning_handler([this](const std::string& message) { warnings_.push_back(message); });
  }

  static KernelCase kernel(double constant) {
    KernelCase k({40});
    const ir::Expr x = k.load(DType::kF64, {1});
    k.store(x * x + x.like(constant), {1});
    return k;
  }
  // Compiles or loads, compares with the interpreter.
  static void run(double constant, Target target = Target::kX86_64_v3) {
    ASSERT_EQ(kernel(constant).run(target), "");
  }
  static uint64_t compilations() { return cache_statistics().compilations; }

  std::vector<std::string> warnings_;
};

TEST_F(DiskKernelTest, ASecondProcessCompilesNothing) {
  run(3);
  run(5);
  const uint64_t before = compilations();
  reopen();
  run(5);
  run(3);
  EXPECT_EQ(compilations(), before);
  EXPECT_EQ(disk_cache_statistics().hits, 2U);
  EXPECT_TRUE(warnings_.empty());
  const auto entries = disk_cache_entries();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_NE(entries[0].kernel.find("lanewise_test_"), std::string::npos);
  EXPECT_NE(entries[0].identity.find("x86-64-v3"), std::string::npos);
}

TEST_F(DiskKernelTest, OptionsTargetsAndKernelsShareNothing) {
  if (targets().size() < 2) GTEST_SKIP() << "this CPU has one target";
  run(3, Target::kX86_64_v3);
  reopen();
  run(3, Target::kX86_64_v4);
  run(4, Target::kX86_64_v3);
  EXPECT_EQ(disk_cache_statistics().hits, 0U);
  EXPECT_EQ(files().size(), 3U);
}

TEST_F(DiskKernelTest, KeysHaveTheBuildAndTheOptions) {
  const std::string key = disk_key("kernel", Target::kX86_64_v3);
  EXPECT_NE(key, disk_key("kernel", Target::kX86_64_v4));
  ASSERT_GE(build_identity().size(), 32U);
  for (const std::string& part : {build_identity(), llvm_version(), std::string("x86-64-v3"),
                                  std::string("fusion"), std::string("features")}) {
    EXPECT_NE(key.find(part), std::string::npos) << part;
  }
}

TEST_F(DiskKernelTest, AForkedChildUsesAndFillsIt) {
  run(3);
  const pid_t child = fork();
  if (child == 0) {
    ::alarm(60);
    clear_cache();
    const uint64_t before = compilations();
    run(3);
    const bool loaded_one = compilations() == before;
    run(7);
    _exit(!HasFailure() && loaded_one ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  reopen();
  const uint64_t before = compilations();
  run(7);
  EXPECT_EQ(compilations(), before);
}

TEST_F(DiskKernelTest, AThousandFlippedBytesGiveTheRightAnswer) {
  run(3);
  const fs::path file = files().at(0);
  const std::string good = read_file(file);
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    std::string bad = good;
    const size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 + random() % 255));
    write_file(file, bad);
    reopen();
    run(3);
    ASSERT_EQ(warnings_.size(), 1U) << at;
    ASSERT_EQ(disk_cache_statistics().hits, 0U);
    ASSERT_EQ(read_file(file), good);  // written anew
  }
}

TEST_F(DiskKernelTest, LoadingNeedsLittleStack) {
  run(3);
  reopen();
  KernelCase k = kernel(3);
  std::shared_ptr<const Code> code;
  lanewise::test::run_with_stack(size_t{96} << 10, [&] {
    code = compile(k.kernel(), k.program(), k.layout(), Target::kX86_64_v3);
  });
  EXPECT_NE(code, nullptr);
  EXPECT_EQ(disk_cache_statistics().hits, 1U);
}

// A file that is whole but whose object cannot be linked.
TEST_F(DiskKernelTest, AnObjectThatDoesNotLinkIsCompiledAnew) {
  run(3);
  const fs::path file = files().at(0);
  const std::string good = read_file(file);
  DiskEntry entry;
  ASSERT_EQ(decode(good, entry), "");
  for (const DiskEntry& bad :
       {DiskEntry{entry.key, "no_such_symbol", entry.object},
        DiskEntry{entry.key, entry.symbol, entry.object.substr(0, entry.object.size() / 2)},
        DiskEntry{entry.key, entry.symbol, "no object at all"}}) {
    write_file(file, encode(bad));
    reopen();
    run(3);
    EXPECT_EQ(warnings_.size(), 1U);
    EXPECT_EQ(read_file(file), good);
  }
}

TEST_F(DiskKernelTest, WarningsThatThrowLeaveTheKernelUsable) {
  run(3);
  write_file(files().at(0), "rubbish");
  reopen();
  set_warning_handler([](const std::string& message) { throw std::runtime_error(message); });
  KernelCase k = kernel(3);
  EXPECT_THROW(compile(k.kernel(), k.program(), k.layout(), Target::kX86_64_v3),
               std::runtime_error);
  const uint64_t before = compilations();
  run(3);
  EXPECT_EQ(compilations(), before);
}

}  // namespace
}  // namespace lanewise::jit::test
