"""What bad input says, where it says it, and that it changes nothing."""

import os
import re
import shutil
import subprocess
import sys

import lanewise as lw
import numpy as np
import pytest
from lanewise import errors

KNOWN = "lanewise has bool, int8 to int64, uint8 to uint64, float32 and float64"
NO_VALUE = (
    "has no value while lanewise.jit traces the function; choose elements with lanewise.where, "
    "or name the argument in static_argnames"
)
NO_ARGUMENT = (
    "jit: argument 'a' of <lambda> is an object, not an array, a number or a tuple, list or dict "
    "of them; name it in static_argnames"
)
NO_ARRAY = "not an array or a number; lanewise.asarray makes an array of it if it can"
ONLY = "only integers, slices, None and ... are"
INDEX = "index it or use item()"
AMBIGUOUS = (
    "bool: an array of 3 elements is neither true nor false; use lanewise.any or lanewise.all"
)
READ_ONLY = (
    "assignment: argument '{}' of a jit-compiled function is read-only; use out= when calling it"
)


class World:
    """Arrays, a view, and expressions that are pending while something goes wrong."""

    def __init__(self):
        self.x = lw.reshape(lw.arange(12, dtype=lw.float64), (3, 4))
        self.n = lw.asarray([2, 3, 4])
        self.row = self.x[1]
        self.pending = self.x * 2 + self.row
        self.out = lw.zeros((3, 4))
        self.pending_of_out = self.out - 1
        self.ndarray = np.arange(12.0).reshape(3, 4)
        self.frozen = np.arange(12.0).reshape(3, 4)
        self.frozen.flags.writeable = False
        self.objects = np.array([1, None, 3], object)
        self.negative = lw.asarray([1, 2, -1])

    def values(self) -> list:
        return [np.array(value).tolist() for value in vars(self).values()]


