// Arrays as others see them: buffer protocol, NumPy, pickle, copy.
#include <memory>
#include <utility>

#include "frontend/evaluate.h"
#include "frontend/strides.h"
#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/numpy.h"
#include "python/bindings/signature.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;

namespace {

// ---- buffer protocol ---------------------------------------------------------------------------

// What an exported buffer keeps alive. Holding the memory makes later writes to the array go
// elsewhere.
struct Exported {
  frontend::StridedData data;
  std::vector<int64_t> shape;
  char format[2];
};

// The letters of the struct module; long for 64 bits, as NumPy has it.
constexpr char kFormats[kDTypeCount] = {'?', 'b', 'h', 'i', 'l', 'B', 'H', 'I', 'L', 'f', 'd'};

bool is_contiguous(const Exported& exported, int64_t element, bool fortran) {
  const auto rank = static_cast<int>(exported.shape.size());
  for (int i = 0; i < rank; ++i) {
    const auto axis = static_cast<size_t>(fortran ? i : rank - 1 - i);
    if (exported.shape[axis] == 0) return true;
    if (exported.shape[axis] != 1 && exported.data.strides[axis] != element) return false;
    element *= exported.shape[axis];
  }
  return true;
}

void check_request(const Exported& exported, int64_t element, int flags) {
  const auto asks = [flags](int flag) { return (flags & flag) == flag; };
  if (asks(PyBUF_WRITABLE)) {
    throw py::buffer_error("Array: the memory of an array is read-only for others");
  }
  const bool rows = is_contiguous(exported, element, false);
  const bool columns = is_contiguous(exported, element, true);
  const bool fits = asks(PyBUF_C_CONTIGUOUS)     ? rows
                    : asks(PyBUF_F_CONTIGUOUS)   ? columns
                    : asks(PyBUF_ANY_CONTIGUOUS) ? rows || columns
                    : asks(PyBUF_STRIDES)        ? true
                                                 : rows;
  if (!fits) throw py::buffer_error("Array: the elements are not contiguous in memory");
}

void fill_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Array& array = array_of(self);
  require_value(array, "buffer");
  auto exported =
      std::make_unique<Exported>(Exported{frontend::strided_data(array),
                                          frontend::constant_sizes(array.shape()),
                                          {kFormats[static_cast<size_t>(array.dtype())], '\0'}});
  const int64_t element = size_of(array.dtype());
  check_request(*exported, element, flags);
  static_assert(sizeof(Py_ssize_t) == sizeof(int64_t));
  view->buf = exported->data.data;
  view->len = element_count(array) * element;
  view->itemsize = element;
  view->readonly = 1;
  view->ndim = array.rank();
  view->format = (flags & PyBUF_FORMAT) != 0 ? exported->format : nullptr;
  view->shape =
      (flags & PyBUF_ND) != 0 ? reinterpret_cast<Py_ssize_t*>(exported->shape.data()) : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES
                      ? reinterpret_cast<Py_ssize_t*>(exported->data.strides.data())
                      : nullptr;
  view->suboffsets = nullptr;
  view->internal = exported.release();
  view->obj = Py_NewRef(self);
}

// Why an array gave no buffer. NumPy asks for one first, drops the exception and asks for
// __array__: an interrupt would be lost and the work begun again if __array__ did not raise the
// exception then. Forgotten before Python code goes on. Guarded by the GIL.
class Refusal {
 public:
  // Keeps the Python error that is set.
  void keep(PyObject* array) {
    const auto forget_later = [](void* refusal) {
      static_cast<Refusal*>(refusal)->forget();
      return 0;
    };
    if (Py_AddPendingCall(forget_later, this) != 0) return;
    py::error_already_set error;
    array_ = array;
    error_ = Py_NewRef(error.value().ptr());
    error.restore();
  }
  void forget() {
    array_ = nullptr;
    Py_CLEAR(error_);
  }
  void raise(PyObject* array) {
    if (array_ != array) return;
    const auto error = py::reinterpret_steal<py::object>(std::exchange(error_, nullptr));
    forget();
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    throw py::error_already_set();
  }

 private:
  PyObject* array_ = nullptr;  // for comparing only
  PyObject* error_ = nullptr;
};
Refusal refusal;

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  refusal.forget();
  const int status = guarded(
      [&] {
        fill_buffer(self, view, flags);
        return 0;
      },
      -1);
  // A BufferError is about this request only.
  if (status < 0 && PyErr_ExceptionMatches(PyExc_BufferError) == 0) refusal.keep(self);
  return status;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

// ---- NumPy ---------------------------------------------------------------------------------

py::object to_ndarray(const Bound& bound) {
  enum { kSelf, kDType, kCopy };
  refusal.raise(bound[kSelf]);
  py::object result = ndarray_of(array_of(bound[kSelf]));
  std::optional<bool> copy;
  if (bound.given(kCopy) != nullptr) copy = to_bool(bound[kCopy]);
  if (bound.given(kDType) != nullptr) {
    const py::object dtype = py::module_::import("numpy").attr("dtype")(py::handle(bound[kDType]));
    if (!dtype.equal(result.attr("dtype"))) {
      if (copy == false) {
        throw ValueError(format("__array__: copy=False, but {} to {} needs a copy",
                                python_name(array_of(bound[kSelf]).dtype()),
                                py::cast<std::string>(py::str(dtype))));
      }
      return result.attr("astype")(dtype);
    }
  }
  return copy == true ? result.attr("copy")() : result;
}

constexpr Definition kToNdarray{
    "__array__", "dtype=None, *, copy=None", to_ndarray,
    R"(The array as ndarray: read-only and without a copy unless dtype or copy ask for one.

    Writing to the array later does not change what the ndarray shows.

    >>> np.asarray(lw.asarray([1, 2]) + 1)
    array([2, 3])
)",
    true};

// ---- pickle and copy -----------------------------------------------------------------------

py::object reduce(const Bound& bound) {
  const py::object make = py::module_::import("lanewise").attr("asarray");
  return py::make_tuple(make, py::make_tuple(ndarray_of(array_of(bound[0]))));
}

constexpr Definition kReduceArray{"__reduce__", "", reduce,
                                  R"(Pickles the values.

    >>> import pickle
    >>> pickle.loads(pickle.dumps(lw.asarray([1.0, 2.0])))
    array([1., 2.])
)",
                                  true};

py::object copy(const Bound& bound) { return wrap(Array(array_of(bound[0]).node())); }

constexpr Definition kCopyMethod{"copy", "", copy,
                                 R"(An array of its own with the same values; made when one of the
    two is written to.

    >>> x = lw.zeros(2)
    >>> y = x.copy()
    >>> y[0] = 1
    >>> x
    array([0., 0.])
)",
                                 true};

constexpr Definition kShallowCopy{"__copy__", "", copy, "What copy.copy calls: a copy.", true};
constexpr Definition kDeepCopy{"__deepcopy__", "memo, /", copy, "What copy.deepcopy calls: a copy.",
                               true};

}  // namespace

void append_buffer_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back(slot(Py_bf_getbuffer, get_buffer));
  slots.push_back(slot(Py_bf_releasebuffer, release_buffer));
}

void append_exchange_methods(std::vector<PyMethodDef>& methods) {
  methods.push_back(python_function<kToNdarray>());
  methods.push_back(python_function<kReduceArray>());
  methods.push_back(python_function<kCopyMethod>());
  methods.push_back(python_function<kShallowCopy>());
  methods.push_back(python_function<kDeepCopy>());
  append_dlpack_methods(methods);
}

}  // namespace lanewise::python
