// The meaning of each primitive on one element: `element::Add{}(a, b)`, one function object a
// primitive, named as its row in ops.def. A primitive can be called on the dtypes that its row
// accepts. These definitions are what machine code is compared with.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

namespace lanewise::ir::element {

template <class T>
concept Bool = std::same_as<T, bool>;
template <class T>
concept Int = std::integral<T> && !Bool<T>;
template <class T>
concept Float = std::floating_point<T>;
template <class T>
concept Real = Int<T> || Float<T>;
template <class T>
concept Integral = Int<T> || Bool<T>;
template <class T>
concept Any = Real<T> || Bool<T>;

template <class T>
inline constexpr int kWidth = static_cast<int>(sizeof(T) * 8);

// Integers as 64 bits, sign extended: arithmetic on these wraps, and so does the way back.
template <Int T>
constexpr uint64_t wide(T a) {
  return static_cast<uint64_t>(a);
}

// ---- arithmetic --------------------------------------------------------------------------

struct Add {
  template <Any T>
  T operator()(T a, T b) const {
    if constexpr (Bool<T>)
      return a || b;
    else if constexpr (Int<T>)
      return static_cast<T>(wide(a) + wide(b));
    else
      return a + b;
  }
};

struct Subtract {
  template <Real T>
  T operator()(T a, T b) const {
    if constexpr (Int<T>)
      return static_cast<T>(wide(a) - wide(b));
    else
      return a - b;
  }
};

struct Multiply {
  template <Any T>
  T operator()(T a, T b) const {
    if constexpr (Bool<T>)
      return a && b;
    else if constexpr (Int<T>)
      return static_cast<T>(wide(a) * wide(b));
    else
      return a * b;
  }
};

struct Divide {
  template <Float T>
  T operator()(T a, T b) const {
    return a / b;
  }
};

struct Negative {
  template <Real T>
  T operator()(T a) const {
    if constexpr (Int<T>)
      return static_cast<T>(-wide(a));
    else
      return -a;
  }
};

struct Absolute {
  template <Any T>
  T operator()(T a) const {
    if constexpr (Float<T>)
      return std::fabs(a);
    else if constexpr (std::signed_integral<T>)
      return a < 0 ? static_cast<T>(-wide(a)) : a;
    else
      return a;
  }
};

struct Sqrt {
  template <Float T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};

struct Fma {
  template <Float T>
  T operator()(T a, T b, T c) const {
    return std::fma(a, b, c);
  }
};

struct Minimum {
  template <Any T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>) {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
      if (a == b) return std::signbit(a) ? a : b;
    }
    return a < b ? a : b;
  }
};

struct Maximum {
  template <Any T>
  T operator()(T a, T b) const {
    if constexpr (Float<T>) {
      if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
      if (a == b) return std::signbit(a) ? b : a;
    }
    return a > b ? a : b;
  }
};

struct Quotient {
  template <Int T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    if constexpr (std::signed_integral<T>) {
      if (b == -1) return Negative{}(a);
    }
    return static_cast<T>(a / b);
  }
};

struct MultiplyHigh {
  template <Int T>
  T operator()(T a, T b) const {
    __extension__ using Wide =
        std::conditional_t<std::signed_integral<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> kWidth<T>);
  }
};

// ---- rounding to an integer --------------------------------------------------------------

struct Floor {
  template <Float T>
  T operator()(T a) const {
    return std::floor(a);
  }
};

struct Ceil {
  template <Float T>
  T operator()(T a) const {
    return std::ceil(a);
  }
};

struct Trunc {
  template <Float T>
  T operator()(T a) const {
    return std::trunc(a);
  }
};

struct Round {
  template <Float T>
  T operator()(T a) const {
    return std::nearbyint(a);  // ties to even in the default rounding mode
  }
};

// ---- comparison --------------------------------------------------------------------------

struct Equal {
  template <Any T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};

struct NotEqual {
  template <Any T>
  bool operator()(T a, T b) const {
    return a != b;
  }
};

struct Less {
  template <Any T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};

struct LessEqual {
  template <Any T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};

struct Greater {
  template <Any T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};

struct GreaterEqual {
  template <Any T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};

// ---- bits --------------------------------------------------------------------------------

struct BitwiseAnd {
  template <Integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitwiseOr {
  template <Integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitwiseXor {
  template <Integral T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

struct BitwiseInvert {
  template <Integral T>
  T operator()(T a) const {
    if constexpr (Bool<T>)
      return !a;
    else
      return static_cast<T>(~a);
  }
};

// A count below 0 or of at least the width.
template <Int T>
constexpr bool shifts_out(T count) {
  return count < 0 || wide(count) >= kWidth<T>;
}

struct ShiftLeft {
  template <Int T>
  T operator()(T a, T count) const {
    return shifts_out(count) ? T{0} : static_cast<T>(wide(a) << count);
  }
};

struct ShiftRight {
  template <Int T>
  T operator()(T a, T count) const {
    if (shifts_out(count)) return static_cast<T>(a < 0 ? -1 : 0);
    return static_cast<T>(a >> count);
  }
};

// ---- choice, conversion ------------------------------------------------------------------

struct Select {
  template <Any T>
  T operator()(bool mask, T yes, T no) const {
    return mask ? yes : no;
  }
};

struct Rare {
  template <Any T>
  T operator()(bool mask, T common, T rare) const {
    return mask ? rare : common;
  }
};

struct Cast {
  template <Any To, Any From>
  static To apply(From a) {
    if constexpr (Bool<To>)
      return a != From{0};
    else if constexpr (Int<To> && Float<From>)
      return saturate<To>(a);
    else
      return static_cast<To>(a);
  }

 private:
  template <Int To, Float From>
  static To saturate(From a) {
    using Limits = std::numeric_limits<To>;
    if (std::isnan(a)) return 0;
    // 2^digits is exact in every float, unlike max() itself.
    if (a >= std::ldexp(From{1}, Limits::digits)) return Limits::max();
    if (a <= static_cast<From>(Limits::min())) return Limits::min();
    return static_cast<To>(a);
  }
};

struct Bitcast {
  template <Real To, Real From>
    requires(sizeof(To) == sizeof(From))
  static To apply(From a) {
    return std::bit_cast<To>(a);
  }
};

struct TableLookup {
  template <Int T>
  static uint64_t apply(T index, std::span<const uint64_t> entries) {
    return entries[wide(index) & (entries.size() - 1)];
  }
};

struct Scale2 {
  template <Float T>
  T operator()(T a, T exponent) const {
    if (std::isnan(exponent)) return exponent;
    return std::scalbn(a, static_cast<int>(std::clamp(exponent, T{-4096}, T{4096})));
  }
};

}  // namespace lanewise::ir::element
