#include "python/bindings/dlpack.h"

#include <optional>

#include "frontend/evaluate.h"
#include "frontend/strides.h"
#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/foreign.h"
#include "python/bindings/signature.h"
#include "support/dlpack.h"
#include "support/format.h"

namespace lanewise::python {

using dlpack::DLManagedTensor;
using dlpack::DLManagedTensorVersioned;
using dlpack::DLTensor;
using frontend::Array;

namespace {

constexpr dlpack::DLPackVersion kVersion{1, 1};
constexpr const char* kName = "dltensor";
constexpr const char* kUsedName = "used_dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";
constexpr const char* kUsedVersionedName = "used_dltensor_versioned";

DType dtype_of_tensor(const dlpack::DLDataType& dtype) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto candidate = static_cast<DType>(i);
    const uint8_t code = is_bool(candidate)           ? dlpack::kBool
                         : is_signed_int(candidate)   ? dlpack::kInt
                         : is_unsigned_int(candidate) ? dlpack::kUInt
                                                      : dlpack::kFloat;
    if (dtype.code == code && dtype.bits == 8 * size_of(candidate) && dtype.lanes == 1) {
      return candidate;
    }
  }
  throw DTypeError(format("from_dlpack: unknown dtype (code {}, {} bits, {} lanes)",
                          int{dtype.code}, int{dtype.bits}, int{dtype.lanes}));
}

dlpack::DLDataType tensor_dtype(DType dtype) {
  const uint8_t code = is_bool(dtype)           ? dlpack::kBool
                       : is_signed_int(dtype)   ? dlpack::kInt
                       : is_unsigned_int(dtype) ? dlpack::kUInt
                                                : dlpack::kFloat;
  return {code, static_cast<uint8_t>(8 * size_of(dtype)), 1};
}

}  // namespace

// ---- tensors of others -------------------------------------------------------------------------

struct DlpackTensor::Imported {
  DLManagedTensor* plain = nullptr;
  DLManagedTensorVersioned* versioned = nullptr;
  std::vector<int64_t> strides = {};  // bytes

  const DLTensor& tensor() const {
    return plain != nullptr ? plain->dl_tensor : versioned->dl_tensor;
  }
  ~Imported() {
    if (plain != nullptr && plain->deleter != nullptr) plain->deleter(plain);
    if (versioned != nullptr && versioned->deleter != nullptr) versioned->deleter(versioned);
  }
};

bool has_dlpack(PyObject* object) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  return PyObject_HasAttr(reinterpret_cast<PyObject*>(Py_TYPE(object)), name) == 1;
}

namespace {

py::object request_capsule(py::handle object) {
  using namespace py::literals;
  try {
    return object.attr("__dlpack__")("max_version"_a =
                                         py::make_tuple(kVersion.major, kVersion.minor));
  } catch (py::error_already_set& error) {
    // Libraries older than version 1 know no max_version.
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return object.attr("__dlpack__")();
}

void check_tensor(const DLTensor& tensor) {
  if (tensor.device.device_type != dlpack::kCpu) {
    throw UnsupportedError(
        format("from_dlpack: the array is on device type {}, not in the memory "
               "of the CPU (1)",
               tensor.device.device_type));
  }
}

}  // namespace

DlpackTensor DlpackTensor::import(PyObject* object) {
  const py::object capsule = request_capsule(object);
  DlpackTensor result;
  result.imported_ = new Imported();
  Imported& imported = *result.imported_;
  bool read_only = false;
  if (PyCapsule_IsValid(capsule.ptr(), kVersionedName) == 1) {
    imported.versioned =
        static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule.ptr(), kVersionedName));
    checked(PyCapsule_SetName(capsule.ptr(), kUsedVersionedName));
    if (imported.versioned->version.major > kVersion.major) {
      throw UnsupportedError(format("from_dlpack: DLPack version {} is newer than ours",
                                    imported.versioned->version.major));
    }
    read_only = (imported.versioned->flags & dlpack::kReadOnly) != 0;
  } else if (PyCapsule_IsValid(capsule.ptr(), kName) == 1) {
    imported.plain = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), kName));
    checked(PyCapsule_SetName(capsule.ptr(), kUsedName));
  } else {
    throw py::type_error("from_dlpack: __dlpack__ gave no capsule with a tensor");
  }
  const DLTensor& tensor = imported.tensor();
  check_tensor(tensor);
  Memory& memory = result.memory_;
  memory.dtype = dtype_of_tensor(tensor.dtype);
  memory.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  memory.rank = tensor.ndim;
  memory.shape = tensor.shape;
  memory.writable = !read_only;
  imported.strides.resize(static_cast<size_t>(tensor.ndim));
  int64_t gapless = size_of(memory.dtype);
  for (int axis = tensor.ndim - 1; axis >= 0; --axis) {
    int64_t& stride = imported.strides[static_cast<size_t>(axis)];
    stride = tensor.strides == nullptr ? gapless : tensor.strides[axis] * size_of(memory.dtype);
    gapless *= tensor.shape[axis];
  }
  memory.strides = imported.strides.data();
  return result;
}

DlpackTensor::DlpackTensor(DlpackTensor&& other) noexcept
    : imported_(std::exchange(other.imported_, nullptr)), memory_(other.memory_) {}

DlpackTensor& DlpackTensor::operator=(DlpackTensor&& other) noexcept {
  std::swap(imported_, other.imported_);
  std::swap(memory_, other.memory_);
  return *this;
}

DlpackTensor::~DlpackTensor() { delete imported_; }

