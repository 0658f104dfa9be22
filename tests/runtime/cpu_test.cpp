#include "runtime/cpu.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace lanewise::runtime {
namespace {

std::string flags_of_this_cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return line + " ";
  }
  return {};
}

TEST(cpu, isa_level_agrees_with_the_kernel) {
  const std::string flags = flags_of_this_cpu();
  ASSERT_FALSE(flags.empty());
  const auto has = [&](const std::string& flag) {
    return flags.find(" " + flag + " ") != std::string::npos;
  };
  const bool v3 = has("avx2") && has("fma") && has("bmi1") && has("bmi2") && has("f16c") &&
                  has("abm") && has("movbe") && has("cx16") && has("popcnt") && has("sse4_2");
  const bool v4 = v3 && has("avx512f") && has("avx512bw") && has("avx512cd") && has("avx512dq") &&
                  has("avx512vl");
  EXPECT_EQ(isa_level(), v4   ? IsaLevel::kX86_64_v4
                         : v3 ? IsaLevel::kX86_64_v3
                              : IsaLevel::kBelowV3);
}

constexpr detail::CpuidBits kEverything = {
    .leaf1_ecx = ~0u, .leaf7_ebx = ~0u, .extended1_ecx = ~0u, .xcr0 = 0xe7};

TEST(cpu, isa_level_needs_what_cpu_and_system_offer) {
  using detail::isa_level;
  EXPECT_EQ(isa_level(kEverything), IsaLevel::kX86_64_v4);
  EXPECT_EQ(isa_level({}), IsaLevel::kBelowV3);

  detail::CpuidBits bits = kEverything;
  bits.xcr0 = 0x07;  // the system saves ymm but not zmm
  EXPECT_EQ(isa_level(bits), IsaLevel::kX86_64_v3);
  bits.xcr0 = 0x03;  // nor ymm
  EXPECT_EQ(isa_level(bits), IsaLevel::kBelowV3);
  bits.xcr0 = 0;
  EXPECT_EQ(isa_level(bits), IsaLevel::kBelowV3);
}

TEST(cpu, isa_level_needs_every_feature) {
  for (const int bit : {0, 9, 12, 13, 19, 20, 22, 23, 27, 28, 29}) {
    detail::CpuidBits bits = kEverything;
    bits.leaf1_ecx &= ~(1u << bit);
    EXPECT_EQ(detail::isa_level(bits), IsaLevel::kBelowV3) << bit;
  }
  for (const int bit : {3, 5, 8}) {
    detail::CpuidBits bits = kEverything;
    bits.leaf7_ebx &= ~(1u << bit);
    EXPECT_EQ(detail::isa_level(bits), IsaLevel::kBelowV3) << bit;
  }
  for (const int bit : {16, 17, 28, 30, 31}) {
    detail::CpuidBits bits = kEverything;
    bits.leaf7_ebx &= ~(1u << bit);
    EXPECT_EQ(detail::isa_level(bits), IsaLevel::kX86_64_v3) << bit;
  }
  for (const int bit : {0, 5}) {
    detail::CpuidBits bits = kEverything;
    bits.extended1_ecx &= ~(1u << bit);
    EXPECT_EQ(detail::isa_level(bits), IsaLevel::kBelowV3) << bit;
  }
}

TEST(cpu, caches_grow_with_their_level) {
  const CacheSizes& sizes = cache_sizes();
  EXPECT_GE(sizes.l1, 8u << 10);
  EXPECT_GE(sizes.l2, sizes.l1);
  EXPECT_GE(sizes.l3, sizes.l2);
  EXPECT_LE(sizes.l3, size_t{4} << 30);
}

TEST(cpu, has_a_name) { EXPECT_FALSE(cpu_name().empty()); }

TEST(cpu, usable_cores_follow_the_affinity_of_the_thread) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), CPU_COUNT(&before));

  int first = 0;
  while (!CPU_ISSET(first, &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(usable_cores(), 1);
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
}

// A tree of files that looks like /proc and /sys.
class ControlGroups : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "lanewise-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text << "\n";
  }
  int cores() const { return detail::cores_of_control_groups(root_); }

  std::string root_;
};

TEST_F(ControlGroups, without_files_set_no_limit) { EXPECT_EQ(cores(), 0); }

TEST_F(ControlGroups, version_2_takes_the_smallest_quota_on_the_way_up) {
  write("/proc/self/cgroup", "0::/user/box");
  write("/sys/fs/cgroup/user/box/cpu.max", "max 100000");
  EXPECT_EQ(cores(), 0);
  write("/sys/fs/cgroup/user/cpu.max", "400000 100000");
  EXPECT_EQ(cores(), 4);
  write("/sys/fs/cgroup/user/box/cpu.max", "150000 100000");
  EXPECT_EQ(cores(), 2) << "one core and a half";
  write("/sys/fs/cgroup/cpu.max", "5000 10000");
  EXPECT_EQ(cores(), 1) << "half a core";
}

TEST_F(ControlGroups, version_2_in_a_container_reads_the_mount_itself) {
  write("/proc/self/cgroup", "0::/");
  write("/sys/fs/cgroup/cpu.max", "300000 100000");
  EXPECT_EQ(cores(), 3);
  write("/proc/self/cgroup", "0::/not/visible/here");
  EXPECT_EQ(cores(), 3);
}

TEST_F(ControlGroups, version_1_reads_the_cpu_controller) {
  write("/proc/self/cgroup", "11:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:cpuset:/");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "250000");
  write("/sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cores(), 3);
  write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000");
  write("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
  EXPECT_EQ(cores(), 1);
}

TEST_F(ControlGroups, limit_memory) {
  EXPECT_EQ(detail::memory_of_control_groups(root_), 0u);
  write("/proc/self/cgroup", "11:memory:/box\n0::/box");
  write("/sys/fs/cgroup/memory/box/memory.limit_in_bytes", "9223372036854771712");
  EXPECT_GT(detail::memory_of_control_groups(root_), uint64_t{1} << 62) << "version 1 for none";
  write("/sys/fs/cgroup/box/memory.max", "max");
  write("/sys/fs/cgroup/memory.max", "1073741824");
  EXPECT_EQ(detail::memory_of_control_groups(root_), 1073741824u);
}

TEST(cpu, usable_memory_is_plausible) {
  EXPECT_GE(usable_memory(), uint64_t{1} << 24);
  EXPECT_LE(usable_memory(), uint64_t{1} << 50);
}

TEST_F(ControlGroups, ignore_what_cannot_be_read) {
  write("/proc/self/cgroup", "nonsense\n0::/\n");
  write("/sys/fs/cgroup/cpu.max", "");
  EXPECT_EQ(cores(), 0);
  write("/sys/fs/cgroup/cpu.max", "-1 100000");
  EXPECT_EQ(cores(), 0);
  write("/sys/fs/cgroup/cpu.max", "100000 0");
  EXPECT_EQ(cores(), 0);
}

}  // namespace
}  // namespace lanewise::runtime
