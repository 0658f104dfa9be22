// What a compiled library says to the runtime inside it. Shared by the C runtime and by the C++
// code that writes the tables, so this is plain C.
//
// A function's tables are one array of 64-bit words, without addresses: places in it are numbers of
// words from its start. Sizes are polynomials over named sizes; they are evaluated once a call, and
// everything else names a size by its number in that list.
#ifndef LANEWISE_JIT_AOT_ARTEFACT_H
#define LANEWISE_JIT_AOT_ARTEFACT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { lw_artefact_format = 1 };

// The low byte of what functions return; the number of the argument it is about, from 1, is in the
// bits above. The C header of every library has the same list.
enum lw_error {
  lw_ok = 0,
  lw_error_cpu = 1,
  lw_error_null = 2,
  lw_error_device = 3,
  lw_error_dtype = 4,
  lw_error_rank = 5,
  lw_error_shape = 6,
  lw_error_strides = 7,
  lw_error_alignment = 8,
  lw_error_overlap = 9,
  lw_error_size = 10,
  lw_error_memory = 11,
  lw_error_value = 12,
  lw_error_range = 13
};

// DLPack's tensor.
typedef struct lw_tensor {
  void* data;
  int32_t device_type;
  int32_t device_id;
  int32_t rank;
  uint8_t dtype_code;
  uint8_t dtype_bits;
  uint16_t dtype_lanes;
  int64_t* shape;
  int64_t* strides;  // elements; null: row-major
  uint64_t byte_offset;
} lw_tensor;

// Arrays of records below are given by their count and their place.
typedef struct lw_list {
  int64_t count;
  int64_t place;
} lw_list;

// At place 0.
typedef struct lw_program {
  int64_t format;
  int64_t symbol_count;
  lw_list sizes;        // places of polynomials: count, then (coefficient, degree, symbols...) each
  lw_list tensors;      // lw_argument: inputs, then outputs
  int64_t input_count;  // of the tensors
  lw_list constraints;  // lw_constraint
  lw_list buffers;      // lw_buffer
  lw_list slots;        // sizes: bytes of each part of the workspace
  lw_list kernels;      // lw_kernel, in order
  lw_list copies;       // lw_copy, by kernel
  lw_list results;      // lw_copy after all kernels; `to` is the number of a tensor
  lw_list checks;       // buffers that must hold INT64_MAX before kernel `checked_kernels` runs
  int64_t checked_kernels;
  lw_list aliases;        // lw_alias
  int64_t number_count;   // scalars: so many arguments, then these two
  lw_list size_scalars;   // sizes
  lw_list literals;       // bits
  int64_t range;          // size of the loop that can be split between threads, or -1
  int64_t strides_count;  // axes of all buffers together
} lw_program;

typedef struct lw_argument {
  int64_t dtype_code;  // DLPack's
  int64_t item_size;
  int64_t rank;
  int64_t shape;     // place of the sizes
  int64_t binds;     // place, for each axis: the symbol that its size is the value of, or -1
  int64_t position;  // in the prototype, from 1
} lw_argument;

// left == right, or left >= right.
typedef struct lw_constraint {
  int64_t is_equality;
  int64_t left;
  int64_t right;
} lw_constraint;

// A block holds as many rows as kernels that run block by block compute at once.
enum lw_buffer_kind { lw_buffer_tensor, lw_buffer_constant, lw_buffer_temporary, lw_buffer_block };

typedef struct lw_buffer {
  int64_t kind;
  int64_t index;  // of the tensor, the constant or the slot
  int64_t item_size;
  int64_t rank;
  int64_t shape;    // place of the sizes
  int64_t strides;  // number of the first of its strides
} lw_buffer;

typedef struct lw_kernel {
  int64_t together;  // so many kernels from this one on run block by block over their one loop
  int64_t block;     // trips of a block
  int64_t rank;
  int64_t reduced;
  int64_t domain;     // place of the sizes
  lw_list operands;   // lw_operand
  lw_list scalars;    // numbers of scalars of the program
  lw_list variants;   // lw_variant, the preferred ones first; the last takes any strides
  int64_t functions;  // number of the first function: two a variant, x86-64-v3 and x86-64-v4
} lw_kernel;

typedef struct lw_operand {
  int64_t buffer;  // -1: an index
  int64_t item_size;
  int64_t written;
  int64_t shape;  // place of the sizes of the row-major array that it sees; -1: the buffer as it is
  lw_list axes;   // lw_axis
} lw_operand;

typedef struct lw_axis {
  int64_t offset;  // a size
  lw_list terms;   // lw_term
} lw_axis;

typedef struct lw_term {
  int64_t loop;
  int64_t step;  // a size
} lw_term;

// runtime::Stride
enum lw_stride { lw_unit, lw_broadcast, lw_small, lw_reversed, lw_other };

typedef struct lw_variant {
  int64_t rank;
  int64_t reduced;
  int64_t streaming;  // outputs bypass the cache: for arrays that exceed it
  int64_t operands;   // place of an lw_operand_layout for each operand
} lw_variant;

typedef struct lw_operand_layout {
  int64_t stride;
  int64_t step;
  int64_t group;
  int64_t column;
} lw_operand_layout;

typedef struct lw_copy {
  int64_t kernel;
  int64_t from;
  int64_t to;
} lw_copy;

// The output may be the very memory of the input.
typedef struct lw_alias {
  int64_t output;  // tensors
  int64_t input;
} lw_alias;

typedef void (*lw_kernel_function)(const void*);

// What the runtime gets to know of a function.
typedef struct lw_function {
  const int64_t* words;
  const lw_kernel_function* kernels;
  const void* const* constants;
} lw_function;

// Runs part `first` to `last` (not included) of the loop that can be split. `workspace` may be
// null: it is then taken from malloc.
typedef int32_t (*lw_run_function)(const lw_function*, const lw_tensor* const* tensors,
                                   const uint64_t* numbers, void* workspace, int64_t first,
                                   int64_t last);
// Checks the arguments. Says how long that loop is, and what the workspace needs.
typedef int32_t (*lw_query_function)(const lw_function*, const lw_tensor* const* tensors,
                                     int64_t* range, int64_t* workspace);

// What lanewise.load looks for, as the symbol lanewise_library.
typedef struct lw_library {
  int64_t format;
  const char* version;   // of lanewise
  const char* manifest;  // JSON
  lw_run_function run;
  lw_query_function query;
  const char* (*message)(int32_t code);
  int64_t function_count;
  const lw_function* functions;
} lw_library;

#ifdef __cplusplus
}
#endif

#endif
