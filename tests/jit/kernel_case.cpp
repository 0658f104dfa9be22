#include "kernel_case.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "ir/interpret.h"
#include "reference_rows.h"
#include "runtime/cpu.h"
#include "support/format.h"

namespace lanewise::jit::test {

std::vector<Target> targets() {
  std::vector<Target> result{Target::kX86_64_v3};
  if (runtime::isa_level() == runtime::IsaLevel::kX86_64_v4) result.push_back(Target::kX86_64_v4);
  return result;
}

GuardedMemory::GuardedMemory(size_t bytes, bool at_end) {
  const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t inside = (std::max<size_t>(bytes, 1) + page - 1) / page * page;
  mapped_ = inside + 2 * page;
  mapping_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  auto* const start = static_cast<std::byte*>(mapping_) + page;
  mprotect(start, inside, PROT_READ | PROT_WRITE);
  data_ = at_end ? start + inside - bytes : start;
}

GuardedMemory::~GuardedMemory() { munmap(mapping_, mapped_); }

namespace {

template <class T>
T special_value(std::mt19937_64& random) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>) {
    return random() % 2 == 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    const T values[] = {T(0),
                        -T(0),
                        T(1),
                        T(-1),
                        T(.5),
                        T(-2.5),
                        T(1.5),
                        Limits::infinity(),
                        -Limits::infinity(),
                        Limits::quiet_NaN(),
                        Limits::denorm_min(),
                        -Limits::denorm_min(),
                        Limits::min(),
                        Limits::max(),
                        Limits::lowest(),
                        T(127),
                        T(128),
                        T(-129),
                        T(255.5),
                        T(65536),
                        T(2147483648.0),
                        T(-2147483648.0),
                        T(4294967296.0),
                        T(9223372036854775808.0),
                        T(18446744073709551616.0),
                        T(-9223372036854775808.0),
                        T(1e-300)};
    return values[random() % std::size(values)];
  } else {
    const T values[] = {
        T(0),  T(1),  T(-1), T(2),  T(7), T(-8), Limits::min(), Limits::max(), T(Limits::max() - 1),
        T(31), T(32), T(63), T(64), T(8)};
    return values[random() % std::size(values)];
  }
}

// Of a size that does not overflow at once.
template <class T>
T ordinary_value(std::mt19937_64& random) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(std::ldexp(static_cast<double>(random() >> 11) - 0x1p52,
                                     static_cast<int>(random() % 24) - 60));
  } else {
    return static_cast<T>(random());
  }
}

}  // namespace

Scalar random_value(DType dtype, std::mt19937_64& random) {
  return visit_dtype(dtype, [&](auto zero) {
    using T = decltype(zero);
    const uint64_t kind = random() % 8;
    if constexpr (std::is_floating_point_v<T>) {
      if (kind == 0) {
        using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
        return Scalar::of(std::bit_cast<T>(static_cast<Bits>(random())));
      }
    }
    if (kind <= 2) return Scalar::of(special_value<T>(random));
    if constexpr (std::is_same_v<T, bool>) {
      return Scalar::of(random() % 2 == 0);
    } else {
      return Scalar::of(ordinary_value<T>(random));
    }
  });
}

KernelCase::KernelCase(std::vector<int64_t> domain, int reduced) : domain_(std::move(domain)) {
  kernel_.name = "test";
  kernel_.domain = ir::Shape(std::vector<ir::Dim>(domain_.begin(), domain_.end()));
  kernel_.reduced = reduced;
}

int KernelCase::add_operand(Operand operand) {
  ir::Operand in_kernel;
  in_kernel.buffer = operand.memory < 0 ? ir::Operand::kIndex : operand.memory;
  ir::AxisIndex axis;
  for (size_t loop = 0; loop < domain_.size(); ++loop) {
    if (operand.strides[loop] != 0) {
      axis.terms.push_back({static_cast<int>(loop), ir::Dim(operand.strides[loop])});
    }
  }
  in_kernel.axes.push_back(axis);
  if (operand.memory >= static_cast<int>(program_.buffers.size())) {
    program_.buffers.emplace_back().dtype = operand.dtype;
  }
  kernel_.operands.push_back(std::move(in_kernel));
  operands_.push_back(std::move(operand));
  return static_cast<int>(operands_.size()) - 1;
}

ir::Expr KernelCase::leaf(ir::Op op, DType dtype) {
  const int slot = static_cast<int>(operands_.size()) - 1;
  return expr(
      kernel_.body.append({.op = op, .dtype = dtype, .shape = {}, .attribute = ir::Slot{slot}}));
}

ir::Expr KernelCase::load(DType dtype, std::vector<int64_t> strides) {
  add_operand({dtype, std::move(strides), memories()});
  return leaf(ir::Op::kLoad, dtype);
}

ir::Expr KernelCase::load_beside(const ir::Expr& of, int64_t offset) {
  Operand operand = operands_[static_cast<size_t>(of.node().get<ir::Slot>().index)];
  operand.offset += offset;
  const DType dtype = operand.dtype;
  add_operand(std::move(operand));
  return leaf(ir::Op::kLoad, dtype);
}

