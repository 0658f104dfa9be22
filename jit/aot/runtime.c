// The runtime inside compiled libraries: checks arguments, turns their strides into loop nests, and
// runs the kernels. It needs malloc, free and getenv, and nothing else of the C library.
//
// Built into assembly, which becomes part of every object file; so everything here is static.
#include "jit/aot/artefact.h"
#include "jit/aot/runtime_cpu.h"
#include "jit/aot/runtime_nest.h"

extern void* malloc(size_t size);
extern void free(void* memory);

// runtime::KernelArguments
typedef struct kernel_arguments {
  const intptr_t* bases;
  const int64_t* strides;
  const int64_t* sizes;
  const uint64_t* scalars;
} kernel_arguments;

enum { line = 64 };

static int32_t fail(int32_t error, int64_t argument) { return error | (int32_t)(argument << 8); }

// ---- a call --------------------------------------------------------------------------------

typedef struct call {
  const lw_function* function;
  const int64_t* words;
  const lw_program* program;
  const lw_tensor* const* tensors;
  int64_t* sizes;       // their values
  int64_t* strides;     // of all buffers, in bytes
  intptr_t* addresses;  // of all buffers
  intptr_t* extents;    // of all tensors: first byte, and one past the last
  uint64_t* scalars;
  int64_t first, last;  // of the loop that can be split; last < 0: all of it
  int level;
} call;

#define RECORDS(type, list) ((const type*)(call->words + (list).place))

static const lw_buffer* buffer_at(const call* call, int64_t i) {
  return RECORDS(lw_buffer, call->program->buffers) + i;
}

static int64_t size_at(const call* call, int64_t place, int64_t i) {
  return call->sizes[call->words[place + i]];
}

// ---- sizes ---------------------------------------------------------------------------------

// 0 where 64 bits do not hold it.
static int evaluate(const int64_t* polynomial, const int64_t* symbols, int64_t* value) {
  int64_t count = *polynomial++;
  *value = 0;
  for (; count > 0; --count) {
    int64_t product = *polynomial++;
    for (int64_t degree = *polynomial++; degree > 0; --degree) {
      if (__builtin_mul_overflow(product, symbols[*polynomial++], &product)) return 0;
    }
    if (__builtin_add_overflow(*value, product, value)) return 0;
  }
  return 1;
}

static int32_t bind_symbols(const call* call, int64_t* symbols) {
  const lw_program* program = call->program;
  for (int64_t i = 0; i < program->symbol_count; ++i) symbols[i] = -1;
  for (int64_t t = 0; t < program->tensors.count; ++t) {
    const lw_argument* argument = RECORDS(lw_argument, program->tensors) + t;
    const lw_tensor* tensor = call->tensors[t];
    if (tensor == 0) return fail(lw_error_null, argument->position);
    if (tensor->device_type != 1) return fail(lw_error_device, argument->position);
    if (tensor->dtype_code != argument->dtype_code || tensor->dtype_lanes != 1 ||
        tensor->dtype_bits != 8 * argument->item_size) {
      return fail(lw_error_dtype, argument->position);
    }
    if (tensor->rank != argument->rank) return fail(lw_error_rank, argument->position);
    if (argument->rank > 0 && tensor->shape == 0) return fail(lw_error_null, argument->position);
    for (int64_t axis = 0; axis < argument->rank; ++axis) {
      const int64_t size = tensor->shape[axis];
      if (size < 0) return fail(lw_error_shape, argument->position);
      const int64_t symbol = call->words[argument->binds + axis];
      if (symbol >= 0 && t < program->input_count && symbols[symbol] < 0) symbols[symbol] = size;
    }
  }
  return lw_ok;
}

static int32_t check_shapes(const call* call) {
  const lw_program* program = call->program;
  for (int64_t t = 0; t < program->tensors.count; ++t) {
    const lw_argument* argument = RECORDS(lw_argument, program->tensors) + t;
    for (int64_t axis = 0; axis < argument->rank; ++axis) {
      if (call->tensors[t]->shape[axis] != size_at(call, argument->shape, axis)) {
        return fail(lw_error_shape, argument->position);
      }
    }
  }
  for (int64_t i = 0; i < program->constraints.count; ++i) {
    const lw_constraint* constraint = RECORDS(lw_constraint, program->constraints) + i;
    const int64_t left = call->sizes[constraint->left];
    const int64_t right = call->sizes[constraint->right];
    if (constraint->is_equality ? left != right : left < right) return fail(lw_error_shape, 0);
  }
  return lw_ok;
}

