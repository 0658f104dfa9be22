// Graphs and programs as text, and back.
//
//   func @f(%x: f32[n,4], %y: f32[4] strided, $0: f32) -> f32[n,4] {
//     %0 = window %y {offset = 0, strides = [0, 1]} : f32[n,4]
//     %1 = scalar $0 : f32[n,4]
//     %2 = multiply %x, %1 : f32[n,4]
//     %3 = add %2, %0 : f32[n,4]
//     return %3
//   }
//
// A line a node: value, op, operands, attribute, type. `%x` stands for the Input node of a
// parameter where these nodes come first and in order, as they usually do; a parameter without
// value of its own is written without %. "strided" parameters are not contiguous. Checks come
// after the nodes: check %4 "power: negative exponent of an integer". Comments run from // to the
// end of the line. Numbers are exact: shortest decimals (hexadecimal floats are read as well), inf,
// nan, and nan(0x7fc00001) for another NaN by its bits.
//
//   program @f(%x: f32[n,2], $0: f32) -> f32[n] {
//     %out0 = output 0 : f32[n]
//     kernel @k0 (i0 < n) {
//       %0 = load %x[i0, 1] : f32
//       %1 = scalar $0 : f32
//       %2 = multiply %0, %1 : f32
//       store %out0[i0], %2
//     }
//     return %out0
//   }
//
// Buffers are the parameters, then what is declared: `output 0`, `temporary`, `block`, with
// `strided` and `starts as %x` after them. `%x as [m][2*i0]` sees a buffer in another shape, `iota
// [i0 + 1]` is an index as a number, `(i0 < n) reduce (i1 < 8)` names the reduced loops. Kernels of
// one step stand in `step { ... }` or `blocked { ... }`, a single one alone. After the steps that
// decide them: check %temporary0 [n, 4] "message".
//
// For all that passes the verifier, parsing what was printed gives an equal graph or program.
// Sources are not part of the text.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"
#include "ir/kernel.h"

namespace lanewise::ir {

// As in f32[n,4].
std::string type_text(DType dtype, const Shape& shape);

std::string print(const Graph& graph);
std::string print(const Program& program);
// As it stands in the program's text.
std::string print(const Kernel& kernel, const Program& program);

// What is read is verified. Throw ValueError that gives line, column and the line with a caret.
Graph parse_graph(std::string_view text);
Program parse_program(std::string_view text);

}  // namespace lanewise::ir
