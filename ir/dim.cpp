#include "ir/dim.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "ir/dim_terms.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

namespace {

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw ShapeError(format("size: {} + {} overflows", a, b));
  return sum;
}

int64_t checked_multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw ShapeError(format("size: {} * {} overflows", a, b));
  }
  return product;
}

}  // namespace

// A product of symbols, sorted, with repetition; empty for the constant term.
using Monomial = std::vector<std::string>;

struct Polynomial {
  std::map<Monomial, int64_t> terms;

  auto operator<=>(const Polynomial&) const = default;

  static Polynomial of(const Dim& dim) {
    if (dim.polynomial_) return *dim.polynomial_;
    Polynomial result;
    result.add({}, dim.value_);
    return result;
  }

  void add(const Monomial& monomial, int64_t coefficient) {
    const auto term = terms.try_emplace(monomial, 0).first;
    term->second = checked_add(term->second, coefficient);
    if (term->second == 0) terms.erase(term);
  }
};

Dim Dim::of(Polynomial polynomial) {
  if (polynomial.terms.empty()) return Dim(0);
  if (polynomial.terms.size() == 1 && polynomial.terms.begin()->first.empty()) {
    return Dim(polynomial.terms.begin()->second);
  }
  static std::mutex mutex;
  // Never destroyed: sizes may outlive static destruction.
  static auto& interned = *new std::set<Polynomial>;
  const std::lock_guard lock(mutex);
  Dim dim;
  dim.polynomial_ = &*interned.insert(std::move(polynomial)).first;
  return dim;
}

Dim Dim::symbol(const std::string& name) {
  Polynomial polynomial;
  polynomial.add({name}, 1);
  return of(std::move(polynomial));
}

int64_t Dim::value() const {
  if (polynomial_) {
    throw UnsupportedError(format(
        "the value of size '{}' is needed, which only calls of the compiled function have", *this));
  }
  return value_;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_add(a.value_, b.value_);
  Polynomial sum = Polynomial::of(a);
  for (const auto& [monomial, coefficient] : Polynomial::of(b).terms) {
    sum.add(monomial, coefficient);
  }
  return Dim::of(std::move(sum));
}

Dim operator-(const Dim& a, const Dim& b) { return a + Dim(-1) * b; }

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return checked_multiply(a.value_, b.value_);
  Polynomial product;
  for (const auto& [left, left_coefficient] : Polynomial::of(a).terms) {
    for (const auto& [right, right_coefficient] : Polynomial::of(b).terms) {
      Monomial merged;
      std::ranges::merge(left, right, std::back_inserter(merged));
      product.add(merged, checked_multiply(left_coefficient, right_coefficient));
    }
  }
  return Dim::of(std::move(product));
}

namespace {

int64_t floored_quotient(int64_t a, int64_t b) {
  return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
}

// By degree, so that the leading term of a product is the product of the leading terms.
bool precedes(const Monomial& x, const Monomial& y) {
  return x.size() != y.size() ? x.size() > y.size() : x < y;
}

}  // namespace

std::pair<Dim, Dim> divide(const Dim& a, const Dim& b) {
  if (b.is(0)) throw InternalError("size divided by zero");
  if (a.is_constant() && b.is_constant()) {
    const int64_t quotient = floored_quotient(a.value_, b.value_);
    return {quotient, a.value_ - quotient * b.value_};
  }
  const Polynomial divisor = Polynomial::of(b);
  const auto& [lead, lead_coefficient] = *std::ranges::min_element(
      divisor.terms, precedes, [](const auto& term) { return term.first; });
  Polynomial rest = Polynomial::of(a);
  Polynomial quotient;
  Polynomial remainder;
  while (!rest.terms.empty()) {
    const auto [monomial, coefficient] = *std::ranges::min_element(
        rest.terms, precedes, [](const auto& term) { return term.first; });
    const int64_t whole =
        monomial.empty()
            ? floored_quotient(coefficient, lead_coefficient)
            : (coefficient % lead_coefficient == 0 ? coefficient / lead_coefficient : 0);
    if (whole == 0 || !std::ranges::includes(monomial, lead)) {
      remainder.add(monomial, coefficient);
      rest.add(monomial, -coefficient);
      continue;
    }
    Monomial remaining;
    std::ranges::set_difference(monomial, lead, std::back_inserter(remaining));
    quotient.add(remaining, whole);
    for (const auto& [other, other_coefficient] : divisor.terms) {
      Monomial product;
      std::ranges::merge(remaining, other, std::back_inserter(product));
      rest.add(product, -whole * other_coefficient);
    }
    // What division with a remainder of constants leaves of the leading term.
    const auto left = rest.terms.find(monomial);
    if (left != rest.terms.end()) {
      remainder.add(monomial, left->second);
      rest.terms.erase(left);
    }
  }
  return {Dim::of(std::move(quotient)), Dim::of(std::move(remainder))};
}

