"""The C functions of compiled libraries: what they refuse, parts, workspaces, threads."""

import ctypes
import threading

import lanewise as lw
import numpy as np
import pytest
from dltensor import tensor

OK, CPU, NULL, DEVICE, DTYPE, RANK, SHAPE, STRIDES, ALIGNMENT, OVERLAP, SIZE = range(11)
VALUE, RANGE = 12, 13


def add(x, y):
    return x + y


def softmax(x):
    e = lw.exp(x - lw.max(x, axis=1, keepdims=True))
    return e / lw.sum(e, axis=1, keepdims=True)


def normalized(x):
    """Several kernels: sums of columns are needed before anything else."""
    return x / lw.sum(lw.sin(x), axis=0), lw.sum(x * x)


def power(x, y):
    return x**y


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    functions = {
        "plus": (add, "f32[n,m], f32[n,m]"),
        "softmax": (softmax, "f64[n,m]"),
        "normalized": (normalized, "f32[n,m]"),
        "power": (power, "i32[n], i32[n]"),
        "columns": (lambda x: x[:, 0] * x[:, 1], "f32[n,4]"),
        "scaled": (lambda x, a, b: x * a + b, "f64[n], f64, i64"),
        "exact": (lambda x, a: x + a, "i8[n], i8"),
    }
    made = lw.compile_aot(functions, path=tmp_path_factory.mktemp("c") / "libc_interface")
    if made.shared is None:
        pytest.skip("no linker")
    loaded = ctypes.CDLL(str(made.shared))
    loaded.c_interface_message.restype = ctypes.c_char_p
    return loaded


def call(function, *arguments):
    """The error and the number of the argument."""
    pointers = [ctypes.byref(a) if isinstance(a, ctypes.Structure) else a for a in arguments]
    code = function(*pointers)
    return code & 0xFF, code >> 8


def random(*shape, dtype=np.float32):
    return np.random.default_rng(5).standard_normal(shape).astype(dtype)


def three(shape=(3, 4)):
    return [tensor(random(*shape)) for _ in range(3)]


def test_numbers_are_passed_by_value(library):
    x, out = random(9, dtype=np.float64), np.zeros(9)
    arguments = ctypes.c_double(1.5), ctypes.c_int64(-3)
    assert call(library.scaled, tensor(x), *arguments, tensor(out)) == (OK, 0)
    np.testing.assert_array_equal(out, x * 1.5 - 3)
    small, sums = np.arange(9, dtype=np.int8), np.zeros(9, np.int8)
    assert call(library.exact, tensor(small), ctypes.c_int8(-100), tensor(sums)) == (OK, 0)
    np.testing.assert_array_equal(sums, small - 100)


def test_strides_and_byte_offset(library):
    x, y, out = random(3, 4), random(4, 3).T, np.zeros((6, 8), np.float32)[::-2, ::2]
    assert call(library.plus, tensor(x), tensor(y), tensor(out)) == (OK, 0)
    np.testing.assert_array_equal(out, x + y)
    a, b, c = tensor(x), tensor(x), tensor(out)
    a.data -= 64
    a.byte_offset = 64
    b.strides = None
    assert call(library.plus, a, b, c) == (OK, 0)
    np.testing.assert_array_equal(out, x + x)


@pytest.mark.parametrize("position", [1, 2, 3])
def test_what_is_wrong_with_which_argument(library, position):
    def with_one(**changes):
        tensors = three()
        for name, value in changes.items():
            setattr(tensors[position - 1], name, value)
        return call(library.plus, *tensors)

    assert with_one() == (OK, 0)
    assert with_one(data=None) == (NULL, position)
    assert with_one(shape=None) == (NULL, position)
    assert with_one(device_type=2) == (DEVICE, position)
    assert with_one(code=0) == (DTYPE, position)
    assert with_one(bits=64) == (DTYPE, position)
    assert with_one(lanes=2) == (DTYPE, position)
    assert with_one(ndim=1) == (RANK, position)
    assert with_one(byte_offset=2) == (ALIGNMENT, position)
    tensors = three()
    tensors[position - 1] = None
    assert call(library.plus, *tensors) == (NULL, position)


