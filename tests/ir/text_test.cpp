#include "ir/text.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/builder.h"
#include "ir/verify.h"
#include "support/error.h"

namespace lanewise::ir {
namespace {

// The law for a text that is already in canonical form.
void expect_same_text(const std::string& text) {
  const Graph graph = parse_graph(text);
  EXPECT_EQ(print(graph), text);
  EXPECT_EQ(parse_graph(print(graph)), graph);
}

void expect_same_program(const std::string& text) {
  const Program program = parse_program(text);
  EXPECT_EQ(print(program), text);
  EXPECT_EQ(parse_program(print(program)), program);
}

void expect_error(const std::string& text, const std::string& message) {
  try {
    if (text.starts_with("program")) {
      parse_program(text);
    } else {
      parse_graph(text);
    }
    ADD_FAILURE() << "no error for\n" << text;
  } catch (const ValueError& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(Text, EveryKindOfNode) {
  expect_same_text(
      R"(func @f(%x: f32[n,4], %y: f32[4] strided, $0: f32) -> (f32[n,4], f32[4], i64[n,4]) {
  %0 = window %y {offset = 0, strides = [0, 1]} : f32[n,4]
  %1 = scalar $0 : f32[n,4]
  %2 = multiply %x, %1 : f32[n,4]
  %3 = add %2, %0 : f32[n,4]
  %4 = constant -0.0 : f32[n,4]
  %5 = less %3, %4 : bool[n,4]
  %6 = select %5, %4, %3 : f32[n,4]
  %7 = sum %6 {axes = [0]} : f32[4]
  %8 = iota {axis = 1} : i64[n,4]
  %9 = cast %6 : i64[n,4]
  %10 = add %8, %9 : i64[n,4]
  %11 = constant 1.5 : f32[n]
  %12 = update %6, %11 {offset = 3, strides = [4]} : f32[n,4]
  check %5 "f: \"quoted\"\x0a"
  return %12, %7, %10
}
)");
}

TEST(Text, NoParametersNoResults) { expect_same_text("func @f() -> () {\n  return\n}\n"); }

TEST(Text, SizesAreExpressions) {
  expect_same_text(R"(func @f(%x: f32[2*m*n - 1,n + 1], %y: f32) -> f32 {
  %0 = constant 1.0 : f32
  return %0
}
)");
}

TEST(Text, NamesThatAreNoIdentifiers) {
  expect_same_text(R"(func @"<lambda>"(%"0": f32, %"a b": f32, %x.1: f32) -> f32 {
  %0 = add %"0", %"a b" : f32
  %1 = add %0, %x.1 : f32
  return %1
}
)");
}

TEST(Text, InputNodesThatDoNotComeFirst) {
  Graph graph;
  Builder builder(graph);
  const Value one = builder.constant(Scalar::of(1.0));
  graph.outputs = {builder.apply(Op::kAdd, {builder.input("x", DType::kF64, {}), one})};
  EXPECT_EQ(print(graph), R"(func @f(x: f64) -> f64 {
  %0 = constant 1.0 : f64
  %1 = input 0 : f64
  %2 = add %1, %0 : f64
  return %2
}
)");
  EXPECT_EQ(parse_graph(print(graph)), graph);
}

TEST(Text, CommentsAndNamedValues) {
  const Graph graph = parse_graph(R"(// a comment
func @f(%x: i32[3]) -> (i32[3]) { // another
  %twice = add %x, %x : i32[3]
  return %twice  // the last
})");
  EXPECT_EQ(print(graph), R"(func @f(%x: i32[3]) -> i32[3] {
  %0 = add %x, %x : i32[3]
  return %0
}
)");
}

template <class T>
void expect_exact(T value, const std::string& text) {
  Graph graph;
  Builder builder(graph);
  graph.outputs = {builder.constant(Scalar::of(value))};
  const std::string printed = print(graph);
  EXPECT_NE(printed.find("constant " + text + " :"), std::string::npos) << printed;
  EXPECT_EQ(parse_graph(printed), graph);
}

TEST(Text, NumbersAreExact) {
  expect_exact(0.1f, "0.1");
  expect_exact(0.1, "0.1");
  expect_exact(-0.0f, "-0.0");
  expect_exact(1e30f, "1e+30");
  expect_exact(std::numeric_limits<float>::denorm_min(), "1e-45");
  expect_exact(std::numeric_limits<double>::max(), "1.7976931348623157e+308");
  expect_exact(std::numeric_limits<float>::infinity(), "inf");
  expect_exact(-std::numeric_limits<double>::infinity(), "-inf");
  expect_exact(std::numeric_limits<float>::quiet_NaN(), "nan");
  expect_exact(std::bit_cast<float>(0xffc00001u), "nan(0xffc00001)");
  expect_exact(std::bit_cast<double>(0xfff8000000000000u), "nan(0xfff8000000000000)");
  expect_exact(true, "true");
  expect_exact(int8_t{-128}, "-128");
  expect_exact(INT64_MIN, "-9223372036854775808");
  expect_exact(UINT64_MAX, "18446744073709551615");
}

