"""The text files beside a library that was compiled ahead of time: C header, pkg-config, CMake."""

_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if
    inline int long register restrict return short signed sizeof static struct switch typedef
    union unsigned void volatile while bool true false nullptr constexpr alignas alignof
    static_assert thread_local typeof class delete explicit export friend mutable namespace new
    operator private protected public template this throw try catch typeid typename using
    virtual and or not xor asm first last workspace range
"""
# Of C and C++, and names that the prototypes use themselves.
C_KEYWORDS = frozenset(_WORDS.split())

_C_TYPES = {
    "bool": "bool",
    "float32": "float",
    "float64": "double",
    **{f"{kind}{bits}": f"{kind}{bits}_t" for kind in ("int", "uint") for bits in (8, 16, 32, 64)},
}

_HEADER = """\
/* Library {name}, compiled by lanewise {version}. Needs the C library only.
 *
 * Arrays are DLPack tensors in the memory of the CPU, with any strides (outputs: no element twice),
 * aligned to their elements. Outputs must not overlap inputs or each other; where a function says
 * so, an output may be the very memory of an input. Everything is checked before anything is
 * written; nothing is kept between calls, and all functions may be called from any thread.
 *
 * Functions return 0, or an error: its kind in the low byte, LANEWISE_ERROR(code), and the number
 * of the argument it is about, from 1, in the bits above, LANEWISE_ARGUMENT(code) (0: no single
 * one). {name}_message(code) is a text.
 *
 * For each function f there are also
 *   f_query: how long the loop is that can be split between threads (1: none), and how many bytes
 *     of workspace a call needs; either pointer may be NULL;
 *   f_range: computes the part from first to last (not included) of that loop. Parts give the bits
 *     that the whole gives, may be cut anywhere and run at the same time. workspace is memory of
 *     that many bytes, for parts that run at the same time each one of its own, or NULL for malloc.
 */
#ifndef {guard}
#define {guard}

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !defined(DLPACK_DLPACK_H_) && defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#if !defined(DLPACK_DLPACK_H_) && !defined(LANEWISE_DLPACK)
#define LANEWISE_DLPACK
/* What DLPack's header defines (code: 0 int, 1 uint, 2 float, 6 bool; device_type 1: CPU). */
typedef struct {{
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
}} DLDataType;
typedef struct {{
  int32_t device_type;
  int32_t device_id;
}} DLDevice;
typedef struct {{
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL: row-major */
  uint64_t byte_offset;
}} DLTensor;
#endif

#ifndef LANEWISE_ERRORS
#define LANEWISE_ERRORS
#define LANEWISE_ERROR(code) ((code) & 0xff)
#define LANEWISE_ARGUMENT(code) ((code) >> 8)
enum {{
  LANEWISE_OK = 0,
  LANEWISE_ERROR_CPU = 1,       /* no AVX2 and FMA (x86-64-v3) */
  LANEWISE_ERROR_NULL = 2,      /* a tensor, its data or its shape is NULL */
  LANEWISE_ERROR_DEVICE = 3,    /* not in the memory of the CPU */
  LANEWISE_ERROR_DTYPE = 4,
  LANEWISE_ERROR_RANK = 5,      /* number of axes */
  LANEWISE_ERROR_SHAPE = 6,     /* also sizes that must agree, or are too small */
  LANEWISE_ERROR_STRIDES = 7,   /* they overflow, or elements of an output share memory */
  LANEWISE_ERROR_ALIGNMENT = 8,
  LANEWISE_ERROR_OVERLAP = 9,
  LANEWISE_ERROR_SIZE = 10,     /* sizes whose product exceeds 64 bits */
  LANEWISE_ERROR_MEMORY = 11,
  LANEWISE_ERROR_VALUE = 12,    /* an element for which the function is not defined */
  LANEWISE_ERROR_RANGE = 13
}};
#endif

#ifdef __cplusplus
extern "C" {{
#endif

const char* {name}_message(int32_t code);

{functions}
#ifdef __cplusplus
}}
#endif

