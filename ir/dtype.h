// Element types.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace lanewise {

// One row a dtype: identifier, C++ type, name in IR text, name in Python.
#define LANEWISE_DTYPES(DTYPE)          \
  DTYPE(Bool, bool, "bool", "bool")     \
  DTYPE(I8, int8_t, "i8", "int8")       \
  DTYPE(I16, int16_t, "i16", "int16")   \
  DTYPE(I32, int32_t, "i32", "int32")   \
  DTYPE(I64, int64_t, "i64", "int64")   \
  DTYPE(U8, uint8_t, "u8", "uint8")     \
  DTYPE(U16, uint16_t, "u16", "uint16") \
  DTYPE(U32, uint32_t, "u32", "uint32") \
  DTYPE(U64, uint64_t, "u64", "uint64") \
  DTYPE(F32, float, "f32", "float32")   \
  DTYPE(F64, double, "f64", "float64")

enum class DType : uint8_t {
#define LANEWISE_DTYPE_ENUM(id, type, text, python) k##id,
  LANEWISE_DTYPES(LANEWISE_DTYPE_ENUM)
#undef LANEWISE_DTYPE_ENUM
};

inline constexpr int kDTypeCount = static_cast<int>(DType::kF64) + 1;

constexpr bool is_bool(DType d) { return d == DType::kBool; }
constexpr bool is_signed_int(DType d) { return d >= DType::kI8 && d <= DType::kI64; }
constexpr bool is_unsigned_int(DType d) { return d >= DType::kU8 && d <= DType::kU64; }
constexpr bool is_int(DType d) { return d >= DType::kI8 && d <= DType::kU64; }
constexpr bool is_float(DType d) { return d >= DType::kF32; }

// Bytes of one element.
constexpr int size_of(DType d) {
  constexpr int kSizes[] = {
#define LANEWISE_DTYPE_SIZE(id, type, text, python) sizeof(type),
      LANEWISE_DTYPES(LANEWISE_DTYPE_SIZE)
#undef LANEWISE_DTYPE_SIZE
  };
  return kSizes[static_cast<int>(d)];
}

// The name in IR text ("f32") and in Python ("float32").
std::string_view text_name(DType d);
std::string_view python_name(DType d);
inline std::string to_string(DType d) { return std::string(text_name(d)); }

// Both throw DTypeError for an unknown name.
DType dtype_from_text_name(std::string_view name);
DType dtype_from_python_name(std::string_view name);

// The signed and unsigned integer, and the float, of the same width.
DType signed_of_width(int bytes);
DType unsigned_of_width(int bytes);

template <class T>
constexpr DType dtype_of();
#define LANEWISE_DTYPE_OF(id, type, text, python) \
  template <>                                     \
  constexpr DType dtype_of<type>() {              \
    return DType::k##id;                          \
  }
LANEWISE_DTYPES(LANEWISE_DTYPE_OF)
#undef LANEWISE_DTYPE_OF

// Calls f(T{}) with the C++ type of `d`.
template <class F>
decltype(auto) visit_dtype(DType d, F&& f) {
  switch (d) {
#define LANEWISE_DTYPE_CASE(id, type, text, python) \
  case DType::k##id:                                \
    return f(type{});
    LANEWISE_DTYPES(LANEWISE_DTYPE_CASE)
#undef LANEWISE_DTYPE_CASE
  }
  __builtin_unreachable();
}

// One value of any dtype: the bytes of the value, zero extended.
struct Scalar {
  DType dtype = DType::kBool;
  uint64_t bits = 0;

  template <class T>
  static Scalar of(T value) {
    Scalar s{dtype_of<T>(), 0};
    std::memcpy(&s.bits, &value, sizeof value);
    return s;
  }
  // The value converted from a double or an integer as `cast` would (see ops.def).
  static Scalar from_double(DType dtype, double value);
  static Scalar from_int(DType dtype, int64_t value);

  template <class T>
  T as() const {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  // The value as a double (rounded for large 64-bit integers).
  double to_double() const;

  friend bool operator==(const Scalar&, const Scalar&) = default;
};

}  // namespace lanewise