TEST(Text, HexadecimalFloatsAreRead) {
  const Graph graph = parse_graph("func @f() -> f32 { %0 = constant -0x1.8p-3 : f32 return %0 }");
  EXPECT_EQ(graph.nodes()[0].get<Scalar>(), Scalar::of(-0.1875f));
}

TEST(Text, Programs) {
  expect_same_program(
      R"(program @f(%x: f32[n,2], %out0: f32[4] strided, $0: f32, $1: i32) -> (f32[n], f32[n,2]) {
  %out0_ = output 0 : f32[n]
  %temporary3 = temporary : i64
  %block4 = block : f32[n]
  %out1 = output 1 : f32[n,2] strided starts as %x
  kernel @check () reduce (i0 < n) {
    %0 = load %x[i0, 1] : f32
    %1 = constant 0.0 : f32
    %2 = less %0, %1 : bool
    %3 = iota [i0] : i64
    %4 = constant 9223372036854775807 : i64
    %5 = select %2, %3, %4 : i64
    %6 = min %5 : i64
    store %temporary3[], %6
  }
  check %temporary3 [n] "f: negative"
  blocked {
    kernel @k0 (i0 < n) {
      %0 = load %x[i0, 1] : f32
      %1 = scalar $0 : f32
      %2 = multiply %0, %1 : f32
      store %block4[i0], %2
    }
    kernel @k1 (i0 < n) {
      %0 = load %block4[i0] : f32
      %1 = load %x as [2*n][-2*i0 + 2*n - 1] : f32
      %2 = iota [n*i0 + 1] : i32
      %3 = scalar $1 : i32
      %4 = add %2, %3 : i32
      %5 = cast %4 : f32
      %6 = add %0, %1 : f32
      %7 = add %6, %5 : f32
      store %out0_[i0], %7
    }
  }
  step {
    kernel @k2 (i0 < n) {
      %0 = constant 1.0 : f32
      store %out1[i0, 0], %0
    }
    kernel @k3 (i < m, j < 4) {
      %0 = constant 2.0 : f32
      store %out1[(m - 1)*i - j + 3, 1], %0
    }
  }
  return %out0_, %out1
}
)");
}

// ---- errors --------------------------------------------------------------------------------

TEST(TextErrors, ShowThePlace) {
  expect_error("func @f(%x: f32[n]) -> f32[n] {\n  %0 = ad %x, %x : f32[n]\n  return %0\n}",
               "IR text, line 2, column 8: no op 'ad'\n"
               "  %0 = ad %x, %x : f32[n]\n"
               "       ^");
}