# What happens to the world, and what it says.
CASES = [
    # ---- shapes
    (
        lambda w: w.x + lw.zeros(5),
        errors.ShapeError,
        "add: cannot broadcast (3, 4) with (5,): axis 1 is 4 and 5",
    ),
    (
        lambda w: lw.zeros((2, 3, 1)) * w.x.T,
        errors.ShapeError,
        "multiply: cannot broadcast (2, 3, 1) with (4, 3): axis 1 is 3 and 4",
    ),
    (
        lambda w: np.ones(5) - w.x,
        errors.ShapeError,
        "subtract: cannot broadcast (5,) with (3, 4): axis 1 is 5 and 4",
    ),
    (
        lambda w: np.hypot(w.x, np.ones(3)),
        errors.ShapeError,
        "hypot: cannot broadcast (3, 4) with (3,): axis 1 is 4 and 3",
    ),
    (
        lambda w: lw.where(w.x > 0, w.x, w.n),
        errors.ShapeError,
        "where: cannot broadcast (3, 4) with (3, 4) with (3,): axis 1 is 4 and 3",
    ),
    (
        lambda w: w.row.__iadd__(w.x),
        errors.ShapeError,
        "add: cannot store a result of shape (3, 4) in place, in shape (4,)",
    ),
    (
        lambda w: w.x.__setitem__(0, w.n),
        errors.ShapeError,
        "assignment: cannot broadcast (3,) to (4,)",
    ),
    (
        lambda w: lw.broadcast_to(w.x, (4, 3)),
        errors.ShapeError,
        "broadcast_to: cannot broadcast (3, 4) to (4, 3)",
    ),
    (
        lambda w: w.x.reshape(5, -1),
        errors.ShapeError,
        "reshape: (3, 4) to (5, -1): 12 elements do not fill it evenly",
    ),
    (lambda w: lw.zeros(-1), errors.ShapeError, "zeros: size -1 is negative"),
    (
        lambda w: lw.ones((2**40, 2**40)),
        errors.ShapeError,
        f"ones: shape ({2**40}, {2**40}) is too large",
    ),
    # ---- indices
    (lambda w: w.x[3], errors.IndexError, "index: 3 is out of range for axis 0 of size 3"),
    (lambda w: w.x[:, -5], errors.IndexError, "index: -5 is out of range for axis 1 of size 4"),
    (
        lambda w: w.x.__setitem__((0, 4), 1),
        errors.IndexError,
        "index: 4 is out of range for axis 1 of size 4",
    ),
    (lambda w: w.x[0, 0, 0], errors.IndexError, "index: 3 indices for an array of 2 axes"),
    (lambda w: w.x[2**64], errors.IndexError, f"index: {2**64} is out of range"),
    (lambda w: w.x[1.0], errors.IndexError, f"index: 1.0 is no index; {ONLY}"),
    (
        lambda w: w.x[[0, 1]],
        errors.UnsupportedError,
        f"index: a list as index is not supported; {ONLY}",
    ),
    (
        lambda w: w.x[np.array([0, 1])],
        errors.UnsupportedError,
        f"index: a numpy.ndarray as index is not supported; {ONLY}",
    ),
    (
        lambda w: w.x[w.x > 0],
        errors.UnsupportedError,
        "index: which elements a mask chooses is not known before it is computed; use "
        "lanewise.where (x[mask] = number is supported)",
    ),
    (lambda w: lw.sum(w.x, axis=2), errors.IndexError, "sum: axis 2 is out of range for 2 axes"),
    (lambda w: lw.flip(w.x, axis=(0, -2)), errors.ValueError, "flip: axis 0 appears twice"),
    # ---- dtypes
    (
        lambda w: lw.zeros(3, dtype="float1"),
        errors.DTypeError,
        f"dtype: unknown dtype 'float1': {KNOWN}",
    ),
    (
        lambda w: w.x.astype(np.complex64),
        errors.DTypeError,
        f"dtype: unknown dtype 'complex64': {KNOWN}",
    ),
    (
        lambda w: lw.asarray(np.ones(2, np.float16)),
        errors.DTypeError,
        f"asarray: unknown dtype 'float16': {KNOWN}",
    ),
    (lambda w: lw.asarray("text"), errors.DTypeError, f"asarray: unknown dtype '<U4': {KNOWN}"),
    (
        lambda w: lw.asarray(w.objects),
        errors.DTypeError,
        f"asarray: unknown dtype 'object': {KNOWN}",
    ),
    (lambda w: w.n + w.objects, errors.DTypeError, f"add: unknown dtype 'object': {KNOWN}"),
    (lambda w: w.objects * w.n, errors.DTypeError, f"multiply: unknown dtype 'object': {KNOWN}"),
    (
        lambda w: w.n.__setitem__(..., w.objects),
        errors.DTypeError,
        f"assignment: unknown dtype 'object': {KNOWN}",
    ),
    (
        lambda w: lw.jit(lambda a: a + 1)(w.objects),
        errors.DTypeError,
        f"jit: unknown dtype 'object': {KNOWN}",
    ),
    (lambda w: lw.jit(lambda a: a + 1)(object()), TypeError, NO_ARGUMENT),
    (lambda w: lw.bitwise_and(w.x, 1), errors.DTypeError, "bitwise_and: not defined for float64"),
    (
        lambda w: w.n.astype(lw.int8) + 300,
        errors.ValueError,
        "add: Python integer 300 does not fit int8",
    ),
    (lambda w: lw.sin("x"), TypeError, f"sin: x is a str, {NO_ARRAY}"),
    (lambda w: lw.jit(1), TypeError, "jit: an int cannot be called"),
    (lambda w: lw.eval(1), TypeError, "eval: an int is no Array"),
    (lambda w: lw.sum("x"), TypeError, f"sum: x is a str, {NO_ARRAY}"),
    (lambda w: w.x.fill("x"), TypeError, f"fill: value is a str, {NO_ARRAY}"),
    (
        lambda w: w.x.squeeze(0, 1),
        TypeError,
        "squeeze() takes at most 1 positional argument (2 given)",
    ),
    (
        lambda w: w.x.swapaxes(0, 1, 2),
        TypeError,
        "swapaxes() takes at most 2 positional arguments (3 given)",
    ),
    (lambda w: lw.sin(), TypeError, "sin() takes 1 positional argument (0 given)"),
    # ---- out=
    (
        lambda w: lw.add(w.x, 1, out=w.n),
        errors.ShapeError,
        "add: out has shape (3,), the result (3, 4)",
    ),
    (
        lambda w: lw.add(w.x, 1, out=w.ndarray.T),
        errors.ShapeError,
        "add: out has shape (4, 3), the result (3, 4)",
    ),
    (
        lambda w: lw.divide(w.n, 2, out=w.n),
        errors.DTypeError,
        "divide: cannot store float64 in out of dtype int64",
    ),
    (
        lambda w: lw.exp(w.x, out=np.zeros((3, 4), np.int32)),
        errors.DTypeError,
        "exp: cannot store float64 in out of dtype int32",
    ),
    (
        lambda w: lw.add(w.n, 1, out=w.objects),
        errors.DTypeError,
        "add: out has dtype object, which lanewise does not have",
    ),
    (
        lambda w: lw.add(w.x, 1, out=w.frozen),
        errors.ValueError,
        "add: out: the ndarray is read-only",
    ),
    (
        lambda w: lw.add(w.x, 1, out=lw.asarray(w.frozen, copy=False)),
        errors.ValueError,
        "add: out: the memory is read-only",
    ),
    (
        lambda w: lw.add(w.x, 1, out=lw.broadcast_to(w.row, (3, 4))),
        errors.ValueError,
        "add: out: a view that repeats elements is read-only",
    ),
    (lambda w: lw.add(w.x, 1, out=[0]), TypeError, "add: out is a list, not an Array or ndarray"),
    (
        lambda w: w.n.__itruediv__(2),
        errors.DTypeError,
        "assignment: cannot cast float64 to int64 ('same_kind')",
    ),
    (
        lambda w: lw.asarray(w.frozen, copy=False).__setitem__(0, 1),
        errors.ValueError,
        "assignment: the memory is read-only",
    ),
    (
        lambda w: lw.jit(lambda a: a + 1)(w.x, out=w.n),
        errors.ShapeError,
        "out: shape (3,), but the result has (3, 4)",
    ),
    (
        lambda w: lw.jit(lambda a: a / 2)(w.n, out=w.n),
        errors.DTypeError,
        "out: dtype int64, but the result has float64",
    ),
    (
        lambda w: lw.jit(lambda a: a + 1)(w.x, out=w.frozen),
        errors.ValueError,
        "out: the ndarray is read-only",
    ),
    # ---- values
    (
        lambda w: w.n**-1,
        errors.ValueError,
        "pow: integers to the negative power -1; use a floating-point base",
    ),
    (lambda w: bool(w.n), errors.ValueError, AMBIGUOUS),
    (
        lambda w: float(w.n),
        TypeError,
        f"float: only an array of 0 axes is a number, not shape (3,); {INDEX}",
    ),
    (
        lambda w: range(3)[w.x[0, 0]],
        TypeError,
        "index: an array of dtype float64 is not an integer",
    ),
    # ---- traced values
    (
        lambda w: lw.jit(lambda a: a if a[0] > 0 else -a)(w.n),
        errors.TracingError,
        f"bool: a traced array of shape () {NO_VALUE}",
    ),
    (
        lambda w: lw.jit(lambda a: float(a))(2.0),
        errors.TracingError,
        f"float: a traced array of shape () {NO_VALUE}",
    ),
    (
        lambda w: lw.jit(lambda a: np.asarray(a))(w.n),
        errors.TracingError,
        f"buffer: a traced array of shape (3,) {NO_VALUE}",
    ),
    (
        lambda w: lw.jit(lambda a: lw.add(a, 1, out=w.ndarray))(w.x),
        errors.TracingError,
        f"numpy.asarray: a traced array of shape (3, 4) {NO_VALUE}",
    ),
    (
        lambda w: lw.jit(lambda a: a.__setitem__(0, 1))(w.x),
        errors.ValueError,
        READ_ONLY.format("a"),
    ),
    (
        lambda w: lw.jit(lambda p: p["w"][0].__iadd__(1))({"w": w.x}),
        errors.ValueError,
        READ_ONLY.format("p_w"),
    ),
]