def test_wrong_shapes(library):
    tensors = three()
    tensors[1].shape[1] = 3
    assert call(library.plus, *tensors) == (SHAPE, 2)
    tensors = three()
    tensors[0].shape[0] = -1
    assert call(library.plus, *tensors) == (SHAPE, 1)
    x, out = tensor(random(4, 3)), tensor(random(4))
    assert call(library.columns, x, out) == (SHAPE, 1)


def test_sizes_beyond_31_and_64_bits(library):
    """Strides of 0 make large inputs of little memory; outputs need their own."""
    value = random(1, 1)
    tensors = three()
    for t in tensors:
        t.keep[0][...] = value
        t.shape[0], t.shape[1] = 2**31 + 1, 0
    assert call(library.plus, *tensors) == (OK, 0)
    for t in tensors:
        t.shape[0], t.shape[1] = 2**40, 2**40
    assert call(library.plus, *tensors) == (SIZE, 1)
    tensors = three()
    tensors[0].strides[0] = 2**62
    assert call(library.plus, *tensors) == (STRIDES, 1)


def test_outputs_that_share_memory(library):
    x, y, out = three()
    out.strides[1] = 0
    assert call(library.plus, x, y, out) == (STRIDES, 3)
    out.strides[1], out.strides[0] = 1, 3
    assert call(library.plus, x, y, out) == (STRIDES, 3)
    memory = random(7, 4)
    a, b = memory[:3], memory[4:]
    assert call(library.plus, tensor(a), tensor(b), tensor(memory[2:5])) == (OVERLAP, 3)
    expected = a + b
    assert call(library.plus, tensor(a), tensor(b), tensor(a)) == (OK, 0)  # element by element
    np.testing.assert_array_equal(a, expected)
    wide = random(6, 4)
    assert call(library.columns, tensor(wide), tensor(wide.reshape(-1)[:6])) == (OVERLAP, 2)


def test_header_says_what_holds(tmp_path):
    functions = {
        "plus": (add, "f32[n,m], f32[n,m]"),
        "double_": (lambda x, int: x * 2 + int, "f32[n], i16"),
        "last_first": (lambda x, y: x[0] * y + lw.sum(x), "f64[n], f64[k]"),
        "power": (power, "i32[n], i32[n]"),
    }
    header = lw.compile_aot(functions, path=tmp_path / "libheader").header.read_text()
    plain = " ".join(header.split())
    for text in (
        "x: float32[n, m], input * y: float32[n, m], input * out: float32[n, m], output",
        "out may be the memory of x. * out may be the memory of y. * Can be split",
        "int32_t plus(const DLTensor* x, const DLTensor* y, const DLTensor* out);",
        "int32_t double_(const DLTensor* x, int16_t int_, const DLTensor* out);",
        "int_: int16, a number",
        "* Needs n >= 1.",
        "* Refuses some values of elements (LANEWISE_ERROR_VALUE).",
        "const char* header_message(int32_t code);",
    ):
        assert text in plain
    for name in ("double", "a-b", ""):
        with pytest.raises(lw.errors.ValueError, match="no name for a C function"):
            lw.compile_aot({name: add}, "f32[n], f32[n]", tmp_path / "libx")


def test_refused_values_leave_the_output_alone(library):
    x, y = np.arange(5, dtype=np.int32), np.array([1, 2, -1, 0, 3], np.int32)
    out = np.full(5, 77, np.int32)
    assert call(library.power, tensor(x), tensor(y), tensor(out)) == (VALUE, 0)
    assert (out == 77).all()
    y[2] = 3
    assert call(library.power, tensor(x), tensor(y), tensor(out)) == (OK, 0)
    np.testing.assert_array_equal(out, x**y)


def query(function, *tensors):
    loop, workspace = ctypes.c_int64(-7), ctypes.c_int64(-7)
    code = call(function, *tensors, ctypes.byref(loop), ctypes.byref(workspace))
    assert code == (OK, 0)
    return loop.value, workspace.value


