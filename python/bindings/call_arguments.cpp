#include "python/bindings/call_arguments.h"

#include <algorithm>
#include <bit>

#include "frontend/evaluate.h"
#include "frontend/strides.h"
#include "python/bindings/arguments.h"
#include "python/bindings/array_object.h"
#include "python/bindings/tree.h"
#include "python/bindings/type_text.h"
#include "support/format.h"

namespace lanewise::python {

using frontend::Array;
using frontend::Weak;

namespace {

// The first byte of a word of the key; more about it follows in the word and after it.
enum Tag : uint8_t { kNone, kTuple, kNamedTuple, kList, kDict, kKeyword, kArray, kNumber, kStatic };

uint64_t word(Tag tag, uint64_t detail = 0) { return detail << 8 | tag; }
uint64_t word(Tag tag, DType dtype, int rank) {
  return word(tag, static_cast<uint64_t>(rank) << 8 | static_cast<uint64_t>(dtype));
}
uint64_t word(const void* address) { return std::bit_cast<uint64_t>(address); }

}  // namespace

bool is_python_number(PyObject* object) {
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object) || PyBool_Check(object)) return true;
  return (PyFloat_Check(object) || PyLong_Check(object)) && !is_numpy_scalar(object);
}

void CallArguments::flatten(const std::string& function, const Parameters& parameters,
                            py::dict& statics, PyObject* const* args, size_t count,
                            PyObject* names) {
  function_ = &function;
  parameters_ = &parameters;
  for (position_ = 0; position_ < count; ++position_) {
    if (position_ < parameters.is_static.size() && parameters.is_static[position_]) {
      add_static(statics, args[position_]);
    } else {
      add(args[position_]);
    }
  }
  if (names == nullptr) return;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    keyword_ = PyTuple_GET_ITEM(names, i);
    key_.push_back(word(kKeyword));
    add_name(keyword_);
    const bool is_static = std::ranges::any_of(parameters.static_names, [&](const auto& name) {
      return PyUnicode_Compare(name.ptr(), keyword_) == 0;
    });
    PyObject* value = args[count + static_cast<size_t>(i)];
    if (is_static) {
      add_static(statics, value);
    } else {
      add(value);
    }
  }
}

void CallArguments::add(PyObject* object) {
  if (is_array(object)) {
    add_array(object);
  } else if (PyFloat_CheckExact(object)) {
    key_.push_back(word(kNumber, static_cast<uint64_t>(Weak::kFloat)));
    numbers_.push_back(std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(object)));
  } else {
    add_rare(object);
  }
}

void CallArguments::add_rare(PyObject* object) {
  if (is_python_number(object)) {
    const frontend::Number number = *python_number(object, "jit");
    if (std::holds_alternative<uint64_t>(number.value)) {
      PyErr_SetString(PyExc_OverflowError,
                      "jit: a Python integer beyond the range of int64; pass "
                      "it as an array of dtype uint64");
      throw py::error_already_set();
    }
    key_.push_back(word(kNumber, static_cast<uint64_t>(number.weak)));
    numbers_.push_back(number.weak == Weak::kFloat
                           ? std::bit_cast<uint64_t>(std::get<double>(number.value))
                           : static_cast<uint64_t>(std::get<int64_t>(number.value)));
    return;
  }
  switch (tree_kind(object)) {
    case TreeKind::kNone:
      key_.push_back(word(kNone));
      return;
    case TreeKind::kTuple:
      key_.push_back(word(kTuple, static_cast<uint64_t>(PyTuple_GET_SIZE(object))));
      return add_items(object);
    case TreeKind::kNamedTuple:
      key_.push_back(word(kNamedTuple));
      key_.push_back(word(Py_TYPE(object)));
      named_.push_back(
          py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(Py_TYPE(object))));
      return add_items(object);
    case TreeKind::kList:
      key_.push_back(word(kList, static_cast<uint64_t>(PyList_GET_SIZE(object))));
      return add_items(object);
    case TreeKind::kDict:
      return add_dict(object);
    case TreeKind::kLeaf:
      break;
  }
  if (is_ndarray(object)) {
    add_ndarray(py::reinterpret_borrow<py::object>(object));
  } else if (is_numpy_scalar(object)) {
    add_ndarray(py::array::ensure(py::handle(object)));
  } else if (has_dlpack(object)) {
    tensors_.push_back(DlpackTensor::import(object));
    add_memory(tensors_.back().memory());
  } else if (PyObject_CheckBuffer(object) == 1) {
    py::object ndarray = py::array::ensure(py::handle(object));
    if (!ndarray) throw py::error_already_set();
    add_ndarray(std::move(ndarray));
  } else {
    fail(object);
  }
}

void CallArguments::add_items(PyObject* sequence) {
  const RecursionGuard guard;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const auto item = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(sequence, i));
    add(item.ptr());
    expect_size(PySequence_Fast_GET_SIZE(sequence), count);
  }
}

void CallArguments::add_dict(PyObject* dict) {
  const RecursionGuard guard;
  const Py_ssize_t count = PyDict_GET_SIZE(dict);
  key_.push_back(word(kDict, static_cast<uint64_t>(count)));
  PyObject* name = nullptr;
  PyObject* next = nullptr;
  Py_ssize_t position = 0;
  Py_ssize_t found = 0;
  while (PyDict_Next(dict, &position, &name, &next) != 0) {
    if (!PyUnicode_Check(name)) {
      throw py::type_error(format("jit: the key {} of a dict is not a string",
                                  py::cast<std::string>(py::repr(py::handle(name)))));
    }
    add_name(name);
    const auto value = py::reinterpret_borrow<py::object>(next);
    add(value.ptr());
    expect_size(PyDict_GET_SIZE(dict), count);
    ++found;
  }
  expect_size(found, count);  // another key may have come for one that went
}

