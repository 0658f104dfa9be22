#include "python/bindings/reductions.h"

#include <algorithm>

#include "frontend/reductions.h"
#include "python/bindings/arguments.h"
#include "python/bindings/source.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;
using frontend::Op;
using frontend::ReductionOptions;

namespace {

bool flag(PyObject* object) { return object != nullptr && to_bool(object); }

std::optional<Array> optional_array(PyObject* object, std::string_view op,
                                    std::string_view parameter) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  return require_array(object, op, parameter);
}

double to_number(PyObject* object, std::string_view op, std::string_view parameter,
                 double otherwise) {
  if (object == nullptr || object == Py_None) return otherwise;
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw py::type_error(
        format("{}: {} is '{}', not a number", op, parameter, Py_TYPE(object)->tp_name));
  }
  return value;
}

std::optional<int> to_axis(PyObject* object, std::string_view op) {
  if (object == nullptr || object == Py_None) return std::nullopt;
  const int64_t axis = to_int64(object, op, "axis");
  constexpr int64_t kBeyondAny = 1 << 20;
  return static_cast<int>(std::clamp(axis, -kBeyondAny, kBeyondAny));
}

// (x, axis, keepdims)
ReductionOptions plain_options(const Bound& bound, std::string_view name) {
  return {.axes = to_axes(bound[1], name), .keepdims = flag(bound[2])};
}

// (x, axis, dtype, keepdims, where), or from `first` on
ReductionOptions full_options(const Bound& bound, std::string_view name, size_t first = 2) {
  return {.axes = to_axes(bound[1], name),
          .keepdims = flag(bound[first + 1]),
          .dtype = optional_dtype(bound[first]),
          .where = optional_array(bound[first + 2], name, "where")};
}

template <Op op>
py::object accumulate(const Bound& bound) {
  const std::string_view name = ir::name(op);
  return wrap(frontend::reduce(op, require_array(bound[0], name, "x"), full_options(bound, name),
                               current_source()));
}

// (x, axis, keepdims, where)
template <Op op>
py::object extreme(const Bound& bound) {
  const std::string_view name = ir::name(op);
  ReductionOptions options = plain_options(bound, name);
  options.where = optional_array(bound[3], name, "where");
  return wrap(frontend::reduce(op, require_array(bound[0], name, "x"), options, current_source()));
}

template <Op op>
py::object logical(const Bound& bound) {
  const std::string_view name = ir::name(op);
  return wrap(frontend::reduce(op, require_array(bound[0], name, "x"), plain_options(bound, name),
                               current_source()));
}

py::object mean(const Bound& bound) {
  return wrap(frontend::mean(require_array(bound[0], "mean", "x"), full_options(bound, "mean"),
                             current_source()));
}

// (x, axis, correction, dtype, keepdims, where)
py::object variance(const Bound& bound) {
  return wrap(frontend::variance(require_array(bound[0], "var", "x"),
                                 to_number(bound[2], "var", "correction", 0),
                                 full_options(bound, "var", 3), current_source()));
}

py::object standard_deviation(const Bound& bound) {
  return wrap(frontend::standard_deviation(require_array(bound[0], "std", "x"),
                                           to_number(bound[2], "std", "correction", 0),
                                           full_options(bound, "std", 3), current_source()));
}

template <Op op>
py::object find_extreme(const Bound& bound) {
  const std::string_view name = ir::name(op);
  return wrap(frontend::find_extreme(op, require_array(bound[0], name, "x"),
                                     to_axis(bound[1], name), flag(bound[2]), current_source()));
}

py::object count_nonzero(const Bound& bound) {
  return wrap(frontend::count_nonzero(require_array(bound[0], "count_nonzero", "x"),
                                      plain_options(bound, "count_nonzero"), current_source()));
}

py::object logsumexp(const Bound& bound) {
  return wrap(frontend::logsumexp(require_array(bound[0], "logsumexp", "x"),
                                  plain_options(bound, "logsumexp"), current_source()));
}

py::object vecdot(const Bound& bound) {
  return wrap(frontend::vecdot(require_array(bound[0], "vecdot", "x1"),
                               require_array(bound[1], "vecdot", "x2"),
                               to_axis(bound[2], "vecdot").value_or(-1), current_source()));
}

// (x, axis, keepdims, ord)
py::object vector_norm(const Bound& bound) {
  return wrap(frontend::vector_norm(require_array(bound[0], "vector_norm", "x"),
                                    to_number(bound[3], "vector_norm", "ord", 2),
                                    plain_options(bound, "vector_norm"), current_source()));
}