std::optional<Dim> exact_quotient(const Dim& a, const Dim& b) {
  if (b.is(0)) return std::nullopt;
  const auto [quotient, remainder] = divide(a, b);
  if (!remainder.is(0)) return std::nullopt;
  return quotient;
}

int64_t Dim::evaluate(std::span<const std::pair<std::string, int64_t>> values) const {
  if (!polynomial_) return value_;
  int64_t sum = 0;
  for (const auto& [monomial, coefficient] : polynomial_->terms) {
    int64_t product = coefficient;
    for (const auto& name : monomial) {
      const auto found = std::ranges::find(values, name, &std::pair<std::string, int64_t>::first);
      if (found == values.end()) throw InternalError(format("size '{}' has no value", name));
      product = checked_multiply(product, found->second);
    }
    sum = checked_add(sum, product);
  }
  return sum;
}

std::vector<std::string> Dim::symbols() const {
  std::vector<std::string> names;
  if (!polynomial_) return names;
  for (const auto& [monomial, coefficient] : polynomial_->terms) {
    for (const auto& name : monomial) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

std::vector<DimTerm> terms(const Dim& dim) {
  std::vector<DimTerm> result;
  for (const auto& [monomial, coefficient] : Polynomial::of(dim).terms) {
    result.push_back({coefficient, monomial});
  }
  return result;
}

size_t Dim::hash() const {
  return std::hash<int64_t>{}(value_) ^
         (std::hash<const void*>{}(polynomial_) * 0x9e3779b97f4a7c15);
}

// "n", "2*n*m", "n - 1": the constant term last.
std::string to_string(const Dim& dim) {
  if (dim.is_constant()) return format("{}", dim.value());
  const Polynomial polynomial = Polynomial::of(dim);
  std::string text;
  const auto append = [&](const Monomial& monomial, int64_t coefficient) {
    if (!text.empty()) {
      text += coefficient < 0 ? " - " : " + ";
    } else if (coefficient < 0) {
      text += "-";
    }
    const uint64_t magnitude =
        coefficient < 0 ? -static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
    std::string product;
    if (magnitude != 1 || monomial.empty()) product = format("{}", magnitude);
    for (const auto& name : monomial) product += (product.empty() ? "" : "*") + name;
    text += product;
  };
  for (const auto& [monomial, coefficient] : polynomial.terms) {
    if (!monomial.empty()) append(monomial, coefficient);
  }
  const auto constant = polynomial.terms.find({});
  if (constant != polynomial.terms.end()) append({}, constant->second);
  return text;
}

Shape::Shape(std::vector<Dim> dims) {
  if (!dims.empty()) dims_ = std::make_shared<const std::vector<Dim>>(std::move(dims));
}

Dim Shape::element_count() const {
  Dim count = 1;
  for (const Dim& dim : *this) count = count * dim;
  return count;
}

bool Shape::is_constant() const {
  return std::ranges::all_of(*this, [](const Dim& dim) { return dim.is_constant(); });
}

bool operator==(const Shape& a, const Shape& b) {
  return a.dims_ == b.dims_ || std::ranges::equal(a, b);
}

size_t Shape::hash() const {
  size_t hash = static_cast<size_t>(rank());
  for (const Dim& dim : *this) hash = hash * 31 + dim.hash();
  return hash;
}

std::string to_string(const Shape& shape) {
  if (shape.rank() == 0) return "";
  std::string text = "[";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ",";
    text += to_string(shape[axis]);
  }
  return text + "]";
}

std::vector<Dim> row_major_strides(const Shape& shape) {
  std::vector<Dim> strides(static_cast<size_t>(shape.rank()));
  Dim stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride = stride * shape[axis];
  }
  return strides;
}

}  // namespace lanewise::ir
