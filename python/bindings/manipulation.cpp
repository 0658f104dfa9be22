#include "python/bindings/manipulation.h"

#include <algorithm>
#include <numeric>

#include "python/bindings/arguments.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;
using frontend::Shape;

namespace {

std::vector<int> axes_or_all(PyObject* object, int rank, std::string_view op) {
  if (auto axes = to_axes(object, op)) return resolve_axes(std::move(*axes), rank, op);
  std::vector<int> all(static_cast<size_t>(rank));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int axis_of(PyObject* object, int rank, std::string_view op, std::string_view parameter) {
  const int64_t axis = to_int64(object, op, parameter);
  if (axis < -rank || axis >= rank) {
    throw IndexError(format("{}: axis {} is out of range for {} axes", op, axis, rank));
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Array reshaped(const Array& array, const Shape& shape, PyObject* copy) {
  std::optional<bool> wanted;
  if (copy != nullptr && copy != Py_None) wanted = to_bool(copy);
  if (auto result = array.reshape(shape, wanted)) return *result;
  throw ValueError(format("reshape: copy=False, but a view of shape {} as {} does not exist",
                          format_tuple(array.shape()), format_tuple(shape)));
}

py::object reshape(const Bound& bound) {
  return wrap(reshaped(require_array(bound[0], "reshape", "x"), to_shape(bound[1], "reshape", true),
                       bound[2]));
}

// a.reshape(2, 3) as well as a.reshape((2, 3)).
py::object reshape_method(const Bound& bound) {
  const Array& array = array_of(bound[0]);
  if (bound.rest.size() == 1) {
    return wrap(reshaped(array, to_shape(bound.rest[0], "reshape", true), bound[1]));
  }
  py::tuple sizes(bound.rest.size());
  for (size_t i = 0; i < bound.rest.size(); ++i) sizes[i] = py::handle(bound.rest[i]);
  return wrap(reshaped(array, to_shape(sizes.ptr(), "reshape", true), bound[1]));
}

py::object ravel(const Bound& bound) {
  return wrap(reshaped(array_of(bound[0]), Shape({-1}), nullptr));
}

py::object flatten(const Bound& bound) {
  return wrap(reshaped(array_of(bound[0]), Shape({-1}), Py_True));
}

py::object broadcast_to(const Bound& bound) {
  const Shape shape = to_shape(bound[1], "broadcast_to");
  return wrap(require_array(bound[0], "broadcast_to", "x").broadcast_to(shape));
}

py::object broadcast_arrays(const Bound& bound) {
  std::vector<Array> arrays;
  std::vector<Shape> shapes;
  for (PyObject* object : bound.rest) {
    arrays.push_back(require_array(object, "broadcast_arrays", "an argument"));
    shapes.push_back(arrays.back().shape());
  }
  const Shape shape = frontend::broadcast_shapes("broadcast_arrays", shapes);
  py::list result;
  for (const Array& array : arrays) result.append(wrap(array.broadcast_to(shape)));
  return result;
}

Array permuted(const Array& array, std::vector<int> axes, std::string_view op) {
  if (static_cast<int>(axes.size()) != array.rank()) {
    throw ValueError(format("{}: {} axes given for an array of {}", op, axes.size(), array.rank()));
  }
  return array.permute(resolve_axes(std::move(axes), array.rank(), op));
}

py::object permute_dims(const Bound& bound) {
  auto axes = to_axes(bound[1], "permute_dims");
  if (!axes) throw py::type_error("permute_dims: axes is None, not a tuple of integers");
  return wrap(
      permuted(require_array(bound[0], "permute_dims", "x"), std::move(*axes), "permute_dims"));
}

py::object transpose(const Bound& bound) {
  const Array array = require_array(bound[0], "transpose", "x");
  if (auto axes = to_axes(bound[1], "transpose")) {
    return wrap(permuted(array, std::move(*axes), "transpose"));
  }
  return wrap(reverse_axes(array));
}

// a.transpose(1, 0) as well as a.transpose((1, 0)).
py::object transpose_method(const Bound& bound) {
  const Array& array = array_of(bound[0]);
  std::optional<std::vector<int>> axes;
  if (bound.rest.size() == 1) {
    axes = to_axes(bound.rest[0], "transpose");
  } else if (!bound.rest.empty()) {
    py::tuple given(bound.rest.size());
    for (size_t i = 0; i < bound.rest.size(); ++i) given[i] = py::handle(bound.rest[i]);
    axes = to_axes(given.ptr(), "transpose");
  }
  return wrap(axes ? permuted(array, std::move(*axes), "transpose") : reverse_axes(array));
}

py::object matrix_transpose(const Bound& bound) {
  return wrap(swap_last_axes(require_array(bound[0], "matrix_transpose", "x")));
}

py::object moveaxis(const Bound& bound) {
  const Array array = require_array(bound[0], "moveaxis", "x");
  const std::vector<int> from = axes_or_all(bound[1], array.rank(), "moveaxis");
  const std::vector<int> to = axes_or_all(bound[2], array.rank(), "moveaxis");
  if (from.size() != to.size()) {
    throw ValueError(format("moveaxis: {} axes to move to {} places", from.size(), to.size()));
  }
  std::vector<int> order(static_cast<size_t>(array.rank()), -1);
  for (size_t i = 0; i < from.size(); ++i) order[static_cast<size_t>(to[i])] = from[i];
  int next = 0;  // axes that are not moved keep their order in the places left
  for (int& axis : order) {
    if (axis >= 0) continue;
    while (std::ranges::find(from, next) != from.end()) ++next;
    axis = next++;
  }
  return wrap(array.permute(order));
}

py::object swapaxes(const Bound& bound) {
  const Array& array = array_of(bound[0]);
  std::vector<int> axes(static_cast<size_t>(array.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  const int first = axis_of(bound[1], array.rank(), "swapaxes", "axis1");
  const int second = axis_of(bound[2], array.rank(), "swapaxes", "axis2");
  std::swap(axes[static_cast<size_t>(first)], axes[static_cast<size_t>(second)]);
  return wrap(array.permute(axes));
}

py::object flip(const Bound& bound) {
  const Array array = require_array(bound[0], "flip", "x");
  return wrap(array.flip(axes_or_all(bound[1], array.rank(), "flip")));
}

py::object squeeze(const Bound& bound) {
  const Array array = require_array(bound[0], "squeeze", "x");
  if (auto axes = to_axes(bound[1], "squeeze")) {
    return wrap(array.squeeze(resolve_axes(std::move(*axes), array.rank(), "squeeze")));
  }
  std::vector<int> ones;
  for (int axis = 0; axis < array.rank(); ++axis) {
    if (array.shape()[axis].is(1)) ones.push_back(axis);
  }
  return wrap(array.squeeze(ones));
}

py::object expand_dims(const Bound& bound) {
  const Array array = require_array(bound[0], "expand_dims", "x");
  std::vector<int> axes{0};
  if (auto given = to_axes(bound[1], "expand_dims")) axes = std::move(*given);
  const int rank = array.rank() + static_cast<int>(axes.size());
  return wrap(array.expand_dims(resolve_axes(std::move(axes), rank, "expand_dims")));
}

constexpr const char* kReshapeDoc = R"(The elements in another shape.

    One size may be -1: it takes what is left. The result is a view where NumPy would give one,
    else a copy; copy=True always copies, copy=False raises ValueError where a copy is needed.
    Raises ShapeError if the sizes do not hold all elements.

    >>> lw.reshape(lw.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])
)";

constexpr Definition kReshape{"reshape", "x, /, shape, *, copy=None", reshape, kReshapeDoc};
constexpr Definition kReshapeMethod{"reshape", "*shape, copy=None", reshape_method, kReshapeDoc,
                                    true};
constexpr Definition kBroadcastTo{"broadcast_to", "x, /, shape", broadcast_to,
                                  R"(A view that repeats elements to fill a shape; it is read-only.

    Raises ShapeError if x does not broadcast to it.

    >>> lw.broadcast_to(lw.asarray([1, 2]), (2, 2))
    array([[1, 2],
           [1, 2]])
)"};
constexpr Definition kBroadcastArrays{"broadcast_arrays", "*arrays", broadcast_arrays,
                                      R"(Views of all arrays in the shape that they broadcast to.

    Raises ShapeError if there is none.

    >>> x, y = lw.broadcast_arrays(lw.zeros((2, 1)), lw.ones(3))
    >>> x.shape, y.shape
    ((2, 3), (2, 3))
)"};
constexpr Definition kPermuteDims{"permute_dims", "x, /, axes", permute_dims,
                                  R"(A view with the axes in another order.

    Raises ValueError unless each axis is given once.

    >>> lw.permute_dims(lw.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
)"};
constexpr const char* kTransposeDoc =
    R"(A view with the axes in another order: reversed, if none is given.

    >>> x = lw.zeros((2, 3, 4))
    >>> lw.transpose(x).shape, lw.transpose(x, (0, 2, 1)).shape
    ((4, 3, 2), (2, 4, 3))
)";
constexpr Definition kTranspose{"transpose", "x, /, axes=None", transpose, kTransposeDoc};
constexpr Definition kTransposeMethod{"transpose", "*axes", transpose_method, kTransposeDoc, true};
constexpr Definition kMatrixTranspose{"matrix_transpose", "x, /", matrix_transpose,
                                      R"(A view with the last two axes swapped.

    Raises ShapeError for fewer than two axes.

    >>> lw.matrix_transpose(lw.zeros((2, 3, 4))).shape
    (2, 4, 3)
)"};
constexpr Definition kMoveaxis{"moveaxis", "x, source, destination, /", moveaxis,
                               R"(A view with some axes moved to other places.

    source and destination are integers or tuples of them. Raises IndexError for an axis out of
    range, ValueError if they are not as many.

    >>> lw.moveaxis(lw.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
)"};
constexpr Definition kFlip{"flip", "x, /, axis=None", flip,
                           R"(A view with the elements in reverse along axes, None for all.

    Raises IndexError for an axis out of range.

    >>> lw.flip(lw.asarray([1, 2, 3]))
    array([3, 2, 1])
)"};
constexpr const char* kSqueezeDoc = R"(A view without axes of size 1, None for all of them.

    Raises ShapeError for an axis of another size, IndexError for one out of range.

    >>> lw.squeeze(lw.zeros((1, 3, 1)), axis=0).shape
    (3, 1)
)";
constexpr Definition kSqueeze{"squeeze", "x, /, axis=None", squeeze, kSqueezeDoc};
constexpr Definition kSqueezeMethod{"squeeze", "axis=None", squeeze, kSqueezeDoc, true};
constexpr Definition kRavel{"ravel", "", ravel,
                            R"(The elements along one axis: a view where NumPy would give one.

    >>> lw.asarray([[1, 2], [3, 4]]).ravel()
    array([1, 2, 3, 4])
)",
                            true};
constexpr Definition kFlatten{"flatten", "", flatten,
                              R"(A copy of the elements along one axis.

    >>> lw.asarray([[1, 2], [3, 4]]).flatten()
    array([1, 2, 3, 4])
)",
                              true};
constexpr Definition kSwapaxes{"swapaxes", "axis1, axis2, /", swapaxes,
                               R"(A view with two axes swapped.

    Raises IndexError for an axis out of range.

    >>> lw.zeros((2, 3, 4)).swapaxes(0, -1).shape
    (4, 3, 2)
)",
                               true};
constexpr Definition kExpandDims{"expand_dims", "x, /, axis=0", expand_dims,
                                 R"(A view with new axes of size 1, at these places of the result.

    Raises IndexError for an axis out of range.

    >>> lw.expand_dims(lw.zeros((2, 3)), axis=1).shape
    (2, 1, 3)
)"};

}  // namespace