// (x, axis, dtype, include_initial)
template <Op op>
py::object scan(const Bound& bound) {
  const std::string_view name = ir::name(op);
  return wrap(frontend::scan(op, require_array(bound[0], name, "x"), to_axis(bound[1], name),
                             optional_dtype(bound[2]), flag(bound[3]), current_source()));
}

// (x, axis, dtype): NumPy's, which takes all elements where no axis is named.
template <Op op>
py::object numpy_scan(const Bound& bound) {
  const std::string_view name = ir::name(op);
  Array array = require_array(bound[0], name, "x");
  const std::optional<int> axis = to_axis(bound[1], name);
  if (!axis) array = *array.reshape(frontend::Shape{array.shape().element_count()});
  return wrap(frontend::scan(op, array, axis.value_or(0), optional_dtype(bound[2]), false,
                             current_source()));
}

#define LANEWISE_AXES_TEXT                                                                    \
  "    axis is an integer or a tuple of them, negative ones count from the end; None means\n" \
  "    all. keepdims leaves the reduced axes in the shape with size 1.\n"                     \
  "    Raises IndexError for an axis out of range"
#define LANEWISE_WHERE_TEXT                                                                \
  "    where is a mask that broadcasts to x: only elements where it is true count; else\n" \
  "    ShapeError.\n"

constexpr const char* kSumDoc =
    "Sum over axes.\n\n" LANEWISE_AXES_TEXT ".\n" LANEWISE_WHERE_TEXT
    R"(    Small integers are added in int64 or uint64 unless dtype says otherwise; integers wrap. The
    order of floating-point additions is fixed: it depends on the shape only. No elements give 0.

    >>> lw.sum(lw.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([4., 6.])
)";
constexpr const char* kProdDoc =
    "Product over axes.\n\n" LANEWISE_AXES_TEXT ".\n" LANEWISE_WHERE_TEXT
    R"(    Dtypes and order as for sum. No elements give 1.

    >>> lw.prod(lw.asarray([1, 2, 3, 4]))
    array(24)
)";
constexpr const char* kMinDoc =
    "Smallest element over axes; NaN wins, -0 < +0.\n\n" LANEWISE_AXES_TEXT R"(, ValueError if an
    axis is empty.
)" LANEWISE_WHERE_TEXT R"(    Where it leaves none, the result is the largest value of the dtype.

    >>> lw.min(lw.asarray([[3, 1], [2, 5]]), axis=1)
    array([1, 2])
)";
constexpr const char* kMaxDoc =
    "Largest element over axes; NaN wins, -0 < +0.\n\n" LANEWISE_AXES_TEXT R"(, ValueError if an
    axis is empty.
)" LANEWISE_WHERE_TEXT R"(    Where it leaves none, the result is the smallest value of the dtype.

    >>> lw.max(lw.asarray([[3, 1], [2, 5]]))
    array(5)
)";
constexpr const char* kAnyDoc =
    "True where some element over axes is not 0.\n\n" LANEWISE_AXES_TEXT R"(.
    No elements give False.

    >>> lw.any(lw.asarray([False, True]))
    array(True)
)";
constexpr const char* kAllDoc =
    "True where all elements over axes are not 0.\n\n" LANEWISE_AXES_TEXT R"(.
    No elements give True.

    >>> lw.all(lw.asarray([[True, False], [True, True]]), axis=1)
    array([False,  True])
)";
constexpr const char* kMeanDoc =
    "Mean over axes; integers give float64.\n\n" LANEWISE_AXES_TEXT ".\n" LANEWISE_WHERE_TEXT
    R"(    No elements give NaN, without a warning.

    >>> lw.mean(lw.asarray([1, 2, 4]))
    array(2.33333333)
)";
constexpr const char* kVarDoc =
    "Variance over axes; integers give float64.\n\n"
    "    The sum of squared deviations from the mean, divided by the number of elements less\n"
    "    correction: 0 for the population's, 1 for an unbiased estimate from a "
    "sample.\n" LANEWISE_AXES_TEXT ".\n" LANEWISE_WHERE_TEXT
    R"(    The data are read once, and a mean far from 0 costs no accuracy. No elements give NaN.

    >>> lw.var(lw.asarray([1.0, 2.0, 4.0, 5.0]))
    array(2.5)
)";
constexpr const char* kStdDoc =
    "Standard deviation over axes: the square root of var.\n\n" LANEWISE_AXES_TEXT
    ".\n" LANEWISE_WHERE_TEXT
    R"(
    >>> lw.std(lw.asarray([1.0, 3.0]), correction=1)
    array(1.41421356)
)";
constexpr const char* kArgMinDoc = R"(Position of the first smallest element; int64.

    axis is an integer, or None for the position among all elements in row-major order. The first
    NaN wins; -0 and +0 are equal. keepdims leaves the reduced axes in the shape with size 1.
    Raises IndexError for an axis out of range, ValueError if there are no elements.

    >>> lw.argmin(lw.asarray([[3, 1], [2, 5]]), axis=1)
    array([1, 0])
)";
constexpr const char* kArgMaxDoc = R"(Position of the first largest element; int64.

    axis is an integer, or None for the position among all elements in row-major order. The first
    NaN wins; -0 and +0 are equal. keepdims leaves the reduced axes in the shape with size 1.
    Raises IndexError for an axis out of range, ValueError if there are no elements.

    >>> lw.argmax(lw.asarray([[3, 1], [2, 5]]))
    array(3)
)";
constexpr const char* kCountNonzeroDoc =
    "Number of elements over axes that are not 0; int64.\n\n" LANEWISE_AXES_TEXT R"(.

    >>> lw.count_nonzero(lw.asarray([[1, 0], [2, 5]]), axis=1)
    array([1, 2])
)";
constexpr const char* kLogSumExpDoc =
    "log(sum(exp(x))) over axes; integers give float64.\n\n"
    "    Large elements do not overflow on the way. No elements give -inf.\n" LANEWISE_AXES_TEXT
    R"(.

    >>> lw.logsumexp(lw.asarray([1000.0, 1000.0]))
    array(1000.69314718)
)";
constexpr const char* kVecdotDoc = R"(Sum of products along an axis.

    x1 and x2 have the same size there (else ShapeError); their other axes broadcast. axis counts
    from the end of each, or is not negative where both have equally many axes (else IndexError).
    The dtype is the result type of both; integers wrap.

    >>> lw.vecdot(lw.asarray([[1.0, 2.0], [3.0, 4.0]]), lw.asarray([10.0, 1.0]))
    array([12., 34.])
)";
constexpr const char* kVectorNormDoc =
    "Norm of vectors along axes; integers give float64.\n\n"
    "    ord is 1 (sum of sizes), 2 (root of the sum of squares), inf or -inf (largest and "
    "smallest\n"
    "    size), or 0 (number of elements that are not 0); others raise "
    "UnsupportedError.\n" LANEWISE_AXES_TEXT
    R"(.

    >>> lw.vector_norm(lw.asarray([3.0, 4.0]))
    array(5.)
)";
#define LANEWISE_SCAN_TEXT                                                                        \
  "    The shape is that of x; with include_initial the axis is one longer and starts with the\n" \
  "    result of no elements. axis may be left out for an array of one axis, else ValueError.\n"  \
  "    Dtypes as for sum; the order of floating-point operations is fixed.\n"                     \
  "    Raises IndexError for an axis out of range.\n"