@pytest.mark.parametrize(("action", "exception", "message"), CASES, ids=range(len(CASES)))
def test_bad_input(action, exception, message):
    world = World()
    before = World().values()
    with pytest.raises(exception) as caught:
        action(world)
    assert type(caught.value) is exception
    assert str(caught.value) == message
    assert world.values() == before


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("ShapeError", ValueError),
        ("DTypeError", TypeError),
        ("IndexError", IndexError),
        ("ValueError", ValueError),
        ("TracingError", TypeError),
        ("UnsupportedError", NotImplementedError),
        ("CompileError", RuntimeError),
        ("MemoryError", MemoryError),
        ("InternalError", RuntimeError),
    ],
)
def test_exceptions_are_builtin_ones_too(name, builtin):
    assert issubclass(getattr(errors, name), (errors.Error, builtin))
    assert issubclass(getattr(errors, name), builtin)


# ---- faults that only values show ----------------------------------------------------------------
def here() -> str:
    """File and line of the caller."""
    frame = sys._getframe(1)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


NEGATIVE = "pow: integers to negative powers; use a floating-point base: at index {} ({})"


def test_negative_powers_name_element_and_line():
    world = World()
    power, line = world.n**world.negative, here()
    later = lw.reshape(power, (3, 1)) + world.n
    for evaluate in (lambda: lw.eval(later), lambda: power.tolist(), lambda: np.asarray(later)):
        with pytest.raises(errors.ValueError) as caught:
            evaluate()
        assert str(caught.value) == NEGATIVE.format(2, line)
    assert world.values() == World().values()
    world.negative[2] = 3  # too late for what was written before
    with pytest.raises(errors.ValueError, match="negative powers"):
        lw.eval(power)
    assert (world.n**world.negative).tolist() == [2, 9, 64]


