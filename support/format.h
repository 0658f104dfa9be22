// A small `format("{} and {}", a, b)`: libstdc++ 12 has no std::format.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

namespace lanewise {

namespace detail {

template <class T>
void append_value(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    char text[64];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    out.append(text, end);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    out += std::string_view(value);
  } else {
    out += to_string(value);  // found by argument-dependent lookup
  }
}

inline void append_format(std::string& out, std::string_view pattern) { out += pattern; }

template <class T, class... Rest>
void append_format(std::string& out, std::string_view pattern, const T& first,
                   const Rest&... rest) {
  const size_t hole = pattern.find("{}");
  if (hole == std::string_view::npos) {
    out += pattern;
    return;
  }
  out += pattern.substr(0, hole);
  append_value(out, first);
  append_format(out, pattern.substr(hole + 2), rest...);
}

}  // namespace detail

// Replaces each "{}" of `pattern` by the next argument: numbers, strings, and any type with a
// `to_string` in its namespace.
template <class... Args>
std::string format(std::string_view pattern, const Args&... args) {
  std::string out;
  detail::append_format(out, pattern, args...);
  return out;
}

// "(a, b, c)" as Python writes tuples; each element through `format`.
template <class Range>
std::string format_tuple(const Range& range) {
  std::string out = "(";
  size_t count = 0;
  for (const auto& element : range) {
    if (count++ > 0) out += ", ";
    detail::append_value(out, element);
  }
  return out + (count == 1 ? ",)" : ")");
}

}  // namespace lanewise
