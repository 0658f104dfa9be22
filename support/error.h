// Exceptions of the whole engine. A message is "op: facts: cause", lower case, no full stop.
#pragma once

#include <stdexcept>
#include <string>

namespace lanewise {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ShapeError : public Error {
 public:
  using Error::Error;
};

class DTypeError : public Error {
 public:
  using Error::Error;
};

class IndexError : public Error {
 public:
  using Error::Error;
};

// A value that the operation cannot take (a negative exponent of an integer, a malformed text).
class ValueError : public Error {
 public:
  using Error::Error;
};

class UnsupportedError : public Error {
 public:
  using Error::Error;
};

class CompileError : public Error {
 public:
  using Error::Error;
};

// No memory, from the system or within the limit that the user set.
class MemoryError : public Error {
 public:
  using Error::Error;
};

// A broken invariant of ours. `ir` is the text of what was being worked on, for the report.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& what, std::string ir = {})
      : Error("internal error: " + what + " (please report this)"), ir_(std::move(ir)) {}
  const std::string& ir() const { return ir_; }

 private:
  std::string ir_;
};

}  // namespace lanewise