#endif
"""


def header(name: str, version: str, functions: list[dict]) -> str:
    """The C header."""
    return _HEADER.format(
        name=name,
        version=version,
        guard=f"LANEWISE_LIBRARY_{name.upper()}_H",
        functions="\n".join(_prototypes(function) for function in functions),
    )


def _c_name(name: str) -> str:
    return name + "_" if name in C_KEYWORDS else name


def _prototypes(function: dict) -> str:
    symbol = function["symbol"]
    lines = [f"/* {function['name']}({function['signature']})"]
    for kind in ("parameters", "results"):
        for argument in function[kind]:
            lines.append(f" *   {_c_name(argument['name'])}: {_describe(argument, kind)}")
    lines += [f" * Needs {constraint}." for constraint in function["constraints"]]
    for result, parameter in function["aliases"]:
        output = _c_name(function["results"][result]["name"])
        same = _c_name(function["parameters"][parameter]["name"])
        lines.append(f" * {output} may be the memory of {same}.")
    if function["split"]:
        lines.append(" * Can be split between threads.")
    if function["checks"]:
        lines.append(" * Refuses some values of elements (LANEWISE_ERROR_VALUE).")
    lines.append(" */")
    arguments = [_parameter(argument) for argument in function["parameters"]]
    arguments += [f"const DLTensor* {_c_name(result['name'])}" for result in function["results"]]
    query = [*arguments, "int64_t* range", "int64_t* workspace"]
    part = [*arguments, "int64_t first", "int64_t last", "void* workspace"]
    lines.append(_prototype(symbol, arguments))
    lines.append(_prototype(f"{symbol}_query", query))
    lines.append(_prototype(f"{symbol}_range", part))
    return "\n".join(lines) + "\n"


def _describe(argument: dict, kind: str) -> str:
    if argument["number"]:
        return f"{argument['dtype']}, a number"
    shape = ", ".join(argument["shape"])
    return f"{argument['dtype']}[{shape}], {'input' if kind == 'parameters' else 'output'}"


def _parameter(argument: dict) -> str:
    name = _c_name(argument["name"])
    if argument["number"]:
        return f"{_C_TYPES[argument['dtype']]} {name}"
    return f"const DLTensor* {name}"


def _prototype(symbol: str, arguments: list[str]) -> str:
    start = f"int32_t {symbol}("
    lines = [start]
    for i, argument in enumerate(arguments):
        end = ");" if i + 1 == len(arguments) else ", "
        if len(lines[-1]) + len(argument) + len(end) > 100:
            lines[-1] = lines[-1].rstrip()
            lines.append(" " * len(start))
        lines[-1] += argument + end
    return "\n".join(lines)


def pkg_config(name: str, version: str) -> str:
    """The file for pkg-config; it finds the library beside itself."""
    return f"""\
prefix=${{pcfiledir}}

Name: {name}
Description: Functions compiled by lanewise
Version: {version}
Libs: -L${{prefix}} -l{name}
Cflags: -I${{prefix}}
"""


def cmake_config(name: str) -> str:
    """The package file for CMake's find_package."""
    return f"""\
# find_package({name} CONFIG) gives {name}::{name}, the static library, and {name}::shared if that
# was linked.
get_filename_component({name}_directory "${{CMAKE_CURRENT_LIST_FILE}}" DIRECTORY)
if(NOT TARGET {name}::{name})
  add_library({name}::{name} STATIC IMPORTED)
  set_target_properties({name}::{name} PROPERTIES
    IMPORTED_LOCATION "${{{name}_directory}}/lib{name}.a"
    INTERFACE_INCLUDE_DIRECTORIES "${{{name}_directory}}")
  if(EXISTS "${{{name}_directory}}/lib{name}.so")
    add_library({name}::shared SHARED IMPORTED)
    set_target_properties({name}::shared PROPERTIES
      IMPORTED_LOCATION "${{{name}_directory}}/lib{name}.so"
      INTERFACE_INCLUDE_DIRECTORIES "${{{name}_directory}}")
  endif()
endif()
unset({name}_directory)
"""