ir::Expr KernelCase::index(DType dtype, int64_t start, std::vector<int64_t> steps) {
  add_operand({dtype, std::move(steps), -1, start});
  return leaf(ir::Op::kIota, dtype);
}

ir::Expr KernelCase::scalar(Scalar value) {
  scalars_.push_back(value);
  kernel_.scalars.push_back(static_cast<int>(scalars_.size()) - 1);
  program_.scalars.push_back(value.dtype);
  return expr(builder_.scalar(value.dtype));
}

void KernelCase::store(const ir::Expr& value, std::vector<int64_t> strides) {
  const int operand = add_operand({value.dtype(), std::move(strides), memories(), 0, true});
  kernel_.stores.push_back({operand, value.value()});
}

void KernelCase::store_in_place(const ir::Expr& value, const ir::Expr& over) {
  Operand operand = operands_[static_cast<size_t>(over.node().get<ir::Slot>().index)];
  operand.written = true;
  kernel_.stores.push_back({add_operand(std::move(operand)), value.value()});
}

int64_t KernelCase::points() const {
  return std::accumulate(domain_.begin(), domain_.end(), int64_t{1}, std::multiplies<>());
}

int KernelCase::memories() const {
  int count = 0;
  for (const Operand& operand : operands_) count = std::max(count, operand.memory + 1);
  return count;
}

// By point: which element of its memory an operand is at.
std::vector<int64_t> KernelCase::offsets(const Operand& operand) const {
  std::vector<int64_t> result;
  std::vector<int64_t> at(domain_.size(), 0);
  for (int64_t point = 0; point < points(); ++point) {
    result.push_back(
        std::inner_product(at.begin(), at.end(), operand.strides.begin(), operand.offset));
    for (size_t loop = domain_.size(); loop-- > 0;) {
      if (++at[loop] < domain_[loop]) break;
      at[loop] = 0;
    }
  }
  return result;
}

KernelCase::Extent KernelCase::extent(int memory) const {
  Extent extent{DType::kBool, INT64_MAX, INT64_MIN};
  for (const Operand& operand : operands_) {
    if (operand.memory != memory) continue;
    extent.dtype = operand.dtype;
    for (const int64_t offset : offsets(operand)) {
      extent.lowest = std::min(extent.lowest, offset);
      extent.highest = std::max(extent.highest, offset);
    }
  }
  return extent;
}

runtime::Nest KernelCase::nest(const std::vector<std::byte*>& memories) const {
  runtime::Nest nest{.sizes = domain_, .reduced = kernel_.reduced, .operands = {}};
  for (const Operand& operand : operands_) {
    runtime::NestOperand& in_nest = nest.operands.emplace_back();
    in_nest.written = operand.written;
    in_nest.strides = operand.strides;
    in_nest.base = operand.offset;
    if (operand.memory < 0) continue;
    const Extent range = extent(operand.memory);
    in_nest.element_size = size_of(operand.dtype);
    for (int64_t& stride : in_nest.strides) stride *= in_nest.element_size;
    const std::byte* const start = memories[static_cast<size_t>(operand.memory)];
    in_nest.base =
        reinterpret_cast<intptr_t>(start) + (operand.offset - range.lowest) * in_nest.element_size;
  }
  return simplify(std::move(nest));
}

runtime::Layout KernelCase::layout() const {
  std::vector<std::byte*> addresses;
  for (int i = 0; i < memories(); ++i) {
    addresses.push_back(reinterpret_cast<std::byte*>(intptr_t{i + 1} << 32));
  }
  runtime::Layout layout = classify(nest(addresses));
  layout.streaming = streaming_;
  layout.long_rows = long_rows_;
  return layout;
}

std::vector<KernelCase::Image> KernelCase::random_images(uint64_t seed) const {
  std::mt19937_64 random(seed);
  std::vector<Image> images;
  for (int i = 0; i < memories(); ++i) {
    const Extent range = extent(i);
    const auto size = static_cast<size_t>(size_of(range.dtype));
    const auto count = static_cast<size_t>(range.highest - range.lowest + 1);
    Image image(count * size);
    for (size_t j = 0; j < count; ++j) {
      const Scalar value = random_value(range.dtype, random);
      std::memcpy(image.data() + j * size, &value.bits, size);
    }
    images.push_back(std::move(image));
  }
  return images;
}