TEST(TextErrors, Syntax) {
  const auto in_body = [](const std::string& line) {
    return "func @f(%x: f32[4], $0: f32) -> f32[4] {\n" + line + "\n}";
  };
  const auto message = [](int column, const std::string& what, const std::string& line) {
    return "IR text, line 2, column " + std::to_string(column) + ": " + what + "\n" + line + "\n" +
           std::string(static_cast<size_t>(column) - 1, ' ') + "^";
  };
  const struct {
    std::string line, what;
    int column;
  } kCases[] = {
      {"return %y", "no value %y", 8},
      {"%0 add %x, %x : f32[4]", "expected '=', not 'add'", 4},
      {"%0 = add %x : f32[4]", "add: 2 operands, not 1", 10},
      {"%0 = add %x, %x, %x : f32[4]", "add: 2 operands, not 3", 10},
      {"%0 = add %x, %x f32[4]", "expected ':', not 'f32'", 17},
      {"%0 = add %x, %x : f33[4]", "no dtype 'f33'", 19},
      {"%x = add %x, %x : f32[4]", "%x is defined twice", 1},
      {"%0 = constant 1.5 : i32", "'1.5' is no value of i32", 15},
      {"%0 = constant 300 : u8", "'300' is no value of u8", 15},
      {"%0 = constant nan(0x3f800000) : f32", "'nan(0x3f800000)' is no value of f32", 15},
      {"%0 = constant : u8", "expected a number, not ':'", 15},
      {"%0 = scalar $9999999999 : f32", "expected a small number", 13},
      {"%0 = scalar 0 : f32", "expected a scalar, not '0'", 13},
      {"%0 = window %x {offset = 0} : f32[4]", "expected ',', not '}'", 27},
      {"%0 = window %x {offset = (((1))), strides = [1]} : f32[4]", "expected a size, not '('", 27},
      {"%0 = iota {axis = -1} : i64[4]", "expected an axis, not '-'", 19},
      {"%0 = table_lookup %x {table = none} : f32[4]", "no table 'none'", 31},
      {"check %x message", "expected a string, not 'message'", 10},
      {"check %x \"message", "string without end", 10},
      {"check %x \"\\n\"", "unknown escape in a string", 10},
      {"%0 = add %x, ? : f32[4]", "unexpected character", 14},
      {"%0 = add %x, % : f32[4]", "no name after '%'", 14},
      {"%0 = window %x {offset = 9223372036854775808, strides = [1]} : f32[4]",
       "'9223372036854775808' is no integer of 64 bits", 26},
      {"%0 = window %x {offset = 4611686018427387904*4, strides = [1]} : f32[4]",
       "size: 4611686018427387904 * 4 overflows", 26},
  };
  for (const auto& c : kCases) {
    expect_error(in_body(c.line), message(c.column, c.what, c.line));
  }
  // Where a line lacks its end, the place is the next one.
  expect_error(in_body("return"), "IR text, line 3, column 1: 0 results, not 1\n}\n^");
  expect_error(in_body("%0 = add %x, %x : f32[4"),
               "IR text, line 3, column 1: expected ',' or ']', not '}'\n}\n^");
}

TEST(TextErrors, Signatures) {
  expect_error("", "IR text, line 1, column 1: expected 'func', not end of text\n\n^");
  expect_error("func f",
               "IR text, line 1, column 6: expected a name with @, not 'f'\nfunc f\n     ^");
  expect_error("func @f(x: f32, %y: f32) -> f32 { return %y }",
               "IR text, line 1, column 17: parameters with a value come first\n"
               "func @f(x: f32, %y: f32) -> f32 { return %y }\n"
               "                ^");
  expect_error("func @f($1: f32) -> () { return }",
               "IR text, line 1, column 9: expected $0\n"
               "func @f($1: f32) -> () { return }\n"
               "        ^");
  expect_error("func @f(%x: f32) -> f64 { return %x }",
               "IR text, line 1, column 34: result 0 is f32, not f64\n"
               "func @f(%x: f32) -> f64 { return %x }\n"
               "                                 ^");
  expect_error("func @f() -> () { return } func",
               "IR text, line 1, column 28: expected end of text, not 'func'\n"
               "func @f() -> () { return } func\n"
               "                           ^");
}

TEST(TextErrors, WhatTheVerifierFinds) {
  const auto verifier_error = [](const std::string& line, const std::string& what) {
    expect_error("func @f(%x: f32[4], %m: bool[4], $0: f32) -> () {\n  " + line + "\n  return\n}",
                 "IR text, line 2, column 3: " + what + "\n  " + line + "\n  ^");
  };
  verifier_error("%0 = add %x, %m : f32[4]", "add: operands are f32 and bool");
  verifier_error("%0 = add %x, %x : f64[4]", "add: result is f32, not f64");
  verifier_error("%0 = add %x, %x : f32[5]", "add: operand of shape '[4]', result of shape '[5]'");
  verifier_error("%0 = bitwise_and %x, %x : f32[4]", "bitwise_and: no f32 operands");
  verifier_error("%0 = select %x, %x, %x : f32[4]", "select: condition is f32");
  verifier_error("%0 = bitcast %x : f64[4]", "bitcast: f32 to f64");
  verifier_error("%0 = constant 1.0 : f32[-1]", "negative size -1");
  verifier_error("%0 = scalar $1 : f32[4]", "scalar: number 1 of 1");
  verifier_error("%0 = scalar $0 : f64[4]", "scalar: f64 of a scalar f32");
  verifier_error("%0 = input 2 : f32[4]", "input: number 2 of 2");
  verifier_error("%0 = input 0 : f32[5]", "input: f32[5] of a parameter f32[4]");
  verifier_error("%0 = load 0 : f32[4]", "load: not an op of graphs");
  verifier_error("%0 = iota {axis = 1} : i64[4]", "iota: axis 1 of rank 1");
  verifier_error("%0 = iota {axis = 0} : f32[4]", "iota: f32 is no integer");
  verifier_error("%0 = window %x {offset = 1, strides = [1]} : f32[4]",
                 "window: elements 1 to 4 of an array of 4");
  verifier_error("%0 = window %x {offset = 2, strides = [-1]} : f32[4]",
                 "window: elements -1 to 2 of an array of 4");
  verifier_error("%0 = window %x {offset = 0, strides = []} : f32[4]",
                 "window: 0 strides for rank 1");
  verifier_error("%0 = update %x, %x {offset = 0, strides = [0]} : f32[4]",
                 "update: writes an element more than once");
  verifier_error("%0 = update %x, %m {offset = 0, strides = [1]} : f32[4]",
                 "update: bool into f32");
  verifier_error("%0 = sum %x {axes = [1]} : f32[4]", "sum: axes (1,) of rank 1");
  verifier_error("%0 = sum %x {axes = [0, 0]} : f32", "sum: axes (0, 0) of rank 1");
  verifier_error("%0 = sum %x {axes = [0]} : f32[4]", "sum: shape [4], not ");
  verifier_error("%0 = sum %m {axes = [0]} : bool", "sum: no bool operands");
  expect_error("func @f(%x: f32, %x: f32) -> () { return }",
               "IR text, line 1, column 18: %x is defined twice\n"
               "func @f(%x: f32, %x: f32) -> () { return }\n"
               "                 ^");
}

