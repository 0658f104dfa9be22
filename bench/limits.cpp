// Tuned loops that bound what a row can reach: the same memory traffic, arithmetic where it is
// cheap. Each has variants; the benchmark times all and takes the best. Built with -O3
// -march=native.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace {

#ifdef __AVX512F__
using F64 = __m512d;
using F32 = __m512;
constexpr size_t kF64 = 8, kF32 = 16;
F64 load(const double* p) { return _mm512_loadu_pd(p); }
F32 load(const float* p) { return _mm512_loadu_ps(p); }
F64 splat(double x) { return _mm512_set1_pd(x); }
F32 splat(float x) { return _mm512_set1_ps(x); }
void store(double* p, F64 v) { _mm512_storeu_pd(p, v); }
void store(float* p, F32 v) { _mm512_storeu_ps(p, v); }
void stream(double* p, F64 v) { _mm512_stream_pd(p, v); }
void stream(float* p, F32 v) { _mm512_stream_ps(p, v); }
#else
using F64 = __m256d;
using F32 = __m256;
constexpr size_t kF64 = 4, kF32 = 8;
F64 load(const double* p) { return _mm256_loadu_pd(p); }
F32 load(const float* p) { return _mm256_loadu_ps(p); }
F64 splat(double x) { return _mm256_set1_pd(x); }
F32 splat(float x) { return _mm256_set1_ps(x); }
void store(double* p, F64 v) { _mm256_storeu_pd(p, v); }
void store(float* p, F32 v) { _mm256_storeu_ps(p, v); }
void stream(double* p, F64 v) { _mm256_stream_pd(p, v); }
void stream(float* p, F32 v) { _mm256_stream_ps(p, v); }
#endif

constexpr size_t kAhead = 2048;  // bytes

void prefetch(const void* p) { _mm_prefetch(static_cast<const char*>(p) + kAhead, _MM_HINT_T0); }

template <bool kStream, bool kPrefetch>
void axpby(const double* a, const double* b, double* out, size_t n) {
  const F64 two = splat(2.0), three = splat(3.0);
  size_t i = 0;
  for (; i + 4 * kF64 <= n; i += 4 * kF64) {
    for (size_t u = 0; u < 4; ++u) {
      const size_t k = i + u * kF64;
      if (kPrefetch) {
        prefetch(a + k);
        prefetch(b + k);
      }
      const F64 value = two * load(a + k) + three * load(b + k);
      kStream ? stream(out + k, value) : store(out + k, value);
    }
  }
  for (; i < n; ++i) out[i] = 2 * a[i] + 3 * b[i];
  if (kStream) _mm_sfence();
}

// Reads pairs, writes one value a pair: the traffic of the seed expression, half its shuffles.
template <bool kStream, bool kPrefetch>
void seed(const float* x, const float*, float* out, size_t n) {
  size_t i = 0;
  for (; i + 2 * kF32 <= n; i += 2 * kF32) {
    for (size_t u = 0; u < 2; ++u) {
      const size_t k = i + u * kF32;
      if (kPrefetch) {
        prefetch(x + 2 * k);
        prefetch(x + 2 * k + kF32);
      }
      const F32 p = load(x + 2 * k), q = load(x + 2 * k + kF32);
      const F32 value = p * p + q * q * q;
      kStream ? stream(out + k, value) : store(out + k, value);
    }
  }
  for (; i < n; ++i) out[i] = x[2 * i] * x[2 * i] + x[2 * i + 1];
  if (kStream) _mm_sfence();
}

// Several streams read at once, one in each part of the array.
template <class T, size_t kLanes, size_t kStreams, bool kPrefetch>
void read(const T* x, const T*, T* out, size_t n) {
  const size_t part = n / kStreams / (4 * kLanes) * (4 * kLanes);
  decltype(splat(T{})) sums[kStreams][4];
  for (auto& stream : sums) {
    for (auto& sum : stream) sum = splat(T{});
  }
  for (size_t i = 0; i < part; i += 4 * kLanes) {
    for (size_t s = 0; s < kStreams; ++s) {
      const T* p = x + s * part + i;
      for (size_t u = 0; u < 4; ++u) {
        if (kPrefetch) prefetch(p + u * kLanes);
        sums[s][u] += load(p + u * kLanes);
      }
    }
  }
  T total = 0;
  for (auto& stream : sums) {
    for (auto& sum : stream) {
      T lanes[kLanes];
      store(lanes, sum);
      for (const T lane : lanes) total += lane;
    }
  }
  for (size_t i = part * kStreams; i < n; ++i) total += x[i];
  *out = total;
}

}  // namespace

#define LIMIT(name, type, ...)                                              \
  extern "C" void name(const type* a, const type* b, type* out, size_t n) { \
    __VA_ARGS__(a, b, out, n);                                              \
  }

LIMIT(axpby_f64_0, double, axpby<false, false>)
LIMIT(axpby_f64_1, double, axpby<false, true>)
LIMIT(axpby_f64_2, double, axpby<true, false>)
LIMIT(axpby_f64_3, double, axpby<true, true>)
LIMIT(seed_f32_0, float, seed<false, false>)
LIMIT(seed_f32_1, float, seed<false, true>)
LIMIT(seed_f32_2, float, seed<true, false>)
LIMIT(seed_f32_3, float, seed<true, true>)
LIMIT(read_f32_0, float, read<float, kF32, 1, false>)
LIMIT(read_f32_1, float, read<float, kF32, 1, true>)
LIMIT(read_f32_2, float, read<float, kF32, 2, false>)
LIMIT(read_f32_3, float, read<float, kF32, 4, false>)
LIMIT(read_f64_0, double, read<double, kF64, 1, false>)
LIMIT(read_f64_1, double, read<double, kF64, 1, true>)
LIMIT(read_f64_2, double, read<double, kF64, 2, false>)
LIMIT(read_f64_3, double, read<double, kF64, 4, false>)