std::vector<KernelCase::Image> KernelCase::expected(const std::vector<Image>& images) const {
  const auto count = static_cast<size_t>(points());
  int64_t row = 1;
  for (size_t loop = domain_.size() - static_cast<size_t>(kernel_.reduced); loop < domain_.size();
       ++loop) {
    row *= domain_[loop];
  }
  ReferenceRows rows(kernel_.body, static_cast<int64_t>(count), row);
  for (const ir::Node& node : kernel_.body.nodes()) {
    if (node.op == ir::Op::kScalar) {
      rows.append_constant(node, scalars_[static_cast<size_t>(node.get<ir::Slot>().index)]);
    } else if (node.op == ir::Op::kLoad || node.op == ir::Op::kIota) {
      const Operand& operand = operands_[static_cast<size_t>(node.get<ir::Slot>().index)];
      const std::vector<int64_t> at = offsets(operand);
      const int64_t lowest = operand.memory < 0 ? 0 : extent(operand.memory).lowest;
      std::vector<Scalar> values;
      for (const int64_t offset : at) {
        if (operand.memory < 0) {
          values.push_back(Scalar::from_int(node.dtype, offset));
          continue;
        }
        Scalar value{node.dtype, 0};
        const auto size = static_cast<size_t>(size_of(node.dtype));
        const int64_t element = offset - lowest;
        std::memcpy(&value.bits,
                    images[static_cast<size_t>(operand.memory)].data() +
                        static_cast<size_t>(element) * size,
                    size);
        values.push_back(value);
      }
      rows.append_values(node, values);
    } else {
      rows.append_computed(node);
    }
  }
  std::vector<Image> result = images;
  for (const ir::Store& store : kernel_.stores) {
    const Operand& operand = operands_[static_cast<size_t>(store.operand)];
    const auto size = static_cast<size_t>(size_of(operand.dtype));
    const int64_t lowest = extent(operand.memory).lowest;
    const std::vector<int64_t> at = offsets(operand);
    for (size_t point = 0; point < count; ++point) {
      const Scalar value = rows.at(store.value, static_cast<int64_t>(point));
      std::memcpy(result[static_cast<size_t>(operand.memory)].data() +
                      static_cast<size_t>(at[point] - lowest) * size,
                  &value.bits, size);
    }
  }
  return result;
}

namespace {

bool same_element(DType dtype, const std::byte* a, const std::byte* b) {
  const auto size = static_cast<size_t>(size_of(dtype));
  if (std::memcmp(a, b, size) == 0) return true;
  if (!is_float(dtype)) return false;
  Scalar x{dtype, 0};
  Scalar y{dtype, 0};
  std::memcpy(&x.bits, a, size);
  std::memcpy(&y.bits, b, size);
  return std::isnan(x.to_double()) && std::isnan(y.to_double());
}

std::string hex(const std::byte* bytes, int count) {
  std::string text;
  for (int i = count; i-- > 0;) {
    const auto value = std::to_integer<unsigned>(bytes[i]);
    text += "0123456789abcdef"[value >> 4];
    text += "0123456789abcdef"[value & 15];
  }
  return text;
}

}  // namespace

std::string KernelCase::run_once(Target target, const std::vector<Image>& before,
                                 const std::vector<Image>& expected, bool at_end) const {
  std::vector<std::unique_ptr<GuardedMemory>> memory;
  std::vector<std::byte*> addresses;
  for (const Image& image : before) {
    memory.push_back(std::make_unique<GuardedMemory>(image.size(), at_end));
    std::ranges::copy(image, memory.back()->data());
    addresses.push_back(memory.back()->data());
  }
  const runtime::Nest nest = this->nest(addresses);
  const std::shared_ptr<const Code> code = compile(kernel_, program_, layout(), target);
  std::vector<intptr_t> bases;
  std::vector<int64_t> strides;
  std::vector<uint64_t> scalars;
  for (const runtime::NestOperand& operand : nest.operands) {
    bases.push_back(operand.base);
    strides.insert(strides.end(), operand.strides.begin(), operand.strides.end());
  }
  for (const Scalar& scalar : scalars_) scalars.push_back(scalar.bits);
  const runtime::KernelArguments arguments{bases.data(), strides.data(), nest.sizes.data(),
                                           scalars.data()};
  code->entry()(&arguments);

  for (size_t i = 0; i < before.size(); ++i) {
    const DType dtype = extent(static_cast<int>(i)).dtype;
    const int size = size_of(dtype);
    for (size_t j = 0; j * static_cast<size_t>(size) < before[i].size(); ++j) {
      const std::byte* const got = addresses[i] + j * static_cast<size_t>(size);
      const std::byte* const wanted = expected[i].data() + j * static_cast<size_t>(size);
      if (same_element(dtype, got, wanted)) continue;
      return format("{}: array {} ({}) element {}: {} instead of {}, was {}", to_string(target), i,
                    dtype, j, hex(got, size), hex(wanted, size),
                    hex(before[i].data() + j * static_cast<size_t>(size), size));
    }
  }
  return "";
}

std::string KernelCase::run(Target target, uint64_t seed) {
  const std::vector<Image> before = random_images(seed);
  const std::vector<Image> after = expected(before);
  for (const bool at_end : {true, false}) {
    std::string difference = run_once(target, before, after, at_end);
    if (!difference.empty()) return difference;
  }
  return "";
}

}  // namespace lanewise::jit::test
