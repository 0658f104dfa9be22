// DLPack: arrays of other libraries in place, and ours for them.
#pragma once

#include "frontend/array.h"
#include "python/bindings/numpy.h"

namespace lanewise::python {

bool has_dlpack(PyObject* object);

// A tensor taken over from another library, released when this goes.
class DlpackTensor {
 public:
  DlpackTensor() = default;
  // Asks for the tensor and checks that it lies in the memory of the CPU and has a dtype of ours.
  static DlpackTensor import(PyObject* object);
  DlpackTensor(DlpackTensor&& other) noexcept;
  DlpackTensor& operator=(DlpackTensor&& other) noexcept;
  ~DlpackTensor();

  const Memory& memory() const { return memory_; }
  // Leaves the tensor to the caller, who calls `release` on it in the end.
  void* leave();
  static void release(void* tensor) noexcept;

 private:
  struct Imported;
  Imported* imported_ = nullptr;
  Memory memory_;
};

frontend::Array copy_from_dlpack(PyObject* object);
// Shares the memory with the other library.
frontend::Array alias_of_dlpack(PyObject* object);
// Shares the memory with an ndarray; ValueError if its dtype or layout does not allow it.
frontend::Array alias_of_ndarray(PyObject* ndarray);

}  // namespace lanewise::python