@pytest.mark.parametrize(
    "write",
    [
        lambda w, out: lw.pow(w.n, w.negative, out=out),
        lambda w, out: out.__setitem__(..., w.n**w.negative + 1),
        lambda w, out: lw.jit(lambda a, b: a**b)(w.n, w.negative, out=out),
        lambda w, out: lw.jit(lambda a, b: (a**b, a))(w.n, w.negative, out=(None, out)),
    ],
)
@pytest.mark.parametrize(
    "make",
    [
        lambda: lw.asarray([7, 8, 9]),
        lambda: lw.asarray([7, 0, 8, 0, 9])[::2],
        lambda: np.array([7, 8, 9]),
        lambda: lw.asarray(np.array([7, 8, 9]), copy=False),
    ],
)
def test_negative_powers_come_before_the_first_store(write, make):
    world, out = World(), make()
    with pytest.raises(ValueError, match=re.escape("base: at index 2 (")):
        write(world, out)
    assert out.tolist() == [7, 8, 9]
    assert world.values() == World().values()


def test_negative_powers_in_place():
    world = World()
    with pytest.raises(errors.ValueError, match="at index 2"):
        world.n **= world.negative
    assert world.values() == World().values()


def test_memory_limit():
    world = World()
    huge = lw.zeros(1 << 24) + world.x[0, 0]
    limit = lw.memory_stats()["in_use"] + (1 << 20)
    lw.set_memory_limit(limit)
    try:
        with pytest.raises(errors.MemoryError, match="no room for .* bytes: the memory limit is"):
            lw.eval(huge)
    finally:
        lw.set_memory_limit(0)
    assert world.values() == World().values()
    assert huge[5].item() == 0


# ---- values of a trace that leave it -------------------------------------------------------------
CAPTURED = (
    "assignment: a traced value cannot be written to an array from outside the traced function, of "
    "which only the results are kept; return the value, or use out= in the call"
)


@pytest.mark.parametrize(
    "write",
    [
        lambda w, a: w.x.__setitem__(..., a),
        lambda w, a: w.x.__setitem__((0, 0), a[0, 0]),
        lambda w, a: w.x.__iadd__(a),
        lambda w, a: w.row.__imul__(a[0]),
        lambda w, a: lw.add(a, 1, out=w.x),
        lambda w, a: lw.jit(lambda b: b + 1)(a, out=w.x),
        lambda w, a: lw.jit(lambda b: w.x.__setitem__(..., b))(a),
        lambda w, a: lw.asarray(w.ndarray, copy=False).__setitem__(0, a[0]),
    ],
)
def test_traced_values_are_not_written_to_captured_arrays(write):
    world = World()
    function = lw.jit(lambda a: write(world, a))
    shared = lw.asarray(world.ndarray, copy=False)
    for _ in range(2):
        with pytest.raises(ValueError) as caught:
            function(world.x)
        assert str(caught.value) == CAPTURED
        assert world.values() == World().values()
    assert shared.tolist() == world.ndarray.tolist()


