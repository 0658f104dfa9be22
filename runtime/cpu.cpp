#include "runtime/cpu.h"

#include <cpuid.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "support/format.h"

namespace lanewise::runtime {

namespace {

struct Registers {
  uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

// All zero where the CPU lacks the leaf.
Registers cpuid(uint32_t leaf, uint32_t subleaf = 0) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

constexpr uint32_t kOsUsesXsave = 1u << 27;  // leaf 1, ecx

uint64_t read_xcr0() {
  if ((cpuid(1).ecx & kOsUsesXsave) == 0) return 0;
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

constexpr bool has_all(uint64_t bits, uint64_t wanted) { return (bits & wanted) == wanted; }

}  // namespace

namespace detail {

IsaLevel isa_level(const CpuidBits& bits) {
  // Leaf 1, ecx: SSE3 0, SSSE3 9, FMA 12, CMPXCHG16B 13, SSE4.1 19, SSE4.2 20, MOVBE 22, POPCNT 23,
  // OSXSAVE 27, AVX 28, F16C 29.
  constexpr uint32_t kLeaf1 = 1u << 0 | 1u << 9 | 1u << 12 | 1u << 13 | 1u << 19 | 1u << 20 |
                              1u << 22 | 1u << 23 | kOsUsesXsave | 1u << 28 | 1u << 29;
  constexpr uint32_t kLeaf7V3 = 1u << 3 | 1u << 5 | 1u << 8;  // BMI1, AVX2, BMI2
  // AVX-512 F 16, DQ 17, CD 28, BW 30, VL 31.
  constexpr uint32_t kLeaf7V4 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
  constexpr uint32_t kExtended1 = 1u << 0 | 1u << 5;  // LAHF, LZCNT
  constexpr uint64_t kAvxState = 0x06;                // xmm, ymm
  constexpr uint64_t kAvx512State = 0xe6;             // and masks, zmm
  if (!has_all(bits.leaf1_ecx, kLeaf1) || !has_all(bits.leaf7_ebx, kLeaf7V3) ||
      !has_all(bits.extended1_ecx, kExtended1) || !has_all(bits.xcr0, kAvxState)) {
    return IsaLevel::kBelowV3;
  }
  const bool v4 = has_all(bits.leaf7_ebx, kLeaf7V4) && has_all(bits.xcr0, kAvx512State);
  return v4 ? IsaLevel::kX86_64_v4 : IsaLevel::kX86_64_v3;
}

}  // namespace detail

IsaLevel isa_level() {
  static const IsaLevel level = detail::isa_level({.leaf1_ecx = cpuid(1).ecx,
                                                   .leaf7_ebx = cpuid(7).ebx,
                                                   .extended1_ecx = cpuid(0x80000001).ecx,
                                                   .xcr0 = read_xcr0()});
  return level;
}

const std::string& cpu_name() {
  static const std::string name = [] {
    char text[3 * sizeof(Registers) + 1] = {};
    for (uint32_t i = 0; i < 3; ++i) {
      const Registers r = cpuid(0x80000002 + i);
      std::memcpy(text + i * sizeof r, &r, sizeof r);
    }
    std::string_view view(text);
    while (!view.empty() && view.front() == ' ') view.remove_prefix(1);
    while (!view.empty() && view.back() == ' ') view.remove_suffix(1);
    return view.empty() ? std::string("unknown") : std::string(view);
  }();
  return name;
}

// ---- caches -------------------------------------------------------------------------------

namespace {

// Intel and AMD enumerate caches in the same format, under different leaves.
CacheSizes read_cache_sizes() {
  constexpr uint32_t kIntelLeaf = 4;
  constexpr uint32_t kAmdLeaf = 0x8000001d;
  size_t found[4] = {};
  for (const uint32_t leaf : {kIntelLeaf, kAmdLeaf}) {
    for (uint32_t index = 0; index < 16; ++index) {
      const Registers r = cpuid(leaf, index);
      const uint32_t type = r.eax & 31;  // 0 none, 1 data, 2 instructions, 3 both
      const uint32_t level = r.eax >> 5 & 7;
      if (type == 0) break;
      if (type == 2 || level < 1 || level > 3) continue;
      const size_t ways = (r.ebx >> 22) + 1;
      const size_t partitions = (r.ebx >> 12 & 0x3ff) + 1;
      const size_t line = (r.ebx & 0xfff) + 1;
      found[level] = std::max(found[level], ways * partitions * line * (size_t{r.ecx} + 1));
    }
  }
  CacheSizes sizes;
  if (found[1] == 0) return sizes;
  sizes.l1 = found[1];
  sizes.l2 = std::max(found[2], sizes.l1);
  sizes.l3 = std::max(found[3], sizes.l2);
  return sizes;
}

}  // namespace

const CacheSizes& cache_sizes() {
  static const CacheSizes sizes = read_cache_sizes();
  return sizes;
}

// ---- cores --------------------------------------------------------------------------------

namespace {

// CPUs in the affinity mask, or 0 if it cannot be read.
int cores_of_affinity() {
  for (int cpus = 1024; cpus <= 1 << 20; cpus *= 2) {  // the kernel's mask may be wider than ours
    std::vector<unsigned char> mask(CPU_ALLOC_SIZE(cpus));
    auto* const set = reinterpret_cast<cpu_set_t*>(mask.data());
    if (sched_getaffinity(0, mask.size(), set) == 0) return CPU_COUNT_S(mask.size(), set);
  }
  return 0;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The number at the start of `text`, or `otherwise` (as for "max").
double number_at_start(std::string_view text, double otherwise) {
  long long value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() ? static_cast<double>(value) : otherwise;
}

double quota_v2(const std::string& folder) {
  const std::string line = first_line(folder + "/cpu.max");  // "150000 100000" or "max 100000"
  const size_t space = line.find(' ');
  if (space == std::string::npos) return 0;
  const double quota = number_at_start(line, 0);
  const double period = number_at_start(std::string_view(line).substr(space + 1), 0);
  return quota > 0 && period > 0 ? quota / period : 0;
}

double quota_v1(const std::string& folder) {
  const double quota = number_at_start(first_line(folder + "/cpu.cfs_quota_us"), 0);
  const double period = number_at_start(first_line(folder + "/cpu.cfs_period_us"), 0);
  return quota > 0 && period > 0 ? quota / period : 0;
}

double memory_v2(const std::string& folder) {
  return number_at_start(first_line(folder + "/memory.max"), 0);  // or "max"
}

double memory_v1(const std::string& folder) {
  return number_at_start(first_line(folder + "/memory.limit_in_bytes"), 0);
}

// What a folder of a control group limits, or 0.
using Limit = double (*)(const std::string& folder);

// The smaller of two limits, where 0 is none.
double tighter(double a, double b) { return a > 0 && (b <= 0 || a < b) ? a : b; }

// The smallest limit of a group and those around it, up to the mount point; 0 if none has one.
double smallest_limit(const std::string& mount, std::string group, Limit limit) {
  double smallest = 0;
  for (;;) {
    smallest = tighter(limit(mount + group), smallest);
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return smallest;
    group.resize(slash);
  }
}

bool lists(std::string_view comma_separated, std::string_view word) {
  while (!comma_separated.empty()) {
    const size_t comma = std::min(comma_separated.find(','), comma_separated.size());
    if (comma_separated.substr(0, comma) == word) return true;
    comma_separated.remove_prefix(std::min(comma + 1, comma_separated.size()));
  }
  return false;
}

// The smallest limit in the control groups of this process, of version 2 and of version 1, where
// `controller` has it; 0 if there is none.
double limit_of_control_groups(const std::string& root, std::string_view controller, Limit version2,
                               Limit version1) {
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  double smallest = 0;
  // A line is "0::/group" for version 2, "4:cpu,cpuacct:/group" for version 1.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      smallest = tighter(smallest_limit(mount, group, version2), smallest);
    } else if (lists(controllers, controller)) {
      // Mounted under its own name, that of the whole list, or both.
      for (const std::string_view name : {controller, std::string_view(controllers)}) {
        const std::string folder = format("{}/{}", mount, name);
        smallest = tighter(smallest_limit(folder, group, version1), smallest);
      }
    }
  }
  return smallest;
}

}  // namespace

namespace detail {

int cores_of_control_groups(const std::string& root) {
  const double cores = limit_of_control_groups(root, "cpu", quota_v2, quota_v1);
  return static_cast<int>(std::ceil(std::min(cores, 1e6)));
}

uint64_t memory_of_control_groups(const std::string& root) {
  return static_cast<uint64_t>(limit_of_control_groups(root, "memory", memory_v2, memory_v1));
}

}  // namespace detail

int usable_cores() {
  const int affinity = std::max(cores_of_affinity(), 1);
  const int quota = detail::cores_of_control_groups("");
  return quota > 0 ? std::min(affinity, quota) : affinity;
}

uint64_t usable_memory() {
  constexpr uint64_t kUnknown = uint64_t{4} << 30;
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  const uint64_t machine =
      pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : kUnknown;
  const uint64_t granted = detail::memory_of_control_groups("");
  return granted > 0 ? std::min(machine, granted) : machine;
}

}  // namespace lanewise::runtime