Array reverse_axes(const Array& array) {
  std::vector<int> axes(static_cast<size_t>(array.rank()));
  std::iota(axes.rbegin(), axes.rend(), 0);
  return array.permute(axes);
}

Array swap_last_axes(const Array& array) {
  if (array.rank() < 2) {
    throw ShapeError(format("matrix_transpose: an array of shape {} has fewer than two axes",
                            format_tuple(array.shape())));
  }
  std::vector<int> axes(static_cast<size_t>(array.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  std::iter_swap(axes.end() - 1, axes.end() - 2);
  return array.permute(axes);
}

void add_manipulation(py::module_& module) {
  add_functions(module, {python_function<kReshape>(), python_function<kBroadcastTo>(),
                         python_function<kBroadcastArrays>(), python_function<kPermuteDims>(),
                         python_function<kTranspose>(), python_function<kMatrixTranspose>(),
                         python_function<kMoveaxis>(), python_function<kFlip>(),
                         python_function<kSqueeze>(), python_function<kExpandDims>()});
}

void append_manipulation_methods(std::vector<PyMethodDef>& methods) {
  methods.push_back(python_function<kReshapeMethod>());
  methods.push_back(python_function<kTransposeMethod>());
  methods.push_back(python_function<kSqueezeMethod>());
  methods.push_back(python_function<kRavel>());
  methods.push_back(python_function<kFlatten>());
  methods.push_back(python_function<kSwapaxes>());
}

}  // namespace lanewise::python
