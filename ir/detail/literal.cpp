#include "ir/detail/literal.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "support/format.h"

namespace lanewise::ir::detail {

namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T>
constexpr T kQuietNan = std::numeric_limits<T>::quiet_NaN();

std::string hexadecimal(uint64_t bits) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, bits, 16).ptr;
  return "0x" + std::string(text, end);
}

template <class T>
std::string float_literal(T value) {
  const auto bits = std::bit_cast<BitsOf<T>>(value);
  if (std::isnan(value)) {
    return bits == std::bit_cast<BitsOf<T>>(kQuietNan<T>) ? "nan"
                                                          : "nan(" + hexadecimal(bits) + ")";
  }
  std::string text = format("{}", value);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::optional<T> parse_number(std::string_view text, std::chars_format style) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, style);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> parse_integer(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class T>
std::optional<T> parse_nan(std::string_view text) {
  if (text == "nan") return kQuietNan<T>;
  if (!text.starts_with("nan(0x") || !text.ends_with(")")) return std::nullopt;
  const auto bits = parse_integer<BitsOf<T>>(text.substr(6, text.size() - 7), 16);
  if (!bits || !std::isnan(std::bit_cast<T>(*bits))) return std::nullopt;
  return std::bit_cast<T>(*bits);
}

template <class T>
std::optional<T> parse_float(std::string_view text) {
  if (const auto nan = parse_nan<T>(text)) return nan;
  const bool negative = text.starts_with("-");
  std::string_view magnitude = text.substr(negative ? 1 : 0);
  if (magnitude.starts_with("-")) return std::nullopt;
  std::optional<T> value;
  if (magnitude == "inf") {
    value = std::numeric_limits<T>::infinity();
  } else if (magnitude.starts_with("0x")) {
    value = parse_number<T>(magnitude.substr(2), std::chars_format::hex);
  } else if (!magnitude.starts_with("i") && !magnitude.starts_with("n")) {
    value = parse_number<T>(magnitude, std::chars_format::general);
  }
  if (value && negative) value = -*value;
  return value;
}

}  // namespace

std::string literal(Scalar value) {
  return visit_dtype(value.dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      return float_literal(value.as<T>());
    } else {
      return format("{}", value.as<T>());
    }
  });
}

std::optional<Scalar> parse_literal(DType dtype, std::string_view text) {
  return visit_dtype(dtype, [&](auto zero) -> std::optional<Scalar> {
    using T = decltype(zero);
    std::optional<T> value;
    if constexpr (std::is_same_v<T, bool>) {
      if (text == "true" || text == "false") value = text == "true";
    } else if constexpr (std::is_floating_point_v<T>) {
      value = parse_float<T>(text);
    } else {
      value = parse_integer<T>(text);
    }
    if (!value) return std::nullopt;
    return Scalar::of(*value);
  });
}

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\x";
      out += kDigits[byte / 16];
      out += kDigits[byte % 16];
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::optional<std::string> unquote(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const std::string_view rest = text.substr(i + 1);
    if (rest.starts_with("x")) {
      const auto byte = parse_integer<uint8_t>(rest.substr(1, 2), 16);
      if (!byte || rest.size() < 3) return std::nullopt;
      out += static_cast<char>(*byte);
      i += 3;
    } else if (rest.starts_with("\"") || rest.starts_with("\\")) {
      out += rest[0];
      i += 1;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

bool is_identifier_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_identifier_part(char c) {
  return is_identifier_start(c) || (c >= '0' && c <= '9') || c == '.';
}

bool is_identifier(std::string_view name) {
  if (name.empty() || !is_identifier_start(name[0])) return false;
  for (const char c : name) {
    if (!is_identifier_part(c)) return false;
  }
  return true;
}

std::string name_text(std::string_view name) {
  return is_identifier(name) ? std::string(name) : quote(name);
}

}  // namespace lanewise::ir::detail