def run_range(function, tensors, first, last, workspace=None):
    return call(function, *tensors, ctypes.c_int64(first), ctypes.c_int64(last), workspace)


def test_parts_give_the_bits_of_the_whole(library):
    x, whole = random(37, 50, dtype=np.float64), np.zeros((37, 50))
    assert call(library.softmax, tensor(x), tensor(whole)) == (OK, 0)
    parts = np.zeros((37, 50))
    tensors = [tensor(x), tensor(parts)]
    rows, _ = query(library.softmax_query, *tensors)
    assert rows == 37
    for first, last in ((30, 37), (0, 1), (1, 16), (16, 16), (16, 30)):
        assert run_range(library.softmax_range, tensors, first, last) == (OK, 0)
    assert parts.tobytes() == whole.tobytes()
    for first, last in ((-1, 5), (5, 38), (6, 5), (38, 38), (-2, -1), (-1, -1)):
        assert run_range(library.softmax_range, tensors, first, last) == (RANGE, 0)


def test_threads_share_functions_and_workspaces(library):
    x, whole, parts = random(2000, 8), np.zeros((2000, 8), "f4"), np.zeros((2000, 8), "f4")
    y = random(2000, 8)
    assert call(library.plus, tensor(x), tensor(y), tensor(whole)) == (OK, 0)
    tensors = [tensor(x), tensor(y), tensor(parts)]
    codes = []

    def work(first):
        codes.append(run_range(library.plus_range, tensors, first, first + 100))

    threads = [threading.Thread(target=work, args=(first,)) for first in range(0, 2000, 100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [(OK, 0)] * 20
    assert parts.tobytes() == whole.tobytes()


def test_workspace_of_the_caller(library):
    x, out, total = random(1000, 7), np.zeros((1000, 7), "f4"), np.zeros((), "f4")
    tensors = [tensor(x), tensor(out), tensor(total)]
    loop, bytes_ = query(library.normalized_query, *tensors)
    assert loop == 1  # all of it or nothing
    assert bytes_ > 0
    assert run_range(library.normalized_range, tensors, 0, 0) == (OK, 0)
    assert not out.any()
    guard = 4096
    workspace = np.full(bytes_ + 2 * guard, 0xA5, np.uint8)
    inside = ctypes.c_void_p(workspace.ctypes.data + guard)
    assert run_range(library.normalized_range, tensors, 0, 1, inside) == (OK, 0)
    assert (workspace[:guard] == 0xA5).all()
    assert (workspace[guard + bytes_ :] == 0xA5).all()
    expected = lw.jit(normalized)(x)
    assert out.tobytes() == np.asarray(expected[0]).tobytes()
    assert total.tobytes() == np.asarray(expected[1]).tobytes()
    again = np.zeros((1000, 7), "f4")
    tensors[1] = tensor(again)
    assert call(library.normalized, *tensors) == (OK, 0)
    assert again.tobytes() == out.tobytes()


def test_messages(library):
    texts = [library.c_interface_message(code) for code in range(15)]
    assert texts[0] == b"no error"
    assert len(set(texts)) == 15
    assert texts[14] == b"unknown error"
    assert library.c_interface_message(OVERLAP | 3 << 8) == texts[OVERLAP]


def test_the_float_mode_of_the_caller_does_not_matter(library):
    """Rounding, flushing of subnormals: results are the same, and the mode is as it was."""
    libm = ctypes.CDLL("libm.so.6")
    x = np.array([1e-42, 0.1, 3], np.float64)
    expected, out = np.zeros(3), np.zeros(3)
    arguments = ctypes.c_double(0.1), ctypes.c_int64(7)
    call(library.scaled, tensor(x), *arguments, tensor(expected))
    upward = 0x800
    before = libm.fegetround()
    assert libm.fesetround(upward) == 0
    try:
        code = call(library.scaled, tensor(x), *arguments, tensor(out))
        assert libm.fegetround() == upward
    finally:
        libm.fesetround(before)
    assert code == (OK, 0)
    assert out.tobytes() == expected.tobytes()
