#include "tests/support/random_values.h"

#include <limits>

namespace lanewise::test {

int64_t uniform(Random& random, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

std::vector<Scalar> special_values(DType dtype) {
  return visit_dtype(dtype, [](auto zero) -> std::vector<Scalar> {
    using T = decltype(zero);
    using Limits = std::numeric_limits<T>;
    std::vector<T> values;
    if constexpr (std::is_same_v<T, bool>) {
      values = {false, true};
    } else if constexpr (std::is_floating_point_v<T>) {
      const T tiny = Limits::denorm_min();
      const T least = Limits::min();
      values = {T(0),
                T(-0.0),
                T(1),
                T(-1),
                T(2),
                T(0.5),
                tiny,
                -tiny,
                least,
                least - tiny,
                1 + Limits::epsilon(),
                1 - Limits::epsilon() / 2,
                Limits::max(),
                Limits::lowest(),
                Limits::infinity(),
                -Limits::infinity(),
                Limits::quiet_NaN()};
    } else {
      values = {0,
                1,
                2,
                T(-1),
                T(-2),
                Limits::min(),
                Limits::max(),
                T(Limits::max() - 1),
                T(T(1) << (Limits::digits / 2))};
    }
    std::vector<Scalar> scalars;
    for (const T value : values) scalars.push_back(Scalar::of(value));
    return scalars;
  });
}

Scalar random_value(Random& random, DType dtype) {
  switch (uniform(random, 0, 3)) {
    case 0: {
      const auto values = special_values(dtype);
      return pick(random, values);
    }
    case 1:
      return Scalar::from_int(dtype, uniform(random, -4, 9));
    case 2:
      return Scalar::from_double(dtype, std::uniform_real_distribution<double>(-20, 20)(random));
    default:
      if (is_bool(dtype)) return Scalar::of(chance(random, 50));
      return {dtype, static_cast<uint64_t>(random()) >> (64 - 8 * size_of(dtype))};
  }
}

ir::Tensor random_tensor(Random& random, DType dtype, std::vector<int64_t> shape) {
  ir::Tensor tensor(dtype, std::move(shape));
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.set_element(i, random_value(random, dtype));
  }
  return tensor;
}

}  // namespace lanewise::test
