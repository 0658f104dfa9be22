// The structures of DLPack 1.1, an agreement between array libraries: layouts, numbers and names
// are theirs. https://dmlc.github.io/dlpack
#pragma once

#include <cstdint>

// NOLINTBEGIN(readability-identifier-naming)
namespace lanewise::dlpack {

enum DeviceType : int32_t { kCpu = 1 };

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};

enum TypeCode : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBool = 6 };

struct DLDataType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // elements; null: row-major without gaps
  uint64_t byte_offset;
};

struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

struct DLPackVersion {
  uint32_t major;
  uint32_t minor;
};

enum Flags : uint64_t { kReadOnly = 1, kIsCopied = 2 };

struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

}  // namespace lanewise::dlpack
// NOLINTEND(readability-identifier-naming)
