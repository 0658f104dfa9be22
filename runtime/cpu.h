// What this process may use of the machine: instruction sets, caches, cores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace lanewise::runtime {

// Levels of the x86-64 psABI, as far as both CPU and operating system support them.
enum class IsaLevel : uint8_t {
  kBelowV3,
  kX86_64_v3,  // AVX2, FMA, BMI1, BMI2, F16C, LZCNT, MOVBE
  kX86_64_v4,  // and AVX-512 F, BW, CD, DQ, VL
};

IsaLevel isa_level();

// "AMD EPYC 9B14", as the CPU calls itself.
const std::string& cpu_name();

// Bytes of data cache that one core can use. A level that does not exist has the size of the level
// below it.
struct CacheSizes {
  size_t l1 = 32 << 10;
  size_t l2 = 1 << 20;
  size_t l3 = 8 << 20;
};

const CacheSizes& cache_sizes();

// Cores this process may use at once: CPU affinity, and CPU time granted by control groups, rounded
// up. At least 1. Asked anew on each call.
int usable_cores();

// Bytes of memory this process may use: the machine's, or what control groups grant.
uint64_t usable_memory();

namespace detail {

// Registers as CPUID gives them; `xcr0` is 0 where the operating system does not use XSAVE.
struct CpuidBits {
  uint32_t leaf1_ecx = 0;
  uint32_t leaf7_ebx = 0;
  uint32_t extended1_ecx = 0;
  uint64_t xcr0 = 0;
};
IsaLevel isa_level(const CpuidBits& bits);

// The number of cores that the CPU quotas of the control groups (v1 and v2) of this process allow,
// or 0 where none is set. `root` comes before /proc and /sys.
int cores_of_control_groups(const std::string& root);
// Bytes of memory that they allow, or 0.
uint64_t memory_of_control_groups(const std::string& root);

}  // namespace detail

}  // namespace lanewise::runtime