static int32_t find_sizes(call* call) {
  int64_t symbols[call->program->symbol_count + 1];
  const int32_t error = bind_symbols(call, symbols);
  if (error != lw_ok) return error;
  const lw_list* list = &call->program->sizes;
  for (int64_t i = 0; i < list->count; ++i) {
    const int64_t* polynomial = call->words + call->words[list->place + i];
    if (!evaluate(polynomial, symbols, &call->sizes[i])) return fail(lw_error_size, 0);
  }
  return check_shapes(call);
}

// ---- where buffers are ---------------------------------------------------------------------

static int row_major(const call* call, int64_t shape, int64_t rank, int64_t item,
                     int64_t* strides) {
  int64_t stride = item;
  for (int64_t axis = rank; axis-- > 0;) {
    strides[axis] = stride;
    const int64_t size = size_at(call, shape, axis);
    if (__builtin_mul_overflow(stride, size > 1 ? size : 1, &stride)) return 0;
  }
  return 1;
}

// Byte strides and extent of a tensor.
static int32_t place_tensor(const call* call, int64_t t, int64_t* strides, intptr_t* address) {
  const lw_argument* argument = RECORDS(lw_argument, call->program->tensors) + t;
  const lw_tensor* tensor = call->tensors[t];
  int64_t count = 1;
  for (int64_t axis = 0; axis < argument->rank; ++axis) {
    if (__builtin_mul_overflow(count, tensor->shape[axis], &count)) {
      return fail(lw_error_size, argument->position);
    }
  }
  if (!row_major(call, argument->shape, argument->rank, argument->item_size, strides)) {
    return fail(lw_error_size, argument->position);
  }
  const intptr_t start = (intptr_t)tensor->data + (intptr_t)tensor->byte_offset;
  intptr_t low = start, high = start + argument->item_size;
  for (int64_t axis = 0; axis < argument->rank; ++axis) {
    int64_t reach;
    if (tensor->strides != 0 && tensor->shape[axis] != 1 &&
        __builtin_mul_overflow(tensor->strides[axis], argument->item_size, &strides[axis])) {
      return fail(lw_error_strides, argument->position);
    }
    if (count == 0) continue;
    if (__builtin_mul_overflow(strides[axis], tensor->shape[axis] - 1, &reach) ||
        __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) {
      return fail(lw_error_strides, argument->position);
    }
  }
  if (count == 0) high = low = start;
  if (count != 0 && tensor->data == 0) return fail(lw_error_null, argument->position);
  if (start % argument->item_size != 0) return fail(lw_error_alignment, argument->position);
  *address = start;
  call->extents[2 * t] = low;
  call->extents[2 * t + 1] = high;
  return lw_ok;
}

// Whether no two elements share memory, where each axis steps over all that axes of smaller strides
// span. (Others are refused too: nobody has them.)
static int has_own_elements(const lw_tensor* tensor, const int64_t* strides, int64_t item) {
  const int64_t rank = tensor->rank;
  int64_t reached = item;
  int64_t last = -1, last_axis = -1;  // the axes with smaller strides come first, then by number
  for (;;) {
    int64_t next = INT64_MAX, next_axis = -1;
    for (int64_t axis = 0; axis < rank; ++axis) {
      const int64_t stride = strides[axis] < 0 ? -strides[axis] : strides[axis];
      if (tensor->shape[axis] <= 1) continue;
      if (stride < last || (stride == last && axis <= last_axis)) continue;
      if (stride < next) next = stride, next_axis = axis;
    }
    if (next_axis < 0) return 1;
    if (next < reached) return 0;
    reached += next * (tensor->shape[next_axis] - 1);
    last = next;
    last_axis = next_axis;
  }
}

