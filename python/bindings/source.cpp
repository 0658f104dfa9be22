#include "python/bindings/source.h"

#include <Python.h>
#include <frameobject.h>

#include <deque>
#include <unordered_map>

#include "python/bindings/errors.h"
#include "support/format.h"

namespace lanewise::python {

namespace {

// A source is the number of a code object and the offset of an instruction in it. Code objects are
// kept, since the cell or the lambda that wrote an op may be gone when the op fails; only so many,
// for programs that make code for ever. Numbers are not used twice.
constexpr size_t kKeptCode = 4096;
constexpr int kOffsetBits = 24;

class CodeTable {
 public:
  // Takes the reference to `code`.
  uint64_t number(PyCodeObject* code) {
    if (code == last_) {
      Py_DECREF(code);
      return last_number_;
    }
    const auto [place, is_new] = numbers_.try_emplace(code, next_);
    if (is_new) {
      ++next_;
      kept_.push_back(code);
      if (kept_.size() > kKeptCode) forget_oldest();
    } else {
      Py_DECREF(code);
    }
    last_ = code;
    last_number_ = place->second;
    return last_number_;
  }

  // Borrowed; nullptr if it is not kept.
  PyCodeObject* code(uint64_t number) const {
    const uint64_t first = next_ - kept_.size();
    return number >= first && number < next_ ? kept_[number - first] : nullptr;
  }

 private:
  void forget_oldest() {
    PyCodeObject* oldest = kept_.front();
    kept_.pop_front();
    numbers_.erase(oldest);
    Py_DECREF(oldest);
  }

  PyCodeObject* last_ = nullptr;
  uint64_t last_number_ = 0;
  uint64_t next_ = 1;
  std::unordered_map<PyCodeObject*, uint64_t> numbers_;
  std::deque<PyCodeObject*> kept_;
};

// Guarded by the GIL; never destroyed, since the interpreter may be gone by then.
CodeTable& table() {
  static auto& table = *new CodeTable();
  return table;
}

int instruction_offset(PyFrameObject* frame) {
#if PY_VERSION_HEX >= 0x030B0000
  return PyFrame_GetLasti(frame);
#else
  return frame->f_lasti * 2;  // counted in instructions of two bytes
#endif
}

}  // namespace

frontend::Source current_source() {
  PyFrameObject* frame = PyEval_GetFrame();  // borrowed
  if (frame == nullptr) return 0;
  const int offset = instruction_offset(frame);
  if (offset < 0 || offset >= 1 << kOffsetBits) return 0;
  return table().number(PyFrame_GetCode(frame)) << kOffsetBits | static_cast<uint64_t>(offset);
}

std::string describe(frontend::Source source) {
  PyCodeObject* code = table().code(source >> kOffsetBits);
  if (code == nullptr) return {};
  const auto offset = static_cast<int>(source & ((uint64_t{1} << kOffsetBits) - 1));
  const int line = PyCode_Addr2Line(code, offset);
  const py::object file = py::handle(reinterpret_cast<PyObject*>(code)).attr("co_filename");
  return format("{}:{}", py::cast<std::string>(file), line);
}

}  // namespace lanewise::python
