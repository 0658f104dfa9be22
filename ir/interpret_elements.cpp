// Elementwise primitives over rows of elements.
#include "ir/element.h"
#include "ir/interpret.h"
#include "support/error.h"
#include "support/format.h"

namespace lanewise::ir {

namespace {

struct Row {
  const Node& node;
  DType operand_dtype;
  std::span<const std::byte* const> operands;
  std::byte* result;
  int64_t count;

  template <class T>
  const T* operand(size_t index) const {
    return reinterpret_cast<const T*>(operands[index]);
  }
  [[noreturn]] void refuse() const {
    throw InternalError(format("{}: no meaning for {}", node.op, operand_dtype));
  }
};

template <class R, class F>
void fill(const Row& row, F element) {
  R* const result = reinterpret_cast<R*>(row.result);
  for (int64_t i = 0; i < row.count; ++i) result[i] = element(i);
}

// Ops whose operands tell the result's dtype.
template <class F>
void run(F f, const Row& row) {
  visit_dtype(row.operand_dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_invocable_v<F, T>) {
      const T* a = row.operand<T>(0);
      fill<std::invoke_result_t<F, T>>(row, [&](int64_t i) { return f(a[i]); });
    } else if constexpr (std::is_invocable_v<F, T, T>) {
      const T* a = row.operand<T>(0);
      const T* b = row.operand<T>(1);
      fill<std::invoke_result_t<F, T, T>>(row, [&](int64_t i) { return f(a[i], b[i]); });
    } else if constexpr (std::is_same_v<F, element::Fma> && element::Float<T>) {
      const T* a = row.operand<T>(0);
      const T* b = row.operand<T>(1);
      const T* c = row.operand<T>(2);
      fill<T>(row, [&](int64_t i) { return f(a[i], b[i], c[i]); });
    } else if constexpr (std::is_invocable_v<F, bool, T, T>) {
      const bool* mask = row.operand<bool>(0);
      const T* b = row.operand<T>(1);
      const T* c = row.operand<T>(2);
      fill<T>(row, [&](int64_t i) { return f(mask[i], b[i], c[i]); });
    } else {
      row.refuse();
    }
  });
}

template <class F>
void convert(const Row& row) {
  visit_dtype(row.operand_dtype, [&](auto from) {
    using From = decltype(from);
    visit_dtype(row.node.dtype, [&](auto to) {
      using To = decltype(to);
      if constexpr (requires { F::template apply<To>(from); }) {
        const From* a = row.operand<From>(0);
        fill<To>(row, [&](int64_t i) { return F::template apply<To>(a[i]); });
      } else {
        row.refuse();
      }
    });
  });
}

void run(element::Cast, const Row& row) { convert<element::Cast>(row); }
void run(element::Bitcast, const Row& row) { convert<element::Bitcast>(row); }

void run(element::TableLookup, const Row& row) {
  const Table& table = *row.node.get<const Table*>();
  const auto bytes = static_cast<size_t>(size_of(table.dtype));
  visit_dtype(row.operand_dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (element::Int<T>) {
      const T* index = row.operand<T>(0);
      for (int64_t i = 0; i < row.count; ++i) {
        const uint64_t entry = element::TableLookup::apply(index[i], table.entries);
        std::memcpy(row.result + static_cast<size_t>(i) * bytes, &entry, bytes);
      }
    } else {
      row.refuse();
    }
  });
}

}  // namespace

void interpret_elements(const Node& node, DType operand_dtype,
                        std::span<const std::byte* const> operands, std::byte* result,
                        int64_t count) {
  const Row row{node, operand_dtype, operands, result, count};
  switch (node.op) {
#define PRIMITIVE(id, name, emitter, ...) \
  case Op::k##id:                         \
    return run(element::id{}, row);
#define STRUCTURAL(id, name, ...) case Op::k##id:
#define COMPOSITE(id, name, expansion, ...) case Op::k##id:
#include "ir/ops.def"
#undef PRIMITIVE
#undef STRUCTURAL
#undef COMPOSITE
    throw InternalError(format("{}: not a primitive", node.op));
  }
}

Scalar interpret_element(const Node& node, std::span<const Scalar> operands) {
  std::array<const std::byte*, kMaxArity> pointers{};
  for (size_t i = 0; i < operands.size(); ++i) {
    pointers[i] = reinterpret_cast<const std::byte*>(&operands[i].bits);
  }
  Scalar result{node.dtype, 0};
  interpret_elements(node, operands.back().dtype, {pointers.data(), operands.size()},
                     reinterpret_cast<std::byte*>(&result.bits), 1);
  return result;
}

}  // namespace lanewise::ir
