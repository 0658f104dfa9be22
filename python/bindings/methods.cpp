// Properties of arrays, their text, and methods that have no function of the same name.
#include "frontend/evaluate.h"
#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/elementwise.h"
#include "python/bindings/manipulation.h"
#include "python/bindings/numpy.h"
#include "python/bindings/reductions.h"
#include "python/bindings/signature.h"
#include "python/bindings/size.h"
#include "python/bindings/source.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;

namespace {

// ---- properties ----------------------------------------------------------------------------

template <py::object (*property)(const Array&)>
PyObject* get(PyObject* self, void*) noexcept {
  return guarded([&] { return property(array_of(self)).release().ptr(); });
}

py::object shape(const Array& array) { return shape_tuple(array.shape()); }
py::object dtype(const Array& array) {
  return py::reinterpret_borrow<py::object>(dtype_object(array.dtype()));
}
py::object ndim(const Array& array) { return py::int_(array.rank()); }
py::object size(const Array& array) { return size_object(array.shape().element_count()); }
py::object itemsize(const Array& array) { return py::int_(size_of(array.dtype())); }
py::object nbytes(const Array& array) {
  return size_object(array.shape().element_count() * frontend::Dim(size_of(array.dtype())));
}
py::object device(const Array&) { return py::str("cpu"); }
py::object transposed(const Array& array) { return wrap(reverse_axes(array)); }
py::object matrix_transposed(const Array& array) { return wrap(swap_last_axes(array)); }
// Ahead of ndarray in mixed expressions of libraries that ask for it.
py::object array_priority(const Array&) { return py::float_(1000.0); }

PyGetSetDef property(const char* name, getter get, const char* doc) {
  return {name, get, nullptr, doc, nullptr};
}

// ---- text ----------------------------------------------------------------------------------

py::str traced_text(const ArrayObject& object) {
  return py::str(format("array(traced, shape={}, dtype={})", format_tuple(object.array.shape()),
                        python_name(object.array.dtype())));
}

PyObject* text(PyObject* self, const char* function) {
  return guarded([&]() -> PyObject* {
    const ArrayObject& object = array_object(self);
    if (is_traced(object.array)) return traced_text(object).release().ptr();
    return py::module_::import("numpy").attr(function)(ndarray_of(object.array)).release().ptr();
  });
}

// ---- methods -------------------------------------------------------------------------------

py::object item_method(const Bound& bound) {
  Array array = array_of(bound[0]);
  require_value(array, "item");
  if (!bound.rest.empty()) {
    std::vector<frontend::IndexItem> items;
    for (PyObject* index : bound.rest) items.emplace_back(to_int64(index, "item", "an index"));
    array = frontend::index(array, items);
  }
  if (element_count(array) != 1) {
    throw ValueError(
        format("item: {} elements, not one; give the index of one", element_count(array)));
  }
  return item(array);
}

py::object tolist(const Bound& bound) {
  const Array& array = array_of(bound[0]);
  require_value(array, "tolist");
  return ndarray_of(array).attr("tolist")();
}

py::object to_device(const Bound& bound) {
  check_device(bound[1], "to_device");
  if (bound.given(2) != nullptr) throw ValueError("to_device: the CPU has no streams");
  return py::reinterpret_borrow<py::object>(bound[0]);
}

py::object format_method(const Bound& bound) {
  const py::handle spec = bound[1];
  if (!PyUnicode_Check(spec.ptr())) throw py::type_error("format: the format is not a str");
  if (PyUnicode_GET_LENGTH(spec.ptr()) == 0) return py::str(py::handle(bound[0]));
  return checked(PyObject_Format(only_element(bound[0], "format").ptr(), spec.ptr()));
}

py::object round_method(const Bound& bound) {
  const py::object number = only_element(bound[0], "round");
  const py::object round = number.attr("__round__");
  return bound.given(1) == nullptr ? round() : round(py::handle(bound[1]));
}

py::object round_elements(const Bound& bound) {
  enum { kSelf, kDecimals, kOut };
  const int64_t decimals =
      bound[kDecimals] == nullptr ? 0 : to_int64(bound[kDecimals], "round", "decimals");
  if (decimals != 0) {
    throw UnsupportedError(format("round: decimals={}, only 0 is supported", decimals));
  }
  const frontend::Argument argument = require_argument(bound[kSelf], "round", "x");
  const py::object result = apply_op(frontend::Op::kRound, {&argument, 1});
  if (bound.given(kOut) == nullptr) return result;
  return store(bound[kOut], array_of(result.ptr()), "round");
}

py::object fill(const Bound& bound) {
  const frontend::Argument value = require_argument(bound[1], "fill", "value");
  if (const auto* array = std::get_if<Array>(&value); array != nullptr && array->rank() > 0) {
    throw ShapeError(
        format("fill: value has shape {}, but is to be a number", format_tuple(array->shape())));
  }
  frontend::assign(array_of(bound[0]), value, false, current_source());
  return py::none();
}

constexpr Definition kRoundElements{"round", "decimals=0, out=None", round_elements,
                                    R"(The nearest integers, ties to even, in the same dtype.

    Raises UnsupportedError for decimals other than 0.

    >>> lw.asarray([0.5, 1.5, 2.6]).round()
    array([0., 2., 3.])
)",
                                    true};
