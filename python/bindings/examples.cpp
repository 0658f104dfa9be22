#include "python/bindings/examples.h"

#include <algorithm>
#include <iterator>

namespace lanewise::python {

namespace {

// clang-format off
constexpr Example kExamples[] = {
    {"abs", "abs(lw.asarray([1, -2]))", "array([1, 2])"},
    {"acos", "acos(lw.asarray([0.0, 0.5]))", "array([1.57079633, 1.04719755])"},
    {"acosh", "acosh(lw.asarray([1.0, 2.0]))", "array([0.       , 1.3169579])"},
    {"add", "add(lw.asarray([1, 2]), 10)", "array([11, 12])"},
    {"asin", "asin(lw.asarray([0.0, 0.5]))", "array([0.        , 0.52359878])"},
    {"asinh", "asinh(lw.asarray([0.0, 0.5]))", "array([0.        , 0.48121183])"},
    {"atan", "atan(lw.asarray([0.0, 0.5]))", "array([0.        , 0.46364761])"},
    {"atan2", "atan2(lw.asarray([1.0, -1.0]), 1.0)", "array([ 0.78539816, -0.78539816])"},
    {"atanh", "atanh(lw.asarray([0.0, 0.5]))", "array([0.        , 0.54930614])"},
    {"bitwise_and", "bitwise_and(lw.asarray([5, 6]), 3)", "array([1, 2])"},
    {"bitwise_invert", "bitwise_invert(lw.asarray([0, 5]))", "array([-1, -6])"},
    {"bitwise_left_shift", "bitwise_left_shift(lw.asarray([1, 3]), 2)", "array([ 4, 12])"},
    {"bitwise_or", "bitwise_or(lw.asarray([5, 6]), 3)", "array([7, 7])"},
    {"bitwise_right_shift", "bitwise_right_shift(lw.asarray([8, -8]), 2)", "array([ 2, -2])"},
    {"bitwise_xor", "bitwise_xor(lw.asarray([5, 6]), 3)", "array([6, 5])"},
    {"cbrt", "cbrt(lw.asarray([8.0, -27.0]))", "array([ 2., -3.])"},
    {"ceil", "ceil(lw.asarray([-1.5, 1.5]))", "array([-1.,  2.])"},
    {"copysign", "copysign(lw.asarray([1.0, 2.0]), -0.0)", "array([-1., -2.])"},
    {"cos", "cos(lw.asarray([0.0, 0.5]))", "array([1.        , 0.87758256])"},
    {"cosh", "cosh(lw.asarray([0.0, 0.5]))", "array([1.        , 1.12762597])"},
    {"divide", "divide(lw.asarray([1, 2]), 4)", "array([0.25, 0.5 ])"},
    {"equal", "equal(lw.asarray([1, 2]), 2)", "array([False,  True])"},
    {"erf", "erf(lw.asarray([0.0, 0.5]))", "array([0.        , 0.52049988])"},
    {"erfc", "erfc(lw.asarray([0.0, 0.5]))", "array([1.        , 0.47950012])"},
    {"exp", "exp(lw.asarray([0.0, 0.5]))", "array([1.        , 1.64872127])"},
    {"exp2", "exp2(lw.asarray([0.0, 0.5]))", "array([1.        , 1.41421356])"},
    {"expit", "expit(lw.asarray([0.0, 0.5]))", "array([0.5       , 0.62245933])"},
    {"expm1", "expm1(lw.asarray([0.0, 0.5]))", "array([0.        , 0.64872127])"},
    {"floor", "floor(lw.asarray([-1.5, 1.5]))", "array([-2.,  1.])"},
    {"floor_divide", "floor_divide(lw.asarray([7, -7]), 2)", "array([ 3, -4])"},
    {"fma", "fma(lw.asarray([2.0, 3.0]), 10.0, 1.0)", "array([21., 31.])"},
    {"fmod", "fmod(lw.asarray([7.0, -7.0]), 3.0)", "array([ 1., -1.])"},
    {"greater", "greater(lw.asarray([1, 2]), 1)", "array([False,  True])"},
    {"greater_equal", "greater_equal(lw.asarray([1, 2]), 2)", "array([False,  True])"},
    {"hypot", "hypot(lw.asarray([3.0, 1.0]), 4.0)", "array([5.        , 4.12310563])"},
    {"isfinite", "isfinite(lw.asarray([lw.inf, 1.0]))", "array([False,  True])"},
    {"isinf", "isinf(lw.asarray([lw.inf, 1.0]))", "array([ True, False])"},
    {"isnan", "isnan(lw.asarray([lw.nan, 1.0]))", "array([ True, False])"},
    {"less", "less(lw.asarray([1, 2]), 2)", "array([ True, False])"},
    {"less_equal", "less_equal(lw.asarray([1, 2]), 2)", "array([ True,  True])"},
    {"log", "log(lw.asarray([1.0, 2.0]))", "array([0.        , 0.69314718])"},
    {"log10", "log10(lw.asarray([1.0, 2.0]))", "array([0.     , 0.30103])"},
    {"log1p", "log1p(lw.asarray([0.0, 0.5]))", "array([0.        , 0.40546511])"},
    {"log2", "log2(lw.asarray([1.0, 2.0]))", "array([0., 1.])"},
    {"logaddexp", "logaddexp(lw.asarray([0.0, 1.0]), 0.0)", "array([0.69314718, 1.31326169])"},
    {"logaddexp2", "logaddexp2(lw.asarray([0.0, 3.0]), 3.0)", "array([3.169925, 4.      ])"},
    {"logical_and", "logical_and(lw.asarray([0, 2]), 1)", "array([False,  True])"},
    {"logical_not", "logical_not(lw.asarray([0, 2]))", "array([ True, False])"},
    {"logical_or", "logical_or(lw.asarray([0, 2]), 0)", "array([False,  True])"},
    {"logical_xor", "logical_xor(lw.asarray([0, 2]), 1)", "array([ True, False])"},
    {"maximum", "maximum(lw.asarray([1, 5]), 3)", "array([3, 5])"},
    {"minimum", "minimum(lw.asarray([1, 5]), 3)", "array([1, 3])"},
    {"multiply", "multiply(lw.asarray([1, 2]), 1.5)", "array([1.5, 3. ])"},
    {"negative", "negative(lw.asarray([1, -2]))", "array([-1,  2])"},
    {"nextafter", "nextafter(lw.asarray([0.0]), 1.0)", "array([5.e-324])"},
    {"not_equal", "not_equal(lw.asarray([1, 2]), 2)", "array([ True, False])"},
    {"pow", "pow(lw.asarray([2.0, 3.0]), 2)", "array([4., 9.])"},
    {"reciprocal", "reciprocal(lw.asarray([2.0, 4.0]))", "array([0.5 , 0.25])"},
    {"remainder", "remainder(lw.asarray([7, -7]), 3)", "array([1, 2])"},
    {"round", "round(lw.asarray([0.5, 1.5, 2.5]))", "array([0., 2., 2.])"},
    {"sign", "sign(lw.asarray([-2.5, 0.0, 3.0]))", "array([-1.,  0.,  1.])"},
    {"signbit", "signbit(lw.asarray([-0.0, 0.0]))", "array([ True, False])"},
    {"sin", "sin(lw.asarray([0.0, 0.5]))", "array([0.        , 0.47942554])"},
    {"sinh", "sinh(lw.asarray([0.0, 0.5]))", "array([0.        , 0.52109531])"},
    {"sqrt", "sqrt(lw.asarray([2, 4]))", "array([1.41421356, 2.        ])"},
    {"square", "square(lw.asarray([3, -4]))", "array([ 9, 16])"},
    {"subtract", "subtract(lw.asarray([1, 2]), 10)", "array([-9, -8])"},
    {"tan", "tan(lw.asarray([0.0, 0.5]))", "array([0.        , 0.54630249])"},
    {"tanh", "tanh(lw.asarray([0.0, 0.5]))", "array([0.        , 0.46211716])"},
    {"trunc", "trunc(lw.asarray([-1.5, 1.5]))", "array([-1.,  1.])"},
};
// clang-format on

}  // namespace

const Example* find_example(std::string_view op) {
  const auto* found = std::ranges::find(kExamples, op, &Example::op);
  return found == std::end(kExamples) ? nullptr : found;
}

}  // namespace lanewise::python