void CallArguments::add_name(PyObject* name) {
  PyObject* canonical = Py_NewRef(name);
  PyUnicode_InternInPlace(&canonical);  // equal names have one address now
  named_.push_back(py::reinterpret_steal<py::object>(canonical));
  key_.push_back(word(canonical));
}

void CallArguments::add_array(PyObject* object) {
  const Array& array = array_of(object);
  if (python::is_traced(array)) {
    traced_ = true;
    return;
  }
  key_.push_back(word(kArray, array.dtype(), array.rank()));
  for (const frontend::Dim& dim : array.shape()) {
    key_.push_back(static_cast<uint64_t>(dim.value()));
  }
  arrays_.push_back({py::reinterpret_borrow<py::object>(object), {}});
}

void CallArguments::add_memory(const Memory& memory) {
  key_.push_back(word(kArray, memory.dtype, memory.rank));
  for (int axis = 0; axis < memory.rank; ++axis) {
    key_.push_back(static_cast<uint64_t>(memory.shape[axis]));
  }
  arrays_.push_back({{}, memory});
}

void CallArguments::add_ndarray(py::object ndarray) {
  Memory memory;
  if (!read_in_place(ndarray.ptr(), memory)) {
    converted_.push_back(usable_ndarray(ndarray, "jit"));
    read_in_place(converted_.back().ptr(), memory);
  } else {
    converted_.push_back(std::move(ndarray));
  }
  add_memory(memory);
}

void CallArguments::add_static(py::dict& statics, PyObject* value) {
  // 1, 1.0 and True are equal but not the same value.
  const py::tuple typed =
      py::make_tuple(py::handle(reinterpret_cast<PyObject*>(Py_TYPE(value))), py::handle(value));
  const py::object next = py::int_(statics.size());
  PyObject* number = PyDict_SetDefault(statics.ptr(), typed.ptr(), next.ptr());
  if (number == nullptr) {
    py::error_already_set error;
    if (!error.matches(PyExc_TypeError)) throw error;
    throw py::type_error(format("jit: the static argument {} of {} is {}, which has no hash",
                                py::cast<std::string>(py::repr(py::handle(value))), *function_,
                                a_type(value)));
  }
  key_.push_back(word(kStatic, py::cast<uint64_t>(py::handle(number))));
}

void CallArguments::fail(PyObject* object) const {
  std::string parameter;
  if (keyword_ != nullptr) {
    parameter = format("'{}'", py::cast<std::string>(py::handle(keyword_)));
  } else if (position_ < parameters_->names.size()) {
    parameter = format("'{}'", parameters_->names[position_]);
  } else {
    parameter = format("{}", position_ + 1);
  }
  throw py::type_error(
      format("jit: argument {} of {} is {}, not an array, a number or a tuple, "
             "list or dict of them; name it in static_argnames",
             parameter, *function_, a_type(object)));
}

frontend::Trace::Parameter CallArguments::describe(size_t i) const {
  const ArrayArgument& argument = arrays_[i];
  if (argument.array) {
    const Array& array = array_of(argument.array.ptr());
    return {{}, array.dtype(), array.shape(), {}};
  }
  const Memory& memory = argument.memory;
  const std::vector<frontend::Dim> dims(memory.shape, memory.shape + memory.rank);
  return {{}, memory.dtype, frontend::Shape(dims), {}};
}

std::span<const frontend::CallArray> CallArguments::locate() {
  // Together, since they may share work; again if another thread has written meanwhile.
  std::vector<Array> pending;
  do {
    pending.clear();
    for (const ArrayArgument& argument : arrays_) {
      if (!argument.array) continue;
      const Array& array = array_of(argument.array.ptr());
      if (!array.storage()->node()->is_leaf()) pending.push_back(array);
    }
    if (!pending.empty()) frontend::evaluate(pending);
  } while (!pending.empty());
  // Addresses into `strides_` only once it has stopped growing.
  for (const ArrayArgument& argument : arrays_) {
    if (!argument.array) continue;
    const Array& array = array_of(argument.array.ptr());
    frontend::append_byte_strides(strides_, array.window().strides, array.dtype());
  }
  const int64_t* next = strides_.data();
  for (const ArrayArgument& argument : arrays_) {
    if (!argument.array) {
      places_.push_back({argument.memory.data, argument.memory.strides});
      continue;
    }
    const Array& array = array_of(argument.array.ptr());
    const frontend::LeafData& data = array.storage()->node()->data();
    buffers_.push_back(data.buffer);
    places_.push_back({data.data() + array.window().offset.value() * size_of(array.dtype()), next});
    next += array.rank();
  }
  return places_;
}

void CallArguments::clear() {
  keyword_ = nullptr;
  key_.clear();
  arrays_.clear();
  numbers_.clear();
  named_.clear();
  converted_.clear();
  tensors_.clear();
  traced_ = false;
  places_.clear();
  strides_.clear();
  buffers_.clear();
}

namespace {

// Guarded by the GIL.
std::vector<CallArguments*>& idle() {
  static auto& idle = *new std::vector<CallArguments*>();
  return idle;
}

}  // namespace

CallArgumentsLease::CallArgumentsLease() {
  if (idle().empty()) {
    arguments_ = new CallArguments();
  } else {
    arguments_ = idle().back();
    idle().pop_back();
  }
}

CallArgumentsLease::~CallArgumentsLease() {
  arguments_->clear();
  idle().push_back(arguments_);
}

}  // namespace lanewise::python
