#include "ir/op.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

namespace lanewise::ir {

namespace {

constexpr OpSpec kTable[] = {
#define STRUCTURAL(id_, name_, ...) \
  OpSpec{.id = #id_, .name = name_, .kind = OpKind::kStructural, __VA_ARGS__},
#define PRIMITIVE(id_, name_, emitter, ...) \
  OpSpec{.id = #id_, .name = name_, .kind = OpKind::kPrimitive, __VA_ARGS__},
#define COMPOSITE(id_, name_, expansion, ...) \
  OpSpec{.id = #id_, .name = name_, .kind = OpKind::kComposite, __VA_ARGS__},
#include "ir/ops.def"
#undef STRUCTURAL
#undef PRIMITIVE
#undef COMPOSITE
};

static_assert(std::ranges::all_of(kTable, [](const OpSpec& row) { return !row.doc.empty(); }));

}  // namespace

const OpSpec& spec(Op op) { return kTable[static_cast<size_t>(op)]; }

std::span<const OpSpec> op_table() { return kTable; }

bool contains(DTypeSet set, DType dtype) {
  const DTypeSet one = is_bool(dtype)           ? kBools
                       : is_signed_int(dtype)   ? kSigned
                       : is_unsigned_int(dtype) ? kUnsigned
                                                : kFloats;
  return (set & one) != 0;
}

Op mirrored(Op op) {
  switch (op) {
    case Op::kLess:
      return Op::kGreater;
    case Op::kLessEqual:
      return Op::kGreaterEqual;
    case Op::kGreater:
      return Op::kLess;
    case Op::kGreaterEqual:
      return Op::kLessEqual;
    default:
      return op;
  }
}

bool find_op(std::string_view name, Op& out) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, Op> map;
    for (size_t i = 0; i < std::size(kTable); ++i) map[kTable[i].name] = static_cast<Op>(i);
    return map;
  }();
  const auto found = by_name.find(name);
  if (found == by_name.end()) return false;
  out = found->second;
  return true;
}

}  // namespace lanewise::ir
