// Sizes: an integer, or a polynomial over named symbols ("n", "2*n + 1").
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lanewise::ir {

// A polynomial with integer coefficients: sorted terms, no zero coefficient. Interned, so two
// equal polynomials have one address.
struct Polynomial;

// Immutable, 16 bytes, cheap to copy. Symbols stand for sizes, hence for integers >= 0. Arithmetic
// throws ShapeError where 64 bits do not hold a number.
class Dim {
 public:
  constexpr Dim(int64_t value = 0) : value_(value) {}  // NOLINT(google-explicit-constructor)
  static Dim symbol(const std::string& name);

  bool is_constant() const { return polynomial_ == nullptr; }
  // The value of a constant; throws InternalError for a symbolic size.
  int64_t value() const;
  bool is(int64_t value) const { return is_constant() && value_ == value; }

  friend bool operator==(const Dim&, const Dim&) = default;
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, const Dim& b);

  // a == quotient * b with an integer quotient, where that can be shown.
  friend std::optional<Dim> exact_quotient(const Dim& a, const Dim& b);
  // a == quotient * b + remainder for b other than 0. The quotient of constants is rounded down;
  // terms of a polynomial that the leading term of `b` does not divide stay in the remainder.
  friend std::pair<Dim, Dim> divide(const Dim& a, const Dim& b);

  // The value with symbols replaced (`values` are pairs of symbol name and value).
  int64_t evaluate(std::span<const std::pair<std::string, int64_t>> values) const;

  // Names of the symbols used, in order of first appearance in the text.
  std::vector<std::string> symbols() const;
  size_t hash() const;
  friend std::string to_string(const Dim& dim);

 private:
  friend struct Polynomial;
  static Dim of(Polynomial polynomial);

  int64_t value_ = 0;
  const Polynomial* polynomial_ = nullptr;
};

// Sizes of an array: an immutable shared list; copying costs a reference count.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<Dim> dims) : Shape(std::vector<Dim>(dims)) {}
  explicit Shape(std::vector<Dim> dims);

  int rank() const { return dims_ ? static_cast<int>(dims_->size()) : 0; }
  const Dim& operator[](int axis) const { return (*dims_)[static_cast<size_t>(axis)]; }
  const Dim* begin() const { return dims_ ? dims_->data() : nullptr; }
  const Dim* end() const { return dims_ ? dims_->data() + dims_->size() : nullptr; }
  Dim element_count() const;
  bool is_constant() const;

  friend bool operator==(const Shape& a, const Shape& b);
  size_t hash() const;
  // "[n,4]"; the empty string for rank 0.
  friend std::string to_string(const Shape& shape);

 private:
  std::shared_ptr<const std::vector<Dim>> dims_;
};

// Strides, in elements, of a row-major array of this shape.
std::vector<Dim> row_major_strides(const Shape& shape);

}  // namespace lanewise::ir