constexpr const char* kCumulativeSumDoc =
    "Sums of the first 1, 2, ... elements along an axis.\n\n" LANEWISE_SCAN_TEXT R"(
    >>> lw.cumulative_sum(lw.asarray([1, 2, 3]), include_initial=True)
    array([0, 1, 3, 6])
)";
constexpr const char* kCumulativeProdDoc =
    "Products of the first 1, 2, ... elements along an axis.\n\n" LANEWISE_SCAN_TEXT R"(
    >>> lw.cumulative_prod(lw.asarray([1, 2, 3]))
    array([1, 2, 6])
)";
constexpr const char* kCumsumDoc =
    R"(Sums of the first 1, 2, ... elements along an axis: NumPy's cumulative_sum.

    Without an axis, all elements are taken in row-major order and the result has one axis.
    Dtypes as for sum. Raises IndexError for an axis out of range.

    >>> lw.cumsum(lw.asarray([[1, 2], [3, 4]]))
    array([ 1,  3,  6, 10])
)";
constexpr const char* kCumprodDoc =
    R"(Products of the first 1, 2, ... elements along an axis: NumPy's cumulative_prod.

    Without an axis, all elements are taken in row-major order and the result has one axis.
    Dtypes as for sum. Raises IndexError for an axis out of range.

    >>> lw.cumprod(lw.asarray([[1, 2], [3, 4]]))
    array([ 1,  2,  6, 24])
)";
#undef LANEWISE_SCAN_TEXT
#undef LANEWISE_WHERE_TEXT
#undef LANEWISE_AXES_TEXT