def test_arrays_made_in_the_function_take_traced_values():
    @lw.jit
    def f(a):
        result = lw.zeros((2, 3))
        result[0] = a
        result[1, ::2] = a[1]
        lw.add(result, 1, out=result)
        return result

    assert f(lw.asarray([1.0, 2.0, 3.0])).tolist() == [[2, 3, 4], [3, 1, 3]]


def test_untraced_values_are_written_while_tracing():
    world = World()

    @lw.jit
    def f(a):
        world.x[0] = 5
        return a + world.x[0]

    assert f(lw.ones(4)).tolist() == [6] * 4
    assert world.x[0].tolist() == [5] * 4


def test_traced_arrays_do_not_outlive_the_trace():
    kept = []
    lw.jit(lambda a: kept.append(a * 2))(lw.ones(3))
    with pytest.raises(errors.TracingError, match="tolist: a traced array"):
        kept[0].tolist()
    with pytest.raises(ValueError) as caught:
        lw.jit(lambda a: a + kept[0])(lw.ones(3))
    assert str(caught.value) == (
        "jit: a traced array was kept from another call, whose trace has ended"
    )
    for function in (lw.jit(lambda a: a), lw.jit(lambda a: a + 1), lw.jit(lambda a: 1)):
        with pytest.raises(ValueError, match="jit: a traced array was kept from another call"):
            function(kept[0])
    with pytest.raises(ValueError, match="jit: a traced array was kept from another call"):
        lw.jit(lambda a: lw.jit(lambda b: b)(kept[0]))(lw.ones(3))
    with pytest.raises(ValueError, match="cannot be written to an array from outside"):
        lw.zeros(3)[...] = kept[0]


def test_calls_inside_a_trace_see_its_values():
    @lw.jit
    def outer(a):
        inner = lw.jit(lambda b: a * b)  # of no traced argument
        return inner(np.array([10.0, 20.0])) + inner(3)

    assert outer(lw.asarray([1.0, 2.0])).tolist() == [13, 46]
    assert outer(lw.asarray([2.0, 3.0])).tolist() == [26, 69]


def test_calls_inside_a_trace_give_what_calls_outside_give():
    double = lw.jit(lambda a: a * 2)
    same = lw.jit(lambda a: a)

    @lw.jit
    def outer(x, c):
        own = same(x)
        own[0] = 100  # an array of its own, as outside
        numbers = double(c), double(np.float32(1.5)), double(2), same(np.arange(2))
        assert all(isinstance(n, lw.Array) for n in numbers)
        return x, own, x * numbers[0], numbers

    x = lw.ones(2, dtype=lw.float32)
    plain, own, product, numbers = outer(x, 1.5)
    assert plain.tolist() == [1, 1] and own.tolist() == [100, 1]
    assert product.dtype == (x * double(1.5)).dtype == "float64"
    assert [n.dtype.name for n in numbers] == ["float64", "float32", "int64", "int64"]


# ---- CPUs that are too old -----------------------------------------------------------------------
@pytest.mark.skipif(not shutil.which("qemu-x86_64"), reason="needs qemu-x86_64 (qemu-user)")
def test_cpu_without_avx2():
    command = ["qemu-x86_64", "-cpu", "Nehalem", sys.executable, "-c", "import lanewise"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ))
    assert done.returncode == 1, done.stderr
    assert re.search(
        r"^ImportError: lanewise: needs a CPU with AVX2 and FMA \(x86-64-v3\): this one is .+$",
        done.stderr,
        re.MULTILINE,
    )


@pytest.mark.parametrize(
    ("target", "message"),
    [("avx512", "LANEWISE_TARGET: 'avx512' is none of x86-64-v3, x86-64-v4, host")],
)
def test_unknown_target(target, message):
    env = {**os.environ, "LANEWISE_TARGET": target}
    done = subprocess.run(
        [sys.executable, "-c", "import lanewise"], capture_output=True, text=True, env=env
    )
    assert done.stderr.splitlines()[-1] == f"ImportError: {message}"
