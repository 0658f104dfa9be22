// What the CPU can run, and how large its cache is. Part of runtime.c.
#pragma once

#include <cpuid.h>
#include <stdint.h>

extern char* getenv(const char* name);

enum level { level_unknown, level_too_old, level_v3, level_v4 };

static int has(uint32_t word, uint32_t bits) { return (word & bits) == bits; }

static uint64_t enabled_states(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low | (uint64_t)high << 32;
}

static int level_of_cpu(void) {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return level_too_old;
  const uint32_t needed = bit_SSE3 | bit_SSSE3 | bit_FMA | bit_CMPXCHG16B | bit_SSE4_1 |
                          bit_SSE4_2 | bit_MOVBE | bit_POPCNT | bit_OSXSAVE | bit_AVX | bit_F16C;
  if (!has(c, needed)) return level_too_old;
  const uint64_t states = enabled_states();
  if ((states & 0x6) != 0x6) return level_too_old;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !has(c, bit_LZCNT)) return level_too_old;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return level_too_old;
  if (!has(b, bit_BMI | bit_AVX2 | bit_BMI2)) return level_too_old;
  const uint32_t wide = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
  return has(b, wide) && (states & 0xe6) == 0xe6 ? level_v4 : level_v3;
}

static int equal_text(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

// LANEWISE_TARGET asks for less than the CPU has.
static int level(void) {
  static int known = level_unknown;
  int result = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (result != level_unknown) return result;
  result = level_of_cpu();
  const char* asked = getenv("LANEWISE_TARGET");
  if (asked != 0 && equal_text(asked, "x86-64-v3") && result > level_v3) result = level_v3;
  if (asked != 0 && equal_text(asked, "x86-64")) result = level_too_old;
  __atomic_store_n(&known, result, __ATOMIC_RELAXED);
  return result;
}

// Bytes of the last cache: Intel's and AMD's ways to say it, else a guess.
static double size_of_cache(void) {
  static int64_t known = 0;
  int64_t largest = __atomic_load_n(&known, __ATOMIC_RELAXED);
  if (largest != 0) return (double)largest;
  const uint32_t leaves[] = {4, 0x8000001d};
  for (int i = 0; i < 2; ++i) {
    uint32_t a, b, c, d;
    for (uint32_t cache = 0; cache < 16; ++cache) {
      if (!__get_cpuid_count(leaves[i], cache, &a, &b, &c, &d) || (a & 0x1f) == 0) break;
      const int64_t ways = (int64_t)(b >> 22) + 1, parts = (b >> 12 & 0x3ff) + 1;
      const int64_t bytes = ways * parts * ((b & 0xfff) + 1) * ((int64_t)c + 1);
      if ((a >> 5 & 7) == 3 && bytes > largest) largest = bytes;
    }
  }
  if (largest == 0) largest = 32 << 20;
  __atomic_store_n(&known, largest, __ATOMIC_RELAXED);
  return (double)largest;
}