static int may_alias(const call* call, int64_t output, int64_t input) {
  const lw_program* program = call->program;
  const lw_tensor* a = call->tensors[output];
  for (int64_t i = 0; i < program->aliases.count; ++i) {
    const lw_alias* alias = RECORDS(lw_alias, program->aliases) + i;
    if (alias->output != output || alias->input != input) continue;
    if (call->addresses[output] != call->addresses[input]) return 0;
    const int64_t* left = call->strides + buffer_at(call, output)->strides;
    const int64_t* right = call->strides + buffer_at(call, input)->strides;
    for (int64_t axis = 0; axis < a->rank; ++axis) {
      if (a->shape[axis] != 1 && left[axis] != right[axis]) return 0;
    }
    return 1;
  }
  return 0;
}

static int32_t check_overlap(const call* call) {
  const lw_program* program = call->program;
  for (int64_t out = program->input_count; out < program->tensors.count; ++out) {
    const lw_argument* argument = RECORDS(lw_argument, program->tensors) + out;
    const int64_t* strides = call->strides + buffer_at(call, out)->strides;
    if (call->extents[2 * out] == call->extents[2 * out + 1]) continue;
    if (!has_own_elements(call->tensors[out], strides, argument->item_size)) {
      return fail(lw_error_strides, argument->position);
    }
    for (int64_t other = 0; other < out; ++other) {
      const int apart = call->extents[2 * other] >= call->extents[2 * out + 1] ||
                        call->extents[2 * out] >= call->extents[2 * other + 1];
      if (!apart && !may_alias(call, out, other)) return fail(lw_error_overlap, argument->position);
    }
  }
  return lw_ok;
}

// The first buffers are the tensors.
static int32_t place_buffers(call* call) {
  const lw_program* program = call->program;
  for (int64_t b = 0; b < program->buffers.count; ++b) {
    const lw_buffer* buffer = buffer_at(call, b);
    int64_t* strides = call->strides + buffer->strides;
    if (buffer->kind == lw_buffer_tensor) {
      const int32_t error = place_tensor(call, b, strides, &call->addresses[b]);
      if (error != lw_ok) return error;
      continue;
    }
    if (!row_major(call, buffer->shape, buffer->rank, buffer->item_size, strides)) {
      return fail(lw_error_size, 0);
    }
    if (buffer->kind == lw_buffer_constant) {
      call->addresses[b] = (intptr_t)call->function->constants[buffer->index];
    }
  }
  return check_overlap(call);
}

// Bytes of the workspace; negative where 64 bits do not hold them.
static int64_t workspace_bytes(const call* call) {
  const lw_list* slots = &call->program->slots;
  int64_t total = 0;
  for (int64_t i = 0; i < slots->count; ++i) {
    const int64_t bytes = size_at(call, slots->place, i);
    if (bytes > INT64_MAX - 2 * line - total) return -1;
    total += (bytes + line - 1) / line * line;
  }
  return total == 0 ? 0 : total + line;
}

static void place_temporaries(call* call, void* workspace) {
  const lw_program* program = call->program;
  for (int64_t b = 0; b < program->buffers.count; ++b) {
    const lw_buffer* buffer = buffer_at(call, b);
    if (buffer->kind != lw_buffer_temporary && buffer->kind != lw_buffer_block) continue;
    intptr_t address = ((intptr_t)workspace + line - 1) / line * line;
    for (int64_t slot = 0; slot < buffer->index; ++slot) {
      address += (size_at(call, program->slots.place, slot) + line - 1) / line * line;
    }
    call->addresses[b] = address;
  }
}

// ---- kernels -------------------------------------------------------------------------------

// Fills up with loops of one trip, outside the kept loops and outside the reduced ones.
static void call_kernel(const call* call, const lw_kernel* kernel, const nest* nest,
                        const lw_variant* variant, lw_kernel_function function) {
  const int64_t rank = variant->rank;
  const int64_t kept = nest->rank - nest->reduced;
  const int64_t before = rank - variant->reduced - kept;
  const int64_t between = variant->reduced - nest->reduced;
  int64_t sizes[rank];
  int64_t strides[nest->operand_count * rank + 1];
  for (int64_t loop = 0; loop < rank; ++loop) sizes[loop] = 1;
  for (int64_t i = 0; i < nest->operand_count * rank; ++i) strides[i] = 0;
  for (int64_t loop = 0; loop < nest->rank; ++loop) {
    const int64_t to = before + loop + (loop < kept ? 0 : between);
    sizes[to] = nest->sizes[loop];
    for (int64_t k = 0; k < nest->operand_count; ++k) {
      strides[k * rank + to] = *stride_of(nest, k, loop);
    }
  }
  uint64_t scalars[kernel->scalars.count + 1];
  for (int64_t i = 0; i < kernel->scalars.count; ++i) {
    scalars[i] = call->scalars[call->words[kernel->scalars.place + i]];
  }
  const kernel_arguments arguments = {nest->bases, strides, sizes, scalars};
  function(&arguments);
}