// The parameters after x.
#define LANEWISE_FUNCTION(id, name, parameters, implementation) \
  constexpr Definition id{name, "x, /, " parameters, implementation, id##Doc};
#define LANEWISE_REDUCTION(id, name, parameters, implementation) \
  LANEWISE_FUNCTION(id, name, parameters, implementation)        \
  constexpr Definition id##Method{name, parameters, implementation, id##Doc, true};

LANEWISE_REDUCTION(kSum, "sum", "axis=None, *, dtype=None, keepdims=False, where=None",
                   accumulate<Op::kSum>)
LANEWISE_REDUCTION(kProd, "prod", "axis=None, *, dtype=None, keepdims=False, where=None",
                   accumulate<Op::kProd>)
LANEWISE_REDUCTION(kMin, "min", "axis=None, *, keepdims=False, where=None", extreme<Op::kMin>)
LANEWISE_REDUCTION(kMax, "max", "axis=None, *, keepdims=False, where=None", extreme<Op::kMax>)
LANEWISE_REDUCTION(kAny, "any", "axis=None, *, keepdims=False", logical<Op::kAny>)
LANEWISE_REDUCTION(kAll, "all", "axis=None, *, keepdims=False", logical<Op::kAll>)
LANEWISE_REDUCTION(kMean, "mean", "axis=None, *, dtype=None, keepdims=False, where=None", mean)
LANEWISE_REDUCTION(kVar, "var",
                   "axis=None, *, correction=0.0, dtype=None, keepdims=False, where=None", variance)
LANEWISE_REDUCTION(kStd, "std",
                   "axis=None, *, correction=0.0, dtype=None, keepdims=False, where=None",
                   standard_deviation)
LANEWISE_REDUCTION(kArgMin, "argmin", "axis=None, *, keepdims=False", find_extreme<Op::kArgMin>)
LANEWISE_REDUCTION(kArgMax, "argmax", "axis=None, *, keepdims=False", find_extreme<Op::kArgMax>)
LANEWISE_FUNCTION(kCountNonzero, "count_nonzero", "axis=None, *, keepdims=False", count_nonzero)
LANEWISE_FUNCTION(kLogSumExp, "logsumexp", "axis=None, *, keepdims=False", logsumexp)
constexpr Definition kVecdot{"vecdot", "x1, x2, /, *, axis=-1", vecdot, kVecdotDoc};
LANEWISE_FUNCTION(kVectorNorm, "vector_norm", "*, axis=None, keepdims=False, ord=2", vector_norm)
LANEWISE_FUNCTION(kCumulativeSum, "cumulative_sum",
                  "axis=None, *, dtype=None, include_initial=False", scan<Op::kCumulativeSum>)
LANEWISE_FUNCTION(kCumulativeProd, "cumulative_prod",
                  "axis=None, *, dtype=None, include_initial=False", scan<Op::kCumulativeProd>)
LANEWISE_REDUCTION(kCumsum, "cumsum", "axis=None, *, dtype=None", numpy_scan<Op::kCumulativeSum>)
LANEWISE_REDUCTION(kCumprod, "cumprod", "axis=None, *, dtype=None", numpy_scan<Op::kCumulativeProd>)

#undef LANEWISE_REDUCTION
#undef LANEWISE_FUNCTION

}  // namespace

void add_reductions(py::module_& module) {
  add_functions(module, {python_function<kSum>(), python_function<kProd>(), python_function<kMin>(),
                         python_function<kMax>(), python_function<kAny>(), python_function<kAll>(),
                         python_function<kMean>(), python_function<kVar>(), python_function<kStd>(),
                         python_function<kArgMin>(), python_function<kArgMax>(),
                         python_function<kCountNonzero>(), python_function<kLogSumExp>(),
                         python_function<kVecdot>(), python_function<kVectorNorm>(),
                         python_function<kCumulativeSum>(), python_function<kCumulativeProd>(),
                         python_function<kCumsum>(), python_function<kCumprod>()});
  module.attr("amin") = module.attr("min");
  module.attr("amax") = module.attr("max");
}

void append_reduction_methods(std::vector<PyMethodDef>& methods) {
  for (const PyMethodDef& method :
       {python_function<kSumMethod>(), python_function<kProdMethod>(),
        python_function<kMinMethod>(), python_function<kMaxMethod>(), python_function<kAnyMethod>(),
        python_function<kAllMethod>(), python_function<kMeanMethod>(),
        python_function<kVarMethod>(), python_function<kStdMethod>(),
        python_function<kArgMinMethod>(), python_function<kArgMaxMethod>(),
        python_function<kCumsumMethod>(), python_function<kCumprodMethod>()}) {
    methods.push_back(method);
  }
}

}  // namespace lanewise::python
