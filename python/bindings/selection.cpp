// where, clip, astype, positive.
#include "python/bindings/arguments.h"
#include "python/bindings/elementwise.h"
#include "python/bindings/manipulation.h"
#include "python/bindings/numpy.h"
#include "python/bindings/source.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Argument;
using frontend::Array;
using frontend::Op;

namespace {

py::object finish(const Array& result, std::span<const Argument> arguments, PyObject* out,
                  std::string_view op) {
  if (out != nullptr && out != Py_None) return store(out, result, op);
  return wrap(result, number_result(arguments, result));
}

py::object where(const Bound& bound) {
  const std::array<Argument, 3> arguments{require_argument(bound[0], "where", "condition"),
                                          require_argument(bound[1], "where", "x1"),
                                          require_argument(bound[2], "where", "x2")};
  return finish(frontend::where(arguments[0], arguments[1], arguments[2], current_source()),
                arguments, bound[3], "where");
}

py::object clip(const Bound& bound) {
  enum { kX, kMin, kMax, kOut };
  std::vector<Argument> arguments{require_argument(bound[kX], "clip", "x")};
  for (const int i : {kMin, kMax}) {
    if (bound.given(i) != nullptr) {
      arguments.push_back(require_argument(bound[i], "clip", i == kMin ? "min" : "max"));
    }
  }
  if (arguments.size() == 1) {
    return finish(Array(require_array(bound[kX], "clip", "x").node()), arguments, bound[kOut],
                  "clip");
  }
  const Op op = arguments.size() == 3          ? Op::kClip
                : bound.given(kMin) != nullptr ? Op::kMaximum
                                               : Op::kMinimum;
  return finish(frontend::apply(op, arguments, current_source()), arguments, bound[kOut], "clip");
}

py::object astype(const Bound& bound) {
  enum { kX, kDType, kCopy, kDevice };
  check_device(bound[kDevice], "astype");
  const DType dtype = to_dtype(bound[kDType]);
  const Array array = require_array(bound[kX], "astype", "x");
  if (bound[kCopy] != nullptr && !to_bool(bound[kCopy]) && array.dtype() == dtype &&
      is_array(bound[kX])) {
    return py::reinterpret_borrow<py::object>(bound[kX]);
  }
  return wrap(frontend::astype(array, dtype, current_source()));
}

py::object positive(const Bound& bound) {
  const Array array = require_array(bound[0], "positive", "x");
  const Array result(array.node());
  return bound.given(1) != nullptr ? store(bound[1], result, "positive") : wrap(result);
}

constexpr Definition kWhere{"where", "condition, x1, x2, /, *, out=None", where,
                            R"(x1 where the condition is not 0, x2 elsewhere.

    Result: the shape that all three broadcast to, in the common dtype of x1 and x2.
    Raises ShapeError if shapes do not broadcast.

    >>> x = lw.asarray([-1.0, 2.0])
    >>> lw.where(x > 0, x, 0)
    array([0., 2.])
)"};
constexpr const char* kClipDoc = R"(minimum(maximum(x, min), max); None is no bound.

    Result: the shape that the arguments broadcast to, in their common dtype.
    Raises ShapeError if shapes do not broadcast.

    >>> lw.clip(lw.asarray([-1.0, 0.5, 2.0]), 0, 1)
    array([0. , 0.5, 1. ])
)";
constexpr Definition kClip{"clip", "x, /, min=None, max=None, *, out=None", clip, kClipDoc};
constexpr Definition kClipMethod{"clip", "min=None, max=None, out=None", clip, kClipDoc, true};
constexpr const char* kAstypeDoc = R"(The values in another dtype.

    Floating-point numbers outside the range of an integer dtype saturate, NaN becomes 0. copy=False
    gives x itself if it has the dtype. Raises DTypeError for an unknown dtype.

    >>> lw.astype(lw.asarray([1.7, -300.0]), lw.int8)
    array([   1, -128], dtype=int8)
)";
constexpr Definition kAstype{"astype", "x, dtype, /, *, copy=True, device=None", astype,
                             kAstypeDoc};
constexpr Definition kAstypeMethod{"astype", "dtype, /, *, copy=True, device=None", astype,
                                   kAstypeDoc, true};
constexpr Definition kPositive{"positive", "x, /, *, out=None", positive,
                               R"(+x: the same values.

    >>> lw.positive(lw.asarray([1, -2]))
    array([ 1, -2])
)"};

}  // namespace

void add_selection(py::module_& module) {
  add_functions(module, {python_function<kWhere>(), python_function<kClip>(),
                         python_function<kAstype>(), python_function<kPositive>()});
}

void append_selection_methods(std::vector<PyMethodDef>& methods) {
  methods.push_back(python_function<kAstypeMethod>());
  methods.push_back(python_function<kClipMethod>());
}

}  // namespace lanewise::python