constexpr Definition kFill{"fill", "value, /", fill,
                           R"(Sets all elements to a number.

    Raises ShapeError for an array of one or more axes, ValueError where the array is read-only.

    >>> x = lw.zeros(3)
    >>> x.fill(2)
    >>> x
    array([2., 2., 2.])
)",
                           true};
constexpr Definition kFormat{"__format__", "format, /", format_method,
                             R"(The text of an array; a number (an array of no axes) in any format.

    >>> f"{lw.asarray([1.0, 3.0]).mean():.3f}"
    '2.000'
)",
                             true};
constexpr Definition kRound{"__round__", "ndigits=None, /", round_method,
                            R"(A number (an array of no axes) rounded, as Python rounds it.

    >>> round(lw.asarray([1.0, 2.5]).mean(), 1)
    1.8
)",
                            true};
constexpr Definition kItem{"item", "*index", item_method,
                           R"(One element as Python number: the only one, or that at an index.

    Raises ValueError for an array of other than one element, IndexError for an index out of range.

    >>> lw.asarray([1.5, 2.5]).item(1)
    2.5
)",
                           true};
constexpr Definition kToList{"tolist", "", tolist,
                             R"(The elements as nested lists of Python numbers.

    >>> lw.asarray([[1, 2], [3, 4]]).tolist()
    [[1, 2], [3, 4]]
)",
                             true};
constexpr Definition kToDevice{"to_device", "device, /, *, stream=None", to_device,
                               R"(The array itself: "cpu" is the only device.

    Raises ValueError for any other.

    >>> lw.zeros(2).to_device("cpu")
    array([0., 0.])
)",
                               true};

}  // namespace

PyObject* array_repr(PyObject* self) { return text(self, "array_repr"); }
PyObject* array_str(PyObject* self) { return text(self, "array_str"); }

PyGetSetDef* array_properties() {
  static PyGetSetDef table[] = {
      property("shape", get<shape>, R"(Sizes of the axes: a tuple of integers.

    >>> lw.zeros((2, 3)).shape
    (2, 3)
)"),
      property("dtype", get<dtype>, R"(What the elements are: a NumPy dtype.

    >>> lw.asarray([1, 2]).dtype
    dtype('int64')
)"),
      property("ndim", get<ndim>, R"(Number of axes.

    >>> lw.zeros((2, 3)).ndim
    2
)"),
      property("size", get<size>, R"(Number of elements.

    >>> lw.zeros((2, 3)).size
    6
)"),
      property("itemsize", get<itemsize>, R"(Bytes of an element.

    >>> lw.zeros(3, dtype=lw.float32).itemsize
    4
)"),
      property("nbytes", get<nbytes>, R"(Bytes of all elements.

    >>> lw.zeros(3, dtype=lw.float32).nbytes
    12
)"),
      property("device", get<device>,
               R"(Where the elements are: always "cpu", as the array API has it.

    >>> lw.zeros(3).device
    'cpu'
)"),
      property("T", get<transposed>, R"(A view with the axes in reverse order.

    >>> lw.asarray([[1, 2], [3, 4]]).T
    array([[1, 3],
           [2, 4]])
)"),
      property("mT", get<matrix_transposed>, R"(A view with the last two axes swapped.

    Raises ShapeError for fewer than two axes.

    >>> lw.zeros((2, 3, 4)).mT.shape
    (2, 4, 3)
)"),
      property("__array_priority__", get<array_priority>, "Before ndarray."),
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  return table;
}

void append_methods(std::vector<PyMethodDef>& methods) {
  methods.push_back(python_function<kItem>());
  methods.push_back(python_function<kToList>());
  methods.push_back(python_function<kFormat>());
  methods.push_back(python_function<kRound>());
  methods.push_back(python_function<kToDevice>());
  methods.push_back(python_function<kRoundElements>());
  methods.push_back(python_function<kFill>());
  append_selection_methods(methods);
  append_manipulation_methods(methods);
  append_reduction_methods(methods);
}

}  // namespace lanewise::python
