// A local array whose length is known at run time: on the stack where short, else on the heap.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

namespace lanewise {

template <class T, size_t kInline>
class InlineArray {
  static_assert(std::is_trivial_v<T>, "elements start uninitialized");

 public:
  explicit InlineArray(size_t size) : data_(inline_) {
    if (size > kInline) [[unlikely]] {
      heap_.reset(new T[size]);
      data_ = heap_.get();
    }
  }
  InlineArray(const InlineArray&) = delete;
  InlineArray& operator=(const InlineArray&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  T inline_[kInline];
  std::unique_ptr<T[]> heap_;
  T* data_;
};

}  // namespace lanewise