static void place_operand(const call* call, const lw_operand* operand, intptr_t* base,
                          int64_t* strides, int64_t loops) {
  for (int64_t loop = 0; loop < loops; ++loop) strides[loop] = 0;
  const int64_t rank = operand->axes.count;
  int64_t own[rank + 1];
  const int64_t* axis_strides = own;
  *base = 0;
  if (operand->buffer < 0) {
    own[0] = 1;  // of an index: the number itself
  } else {
    *base = call->addresses[operand->buffer];
    if (operand->shape < 0) {
      axis_strides = call->strides + buffer_at(call, operand->buffer)->strides;
    } else {
      row_major(call, operand->shape, rank, operand->item_size, own);
    }
  }
  const lw_axis* axes = RECORDS(lw_axis, operand->axes);
  for (int64_t axis = 0; axis < rank; ++axis) {
    *base += times(call->sizes[axes[axis].offset], axis_strides[axis]);
    const lw_term* terms = RECORDS(lw_term, axes[axis].terms);
    for (int64_t i = 0; i < axes[axis].terms.count; ++i) {
      strides[terms[i].loop] += times(call->sizes[terms[i].step], axis_strides[axis]);
    }
  }
}

// Blocks stay in the cache.
static int writes_block(const call* call, const nest* nest) {
  for (int64_t k = 0; k < nest->operand_count; ++k) {
    const lw_operand* operand = &nest->operands[k];
    if (!operand->written) continue;
    if (buffer_at(call, operand->buffer)->kind == lw_buffer_block) return 1;
  }
  return 0;
}

static void run_kernel(const call* call, const lw_kernel* kernel) {
  const int64_t count = kernel->operands.count;
  const int64_t width = kernel->rank > 0 ? kernel->rank : 1;
  int64_t sizes[width];
  int64_t strides[count * width + 1];
  intptr_t bases[count + 1];
  nest nest = {.rank = kernel->rank,
               .reduced = kernel->reduced,
               .operand_count = count,
               .parts = 1,
               .width = width,
               .sizes = sizes,
               .strides = strides,
               .bases = bases,
               .operands = RECORDS(lw_operand, kernel->operands)};
  for (int64_t k = 0; k < count; ++k) {
    place_operand(call, &nest.operands[k], &bases[k], stride_of(&nest, k, 0), kernel->rank);
  }
  for (int64_t loop = 0; loop < kernel->rank; ++loop) {
    sizes[loop] = size_at(call, kernel->domain, loop);
  }
  if (call->last >= 0 && kernel->rank > 0) {
    nest.parts = (double)sizes[0] / (double)(call->last - call->first);
    sizes[0] = call->last - call->first;
    for (int64_t k = 0; k < count; ++k) bases[k] += times(*stride_of(&nest, k, 0), call->first);
  }
  for (int64_t loop = 0; loop < kernel->rank; ++loop) {
    if (sizes[loop] <= 0) return;
  }
  if (writes_block(call, &nest)) nest.parts = 0;
  simplify(&nest);
  const lw_variant* variants = RECORDS(lw_variant, kernel->variants);
  for (int64_t i = 0; i < kernel->variants.count; ++i) {
    const lw_operand_layout* layouts =
        (const lw_operand_layout*)(call->words + variants[i].operands);
    if (!fits(&nest, &variants[i], layouts)) continue;
    const int64_t number = kernel->functions + 2 * i + (call->level == level_v4);
    call_kernel(call, kernel, &nest, &variants[i], call->function->kernels[number]);
    return;
  }
}

// Row i of the loop is row i - first of a block's memory.
static void move_blocks(const call* call, int64_t trips) {
  for (int64_t b = 0; b < call->program->buffers.count; ++b) {
    const lw_buffer* buffer = buffer_at(call, b);
    if (buffer->kind == lw_buffer_block) call->addresses[b] -= trips * buffer->item_size;
  }
}

