// The arguments of a call of a jitted function, flattened: what picks the trace, and what the
// trace's code reads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontend/trace.h"
#include "python/bindings/dlpack.h"
#include "python/bindings/numpy.h"

namespace lanewise::python {

// What a jitted function knows of its parameters.
struct Parameters {
  std::vector<std::string> names;        // of those that can be given by position
  std::vector<bool> is_static;           // of each
  std::vector<py::object> static_names;  // interned
};

class CallArguments {
 public:
  CallArguments() = default;
  CallArguments(const CallArguments&) = delete;
  CallArguments& operator=(const CallArguments&) = delete;

  // Static values are numbered by `statics`, a dict. TypeError for an argument that is neither an
  // array, a number nor a structure of them.
  void flatten(const std::string& function, const Parameters& parameters, py::dict& statics,
               PyObject* const* args, size_t count, PyObject* names);
  // Equal for calls that can use the same trace: structure, dtypes, shapes, static values.
  const std::vector<uint64_t>& key() const { return key_; }
  // Strings and types whose addresses are in the key; they must live as long as it does.
  std::vector<py::object> take_named() { return std::move(named_); }
  // True if an argument belongs to a trace under way.
  bool is_traced() const { return traced_; }

  size_t array_count() const { return arrays_.size(); }
  // Dtype and shape of array i, in order.
  frontend::Trace::Parameter describe(size_t i) const;

  // Evaluates arrays where needed, then says where all lie. They stay there until `clear`.
  std::span<const frontend::CallArray> locate();
  std::span<const uint64_t> numbers() const { return numbers_; }
  // Keeps an out's memory until `clear`.
  void keep(runtime::BufferRef buffer) { buffers_.push_back(std::move(buffer)); }

  // Forgets everything but the memory it needs itself.
  void clear();

 private:
  struct ArrayArgument {
    py::object array;  // an Array; else `memory` says where it is
    Memory memory;
  };

  void add(PyObject* object);
  void add_rare(PyObject* object);
  void add_items(PyObject* sequence);
  void add_dict(PyObject* dict);
  void add_array(PyObject* array);
  void add_memory(const Memory& memory);
  void add_ndarray(py::object ndarray);
  void add_static(py::dict& statics, PyObject* value);
  void add_name(PyObject* name);
  [[noreturn]] void fail(PyObject* object) const;

  const std::string* function_ = nullptr;  // for messages
  const Parameters* parameters_ = nullptr;
  size_t position_ = 0;
  PyObject* keyword_ = nullptr;

  std::vector<uint64_t> key_;
  std::vector<ArrayArgument> arrays_;
  std::vector<uint64_t> numbers_;
  std::vector<py::object> named_;
  std::vector<py::object> converted_;
  std::vector<DlpackTensor> tensors_;
  bool traced_ = false;

  std::vector<frontend::CallArray> places_;
  std::vector<int64_t> strides_;
  std::vector<runtime::BufferRef> buffers_;
};

// A CallArguments for one call: they are used again and again, since their memory is.
class CallArgumentsLease {
 public:
  CallArgumentsLease();
  ~CallArgumentsLease();
  CallArgumentsLease(const CallArgumentsLease&) = delete;
  CallArgumentsLease& operator=(const CallArgumentsLease&) = delete;
  CallArguments* operator->() const { return arguments_; }
  CallArguments& operator*() const { return *arguments_; }

 private:
  CallArguments* arguments_;
};

// Whether `object` is a Python number for jit: bool, int or float, but no scalar of NumPy.
bool is_python_number(PyObject* object);

}  // namespace lanewise::python
