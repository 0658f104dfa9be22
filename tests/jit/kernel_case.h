// Runs one kernel as machine code on memory surrounded by inaccessible pages and compares all that
// it wrote with the interpreter's answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/kernel.h"
#include "jit/compiler.h"
#include "runtime/nest.h"

namespace lanewise::jit::test {

// Targets this CPU can run.
std::vector<Target> targets();

// Bytes between two inaccessible pages; they touch the one after them or the one before.
class GuardedMemory {
 public:
  GuardedMemory(size_t bytes, bool at_end);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte* data_ = nullptr;
};

// A value of `dtype`: often one of its special values, else any bits.
Scalar random_value(DType dtype, std::mt19937_64& random);

// A kernel over a domain with operands of given strides, in elements.
class KernelCase {
 public:
  explicit KernelCase(std::vector<int64_t> domain, int reduced = 0);

  ir::Builder& builder() { return builder_; }
  ir::Expr expr(ir::Value value) { return builder_.expr(value); }

  // A fresh array that a new operand reads.
  ir::Expr load(DType dtype, std::vector<int64_t> strides);
  // Another operand on the array of operand `of`, starting `offset` elements further.
  ir::Expr load_beside(const ir::Expr& of, int64_t offset);
  ir::Expr index(DType dtype, int64_t start, std::vector<int64_t> steps);
  ir::Expr scalar(Scalar value);
  void store(const ir::Expr& value, std::vector<int64_t> strides);
  // Writes over the array that `over` reads.
  void store_in_place(const ir::Expr& value, const ir::Expr& over);

  // "" if machine code and interpreter agree; else what differs. Arrays are filled with random
  // values.
  std::string run(Target target, uint64_t seed = 1);
  void set_streaming(bool streaming) { streaming_ = streaming; }
  void set_long_rows(bool long_rows) { long_rows_ = long_rows; }

  const ir::Kernel& kernel() const { return kernel_; }
  ir::Graph& kernel_body() { return kernel_.body; }
  const ir::Program& program() const { return program_; }
  runtime::Layout layout() const;

 private:
  struct Operand {
    DType dtype;
    std::vector<int64_t> strides;
    int memory = -1;     // -1: an index
    int64_t offset = 0;  // in elements from the memory's element 0; start of an index
    bool written = false;
  };
  // Elements lowest .. highest of all operands on one array.
  struct Extent {
    DType dtype;
    int64_t lowest = 0;
    int64_t highest = 0;
  };
  using Image = std::vector<std::byte>;

  ir::Expr leaf(ir::Op op, DType dtype);
  int add_operand(Operand operand);
  int64_t points() const;
  std::vector<int64_t> offsets(const Operand& operand) const;
  Extent extent(int memory) const;
  int memories() const;
  runtime::Nest nest(const std::vector<std::byte*>& memories) const;
  std::vector<Image> random_images(uint64_t seed) const;
  std::vector<Image> expected(const std::vector<Image>& images) const;
  std::string run_once(Target target, const std::vector<Image>& before,
                       const std::vector<Image>& expected, bool at_end) const;

  std::vector<int64_t> domain_;
  ir::Kernel kernel_;
  ir::Program program_;
  ir::Builder builder_{kernel_.body};
  std::vector<Operand> operands_;
  std::vector<Scalar> scalars_;
  bool streaming_ = false;
  bool long_rows_ = false;
};

}  // namespace lanewise::jit::test
