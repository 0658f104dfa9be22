#include "python/bindings/reductions.h"

#include "python/bindings/arguments.h"
#include "python/bindings/source.h"

namespace lanewise::python {

using frontend::Array;
using frontend::Op;

namespace {

enum { kX, kAxis, kLast2, kLast3 };

bool flag(PyObject* object) { return object != nullptr && to_bool(object); }

// (x, axis, keepdims)
template <Op op>
py::object reduce(const Bound& bound) {
  const std::string_view name = ir::name(op);
  return wrap(frontend::reduce(op, require_array(bound[kX], name, "x"), to_axes(bound[kAxis], name),
                               flag(bound[kLast2]), std::nullopt, current_source()));
}

// (x, axis, dtype, keepdims)
template <Op op>
py::object accumulate(const Bound& bound) {
  const std::string_view name = ir::name(op);
  return wrap(frontend::reduce(op, require_array(bound[kX], name, "x"), to_axes(bound[kAxis], name),
                               flag(bound[kLast3]), optional_dtype(bound[kLast2]),
                               current_source()));
}

py::object mean(const Bound& bound) {
  return wrap(frontend::mean(require_array(bound[kX], "mean", "x"), to_axes(bound[kAxis], "mean"),
                             flag(bound[kLast2]), current_source()));
}

#define LANEWISE_AXES_TEXT                                                                    \
  "    axis is an integer or a tuple of them, negative ones count from the end; None means\n" \
  "    all. keepdims leaves the reduced axes in the shape with size 1.\n"                     \
  "    Raises IndexError for an axis out of range"

constexpr const char* kSumDoc = "Sum over axes.\n\n" LANEWISE_AXES_TEXT R"(.
    Small integers are added in int64 or uint64 unless dtype says otherwise; integers wrap. The
    order of floating-point additions is fixed: it depends on the shape only.

    >>> lw.sum(lw.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=0)
    array([4., 6.])
)";
constexpr const char* kProdDoc = "Product over axes.\n\n" LANEWISE_AXES_TEXT R"(.
    Dtypes and order as for sum.

    >>> lw.prod(lw.asarray([1, 2, 3, 4]))
    array(24)
)";
constexpr const char* kMinDoc =
    "Smallest element over axes; NaN wins, -0 < +0.\n\n" LANEWISE_AXES_TEXT R"(, ValueError if an
    axis is empty.

    >>> lw.min(lw.asarray([[3, 1], [2, 5]]), axis=1)
    array([1, 2])
)";
constexpr const char* kMaxDoc =
    "Largest element over axes; NaN wins, -0 < +0.\n\n" LANEWISE_AXES_TEXT R"(, ValueError if an
    axis is empty.

    >>> lw.max(lw.asarray([[3, 1], [2, 5]]))
    array(5)
)";
constexpr const char* kAnyDoc =
    "True where some element over axes is not 0.\n\n" LANEWISE_AXES_TEXT R"(.

    >>> lw.any(lw.asarray([False, True]))
    array(True)
)";
constexpr const char* kAllDoc =
    "True where all elements over axes are not 0.\n\n" LANEWISE_AXES_TEXT R"(.

    >>> lw.all(lw.asarray([[True, False], [True, True]]), axis=1)
    array([False,  True])
)";
constexpr const char* kMeanDoc =
    "Mean over axes; integers give float64.\n\n" LANEWISE_AXES_TEXT R"(.

    >>> lw.mean(lw.asarray([1, 2, 4]))
    array(2.33333333)
)";
#undef LANEWISE_AXES_TEXT

constexpr const char* kShort = "x, /, axis=None, *, keepdims=False";
constexpr const char* kLong = "x, /, axis=None, *, dtype=None, keepdims=False";
constexpr const char* kShortMethod = "axis=None, *, keepdims=False";
constexpr const char* kLongMethod = "axis=None, *, dtype=None, keepdims=False";

constexpr Definition kSum{"sum", kLong, accumulate<Op::kSum>, kSumDoc};
constexpr Definition kProd{"prod", kLong, accumulate<Op::kProd>, kProdDoc};
constexpr Definition kMin{"min", kShort, reduce<Op::kMin>, kMinDoc};
constexpr Definition kMax{"max", kShort, reduce<Op::kMax>, kMaxDoc};
constexpr Definition kAny{"any", kShort, reduce<Op::kAny>, kAnyDoc};
constexpr Definition kAll{"all", kShort, reduce<Op::kAll>, kAllDoc};
constexpr Definition kMean{"mean", kShort, mean, kMeanDoc};

constexpr Definition kSumMethod{"sum", kLongMethod, accumulate<Op::kSum>, kSumDoc, true};
constexpr Definition kProdMethod{"prod", kLongMethod, accumulate<Op::kProd>, kProdDoc, true};
constexpr Definition kMinMethod{"min", kShortMethod, reduce<Op::kMin>, kMinDoc, true};
constexpr Definition kMaxMethod{"max", kShortMethod, reduce<Op::kMax>, kMaxDoc, true};
constexpr Definition kAnyMethod{"any", kShortMethod, reduce<Op::kAny>, kAnyDoc, true};
constexpr Definition kAllMethod{"all", kShortMethod, reduce<Op::kAll>, kAllDoc, true};
constexpr Definition kMeanMethod{"mean", kShortMethod, mean, kMeanDoc, true};

}  // namespace

void add_reductions(py::module_& module) {
  add_functions(module, {python_function<kSum>(), python_function<kProd>(), python_function<kMin>(),
                         python_function<kMax>(), python_function<kAny>(), python_function<kAll>(),
                         python_function<kMean>()});
}

void append_reduction_methods(std::vector<PyMethodDef>& methods) {
  for (const PyMethodDef& method :
       {python_function<kSumMethod>(), python_function<kProdMethod>(),
        python_function<kMinMethod>(), python_function<kMaxMethod>(), python_function<kAnyMethod>(),
        python_function<kAllMethod>(), python_function<kMeanMethod>()}) {
    methods.push_back(method);
  }
}

}  // namespace lanewise::python