static void run_blocks(const call* whole, const lw_kernel* kernels) {
  call part = *whole;
  const int64_t end = whole->last >= 0 ? whole->last : size_at(whole, kernels->domain, 0);
  const int64_t start = whole->last >= 0 ? whole->first : 0;
  for (part.first = start; part.first < end; part.first = part.last) {
    part.last = end - part.first < kernels->block ? end : part.first + kernels->block;
    move_blocks(&part, part.first);
    for (int64_t k = 0; k < kernels->together; ++k) run_kernel(&part, &kernels[k]);
    move_blocks(&part, -part.first);
  }
}

// ---- copies --------------------------------------------------------------------------------

static void copy_elements(char* to, const int64_t* to_strides, const char* from,
                          const int64_t* from_strides, const call* call, int64_t shape,
                          int64_t rank, int64_t item) {
  int64_t index[rank + 1];
  for (int64_t axis = 0; axis < rank; ++axis) {
    index[axis] = 0;
    if (size_at(call, shape, axis) == 0) return;
  }
  for (;;) {
    for (int64_t i = 0; i < item; ++i) to[i] = from[i];
    int64_t axis = rank;
    for (;;) {
      if (axis-- == 0) return;
      to += to_strides[axis];
      from += from_strides[axis];
      if (++index[axis] < size_at(call, shape, axis)) break;
      to -= to_strides[axis] * index[axis];
      from -= from_strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

static void copy_buffer(const call* call, const lw_copy* copy) {
  const lw_buffer* from = buffer_at(call, copy->from);
  const lw_buffer* to = buffer_at(call, copy->to);
  if (call->addresses[copy->to] == call->addresses[copy->from]) return;
  copy_elements((char*)call->addresses[copy->to], call->strides + to->strides,
                (const char*)call->addresses[copy->from], call->strides + from->strides, call,
                from->shape, from->rank, from->item_size);
}

// ---- running -------------------------------------------------------------------------------

static int32_t run_checks(const call* call) {
  const lw_list* checks = &call->program->checks;
  for (int64_t i = 0; i < checks->count; ++i) {
    const int64_t buffer = call->words[checks->place + i];
    if (*(const int64_t*)call->addresses[buffer] != INT64_MAX) return fail(lw_error_value, 0);
  }
  return lw_ok;
}

static int32_t run_program(const call* call) {
  const lw_program* program = call->program;
  for (int64_t k = 0; k < program->kernels.count; ++k) {
    if (k == program->checked_kernels) {
      const int32_t error = run_checks(call);
      if (error != lw_ok) return error;
    }
    for (int64_t i = 0; i < program->copies.count; ++i) {
      const lw_copy* copy = RECORDS(lw_copy, program->copies) + i;
      if (copy->kernel == k) copy_buffer(call, copy);
    }
    const lw_kernel* kernel = RECORDS(lw_kernel, program->kernels) + k;
    if (kernel->together > 1) {
      run_blocks(call, kernel);
      k += kernel->together - 1;
    } else {
      run_kernel(call, kernel);
    }
  }
  if (program->kernels.count == program->checked_kernels) {
    const int32_t error = run_checks(call);
    if (error != lw_ok) return error;
  }
  for (int64_t i = 0; i < program->results.count; ++i) {
    copy_buffer(call, RECORDS(lw_copy, program->results) + i);
  }
  return lw_ok;
}

static void find_scalars(const call* call, const uint64_t* numbers) {
  const lw_program* program = call->program;
  uint64_t* next = call->scalars;
  for (int64_t i = 0; i < program->number_count; ++i) *next++ = numbers[i];
  for (int64_t i = 0; i < program->size_scalars.count; ++i) {
    *next++ = (uint64_t)size_at(call, program->size_scalars.place, i);
  }
  for (int64_t i = 0; i < program->literals.count; ++i) {
    *next++ = (uint64_t)call->words[program->literals.place + i];
  }
}

static int32_t run_with_workspace(call* call, void* workspace) {
  void* taken = 0;
  const int64_t bytes = workspace_bytes(call);
  if (bytes < 0) return fail(lw_error_size, 0);
  if (bytes > 0 && workspace == 0) {
    workspace = taken = malloc((size_t)bytes);
    if (taken == 0) return fail(lw_error_memory, 0);
  }
  place_temporaries(call, workspace);
  uint32_t mode, usual = 0x1f80;
  __asm__ volatile("stmxcsr %0" : "=m"(mode));
  __asm__ volatile("ldmxcsr %0" : : "m"(usual));
  const int32_t error = run_program(call);
  __asm__ volatile("ldmxcsr %0" : : "m"(mode));
  if (taken != 0) free(taken);
  return error;
}

// The loop that can be split, or one part that is everything.
static int64_t range_of(const call* call) {
  return call->program->range < 0 ? 1 : call->sizes[call->program->range];
}

static int32_t set_range(call* call, int64_t first, int64_t last) {
  const int64_t range = range_of(call);
  if (first < 0 || last > range || first > last) return fail(lw_error_range, 0);
  if (first == 0 && last == range) return lw_ok;
  call->first = first;
  call->last = last;
  return lw_ok;
}

// Room for what a call finds out, on the stack of its caller.
#define PREPARE(name, function_, tensors_)                                                        \
  const lw_program* program = (const lw_program*)(function_)->words;                              \
  int64_t sizes[program->sizes.count + 1];                                                        \
  int64_t strides[program->strides_count + 1];                                                    \
  intptr_t addresses[program->buffers.count + 1];                                                 \
  intptr_t extents[2 * program->tensors.count + 1];                                               \
  uint64_t                                                                                        \
      scalars[program->number_count + program->size_scalars.count + program->literals.count + 1]; \
  call name = {.function = (function_),                                                           \
               .words = (function_)->words,                                                       \
               .program = program,                                                                \
               .tensors = (tensors_),                                                             \
               .sizes = sizes,                                                                    \
               .strides = strides,                                                                \
               .addresses = addresses,                                                            \
               .extents = extents,                                                                \
               .scalars = scalars,                                                                \
               .first = 0,                                                                        \
               .last = -1,                                                                        \
               .level = level()}

static int32_t check(call* call) {
  if (call->level == level_too_old) return fail(lw_error_cpu, 0);
  const int32_t error = find_sizes(call);
  return error != lw_ok ? error : place_buffers(call);
}

// first < 0: everything.
__attribute__((used)) static int32_t lanewise_runtime_run(const lw_function* function,
                                                          const lw_tensor* const* tensors,
                                                          const uint64_t* numbers, void* workspace,
                                                          int64_t first, int64_t last) {
  PREPARE(call, function, tensors);
  int32_t error = check(&call);
  if (error == lw_ok && first >= 0) error = set_range(&call, first, last);
  if (error != lw_ok) return error;
  if (first >= 0 && first == last) return lw_ok;
  find_scalars(&call, numbers);
  return run_with_workspace(&call, workspace);
}

__attribute__((used)) static int32_t lanewise_runtime_query(const lw_function* function,
                                                            const lw_tensor* const* tensors,
                                                            int64_t* range, int64_t* workspace) {
  PREPARE(call, function, tensors);
  const int32_t error = check(&call);
  if (error != lw_ok) return error;
  const int64_t bytes = workspace_bytes(&call);
  if (bytes < 0) return fail(lw_error_size, 0);
  if (range != 0) *range = range_of(&call);
  if (workspace != 0) *workspace = bytes;
  return lw_ok;
}

__attribute__((used)) static const char* lanewise_runtime_message(int32_t code) {
  static const char texts[][96] = {
      "no error",
      "this CPU lacks AVX2 or FMA (x86-64-v3), or its operating system does not enable them",
      "a tensor, its data or its shape is NULL",
      "the device is not the CPU",
      "the dtype is not the one of the prototype",
      "the number of axes is not the one of the prototype",
      "the shape is not the one of the prototype, or sizes that must agree differ",
      "strides that overflow, or an output whose elements share memory",
      "the data is not aligned to its elements",
      "an output overlaps an input or another output",
      "sizes whose product exceeds 64 bits",
      "out of memory",
      "an element for which the function is not defined",
      "the range is not within what the query function gives",
  };
  const uint32_t error = (uint32_t)code & 0xff;
  return error < sizeof texts / sizeof texts[0] ? texts[error] : "unknown error";
}
