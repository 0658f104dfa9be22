// Numbers, names and strings in IR text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/dtype.h"

namespace lanewise::ir::detail {

// The shortest text that reads back as the same bits.
std::string literal(Scalar value);
// What `literal` writes, integers of other bases excepted; hexadecimal floats ("0x1.8p-3") too.
// Nothing if the text is no number of that dtype, or one out of its range.
std::optional<Scalar> parse_literal(DType dtype, std::string_view text);

// "abc" with escapes for quotes, backslashes and control characters, and back. The text to read
// includes its quotes; nothing if an escape is malformed.
std::string quote(std::string_view text);
std::optional<std::string> unquote(std::string_view text);

// Letters, digits, underscores and dots, not beginning with a digit or a dot.
bool is_identifier(std::string_view name);
bool is_identifier_start(char c);
bool is_identifier_part(char c);
// The name itself, or quoted if it is no identifier.
std::string name_text(std::string_view name);

}  // namespace lanewise::ir::detail