void* DlpackTensor::leave() { return std::exchange(imported_, nullptr); }

void DlpackTensor::release(void* tensor) noexcept { delete static_cast<Imported*>(tensor); }

Array alias_of_dlpack(PyObject* object) {
  DlpackTensor tensor = DlpackTensor::import(object);
  return alias_memory(tensor.memory(), DlpackTensor::release, tensor.leave());
}

Array copy_from_dlpack(PyObject* object) {
  const Array alias = alias_of_dlpack(object);
  // A copy has memory of its own, so it goes through NumPy, which knows how to copy any strides.
  return copy_of_ndarray(ndarray_of(alias), "asarray");
}

Array alias_of_ndarray(PyObject* ndarray) {
  Memory memory;
  if (!read_in_place(ndarray, memory)) {
    throw ValueError(
        "asarray: copy=False, but the array's dtype, byte order or alignment needs a "
        "copy");
  }
  return alias_memory(memory, release_object, Py_NewRef(ndarray));
}

// ---- our arrays for others ---------------------------------------------------------------------

namespace {

// What a tensor of ours keeps alive.
struct Exported {
  frontend::StridedData data;
  std::vector<int64_t> shape, strides;  // strides in elements
};

template <class Managed>
void delete_exported(Managed* managed) {
  delete static_cast<Exported*>(managed->manager_ctx);
  delete managed;
}

template <class Managed>
void delete_capsule(PyObject* capsule) {
  const char* name = std::is_same_v<Managed, DLManagedTensor> ? kName : kVersionedName;
  if (PyCapsule_IsValid(capsule, name) == 0) return;  // its consumer has taken it over
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

Exported* export_array(const Array& array) {
  auto* exported =
      new Exported{frontend::strided_data(array), frontend::constant_sizes(array.shape()), {}};
  for (const int64_t stride : exported->data.strides) {
    exported->strides.push_back(stride / size_of(array.dtype()));
  }
  return exported;
}

DLTensor tensor_of(DType dtype, Exported& exported) {
  return {exported.data.data,
          {dlpack::kCpu, 0},
          static_cast<int32_t>(exported.shape.size()),
          tensor_dtype(dtype),
          exported.shape.data(),
          exported.strides.data(),
          0};
}

template <class Managed>
py::object capsule_of(const Array& array, uint64_t flags) {
  auto exported = std::unique_ptr<Exported>(export_array(array));
  auto managed = std::make_unique<Managed>();
  managed->dl_tensor = tensor_of(array.dtype(), *exported);
  managed->deleter = delete_exported<Managed>;
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>) {
    managed->version = kVersion;
    managed->flags = flags;
  }
  const char* name = std::is_same_v<Managed, DLManagedTensor> ? kName : kVersionedName;
  py::object capsule = checked(PyCapsule_New(managed.get(), name, delete_capsule<Managed>));
  managed.release()->manager_ctx = exported.release();
  return capsule;
}

// Fresh memory that nobody else sees.
Array copied(const Array& array) { return copy_of_ndarray(ndarray_of(array), "__dlpack__"); }

py::object to_dlpack(const Bound& bound) {
  enum { kSelf, kStream, kMaxVersion, kDevice, kCopy };
  const Array& array = array_of(bound[kSelf]);
  require_value(array, "__dlpack__");
  if (bound.given(kStream) != nullptr) throw ValueError("__dlpack__: the CPU has no streams");
  if (bound.given(kDevice) != nullptr &&
      !py::make_tuple(int{dlpack::kCpu}, 0).equal(py::handle(bound[kDevice]))) {
    throw py::buffer_error("__dlpack__: arrays are in the memory of the CPU only");
  }
  const bool versioned = bound.given(kMaxVersion) != nullptr &&
                         py::cast<int64_t>(py::handle(bound[kMaxVersion])[py::int_(0)]) >= 1;
  std::optional<bool> copy;
  if (bound.given(kCopy) != nullptr) copy = to_bool(bound[kCopy]);
  // Before version 1 there was no way to say that memory must not be written to.
  if (!versioned && copy == false) {
    throw py::buffer_error(
        "__dlpack__: without a copy the memory is read-only, which a consumer "
        "of DLPack before version 1 cannot know");
  }
  if (!versioned) return capsule_of<DLManagedTensor>(copied(array), 0);
  if (copy == true) return capsule_of<DLManagedTensorVersioned>(copied(array), dlpack::kIsCopied);
  return capsule_of<DLManagedTensorVersioned>(array, dlpack::kReadOnly);
}

constexpr Definition kToDlpack{
    "__dlpack__", "*, stream=None, max_version=None, dl_device=None, copy=None", to_dlpack,
    R"(The array as a DLPack capsule, for the from_dlpack of other libraries.

    The memory is shared and marked read-only, or copied: if copy is true, or if the consumer asks
    for a version of DLPack before 1, which has no such mark.

    >>> np.from_dlpack(lw.asarray([1.0, 2.0]))
    array([1., 2.])
)",
    true};

constexpr Definition kDlpackDevice{
    "__dlpack_device__", "",
    [](const Bound&) -> py::object { return py::make_tuple(int{dlpack::kCpu}, 0); },
    R"(Device type and number, as DLPack counts them: the CPU.

    >>> lw.asarray([1.0]).__dlpack_device__()
    (1, 0)
)",
    true};

}  // namespace

void append_dlpack_methods(std::vector<PyMethodDef>& methods) {
  methods.push_back(python_function<kToDlpack>());
  methods.push_back(python_function<kDlpackDevice>());
}

}  // namespace lanewise::python