TEST(TextErrors, WhatTheVerifierFindsInKernels) {
  const auto verifier_error = [](const std::string& body, const std::string& what,
                                 const std::string& line, int number) {
    const std::string text =
        "program @f(%x: f32[4], %s: f32[4] strided, $0: f32) -> f32[4] {\n"
        "  %y = output 0 : f32[4]\n" +
        body + "  return %y\n}";
    expect_error(text, "IR text, line " + std::to_string(number) + ", column 3: " + what + "\n" +
                           line + "\n  ^");
  };
  const auto in_kernel = [&](const std::string& lines, const std::string& what) {
    const std::string head = "  kernel @k (i < 4) {";
    verifier_error(head + "\n" + lines + "\n  }\n", what, head, 3);
  };
  in_kernel("%0 = load %x[i + 1] : f32 store %y[i], %0", "index 1 to 4 of an axis of 4");
  in_kernel("%0 = load %x[0] : f32 store %y[0], %0 store %y[i], %0 store %x[i], %0",
            "a buffer is loaded and stored");
  in_kernel("%0 = load %x[i] : f32 store %y[0], %0",
            "store: the value varies with a loop that the operand does not");
  in_kernel("%0 = load %s as [2, 2][i, 0] : f32 store %y[i], %0",
            "a strided buffer in another shape");
  in_kernel("%0 = load %x as [5][i] : f32 store %y[i], %0",
            "shape '[5]' of a buffer of shape '[4]'");
  in_kernel("%0 = load %x[i, i] : f32 store %y[i], %0", "2 indices for shape '[4]'");
  in_kernel("%0 = load %x[i + i] : f32 store %y[i], %0", "loops of an index are not ascending");
  in_kernel("%0 = constant 1.0 : f32 store %x[i], %0", "an input is stored");
  in_kernel("%0 = load %y[i] : f32", "a buffer is loaded before it is stored");
  expect_error(R"(program @f(%x: f32[4]) -> () {
  kernel @k (i < 4) {
    %0 = load %x[i] : f32
    %1 = sum %0 : f32
  }
  return
})",
               "IR text, line 4, column 5: sum: no loop is reduced\n    %1 = sum %0 : f32\n    ^");
}

// Printing must not fail on what the verifier refuses: it goes into error reports.
TEST(Text, BrokenGraphsArePrinted) {
  Graph graph;
  graph.append({.op = Op::kAdd, .dtype = DType::kF32, .shape = {}});
  graph.outputs = {Value{7}};
  try {
    verify(graph, "test");
    FAIL();
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "internal error: invalid graph after test: add: operand does not come before "
                 "(node 0) (please report this)");
    EXPECT_EQ(error.ir(), "func @f() -> ? {\n  %0 = add %?, %? : f32\n  return %?\n}\n");
  }
}

// 50,000 nodes in a chain: linear, and no recursion.
TEST(Text, LongChains) {
  Graph graph;
  Builder builder(graph);
  Value value = builder.input("x", DType::kF32, {Dim::symbol("n")});
  for (int i = 0; i < 50000; ++i) value = builder.apply(Op::kAdd, {value, value});
  graph.outputs = {value};
  EXPECT_EQ(parse_graph(print(graph)), graph);
}

}  // namespace
}  // namespace lanewise::ir
