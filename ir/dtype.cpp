#include "ir/dtype.h"

#include "ir/element.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise {

namespace {

struct Names {
  std::string_view text, python;
};

constexpr Names kNames[] = {
#define LANEWISE_DTYPE_NAMES(id, type, text, python) {text, python},
    LANEWISE_DTYPES(LANEWISE_DTYPE_NAMES)
#undef LANEWISE_DTYPE_NAMES
};

DType find(std::string_view name, std::string_view Names::* column) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kNames[i].*column == name) return static_cast<DType>(i);
  }
  throw DTypeError(format("dtype: unknown dtype '{}'", name));
}

}  // namespace

std::string_view text_name(DType d) { return kNames[static_cast<int>(d)].text; }
std::string_view python_name(DType d) { return kNames[static_cast<int>(d)].python; }
DType dtype_from_text_name(std::string_view name) { return find(name, &Names::text); }
DType dtype_from_python_name(std::string_view name) { return find(name, &Names::python); }

namespace {

DType of_width(int bytes, DType first) {
  for (int i = 0; i < 4; ++i) {
    const auto d = static_cast<DType>(static_cast<int>(first) + i);
    if (size_of(d) == bytes) return d;
  }
  throw InternalError(format("no integer of {} bytes", bytes));
}

}  // namespace

DType signed_of_width(int bytes) { return of_width(bytes, DType::kI8); }
DType unsigned_of_width(int bytes) { return of_width(bytes, DType::kU8); }

Scalar Scalar::from_double(DType dtype, double value) {
  return visit_dtype(
      dtype, [&](auto zero) { return of(ir::element::Cast::apply<decltype(zero)>(value)); });
}

Scalar Scalar::from_int(DType dtype, int64_t value) {
  return visit_dtype(
      dtype, [&](auto zero) { return of(ir::element::Cast::apply<decltype(zero)>(value)); });
}

double Scalar::to_double() const {
  return visit_dtype(dtype, [&](auto zero) { return static_cast<double>(as<decltype(zero)>()); });
}

}  // namespace lanewise
