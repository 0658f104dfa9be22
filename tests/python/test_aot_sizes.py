"""Sizes that are names while a function is compiled ahead of time."""

import ctypes
import itertools

import lanewise as lw
import numpy as np
import pytest
from dltensor import tensor
from lanewise.errors import ShapeError, TracingError, UnsupportedError


@pytest.fixture
def compile_one(tmp_path):
    serial = itertools.count()

    def compile_(function, signature):
        name = f"f{next(serial)}"
        made = lw.compile_aot({name: function}, signature, tmp_path / f"lib{name}")
        return getattr(lw.load(made.object), name)

    return compile_


def values(*shape, dtype=np.float32):
    return np.random.default_rng(3).standard_normal(shape).astype(dtype)


def assert_as_jit(function, compiled, *arguments):
    expected = lw.jit(function)(*arguments)
    actual = compiled(*arguments)
    if not isinstance(expected, (tuple, list)):
        expected, actual = [expected], [actual]
    for a, b in zip(actual, expected, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()


FUNCTIONS = {
    "mean by hand": (lambda x: lw.sum(x, axis=0) / x.shape[0], "f32[n,m]"),
    "mean": (lambda x: (lw.mean(x), lw.mean(x, axis=1)), "f32[n,m]"),
    "product of sizes": (lambda x: x * (x.shape[0] * x.shape[1] - 1) + x.size, "f32[n,m]"),
    "float of a size": (lambda x: x * (1.0 / x.shape[0]) - 2**0.5 * x.shape[1], "f32[n,m]"),
    "comparison with an array": (lambda x: x > x.shape[0], "f32[n,m]"),
    "flat": (lambda x: x.reshape(-1) * 2, "f32[n,m]"),
    "reshaped": (lambda x: x.reshape(x.shape[1], x.shape[0]) + 1, "f32[n,m]"),
    "more axes": (lambda x: x.reshape(x.shape[0], 1, x.shape[1]).sum(axis=0), "f32[n,m]"),
    "zeros": (lambda x: lw.zeros((x.shape[0], 3)) + x[:, :1], "f32[n,m]"),
    "full of a size": (lambda x: lw.full((x.shape[1],), x.shape[0]) + x, "f32[n,m]"),
    "broadcast_to": (lambda x: lw.broadcast_to(x[0], (3, x.shape[1])), "f32[n,m]"),
    "arange": (lambda x: lw.arange(x.shape[1]) * x + lw.arange(1, x.shape[1] + 1), "f32[n,m]"),
    "arange of floats": (lambda x: lw.arange(x.shape[1], dtype="float32") * x, "f32[n,m]"),
    "positions": (lambda x: lw.sin(x * lw.arange(2, x.shape[0] + 2)[:, None]), "f32[n,m]"),
    "transposed": (lambda x: x.T + 1, "f32[n,m]"),
    "differences": (lambda x: x[1:] - x[:-1], "f32[n,m]"),
    "second differences": (lambda x: x[2:] - 2 * x[1:-1] + x[:-2], "f32[n,m]"),
    "reversed": (lambda x: x[::-1] + x[:, ::-1], "f32[n,m]"),
    "ends": (lambda x: x[0] + x[-1] + x[1, 2] + x[-2, -1], "f32[n,m]"),
    "first three": (lambda x: x[:3, :2].sum() + x[-3:].max(), "f32[n,m]"),
    "softmax": (lambda x: lw.exp(x) / lw.sum(lw.exp(x), axis=-1, keepdims=True), "f32[n,m]"),
    "columns": (lambda x: lw.sum(x, axis=0) + lw.max(x, axis=0), "f32[n,m]"),
    "variance": (lambda x: lw.mean((x - lw.mean(x)) ** 2), "f32[n,m]"),
    "input as result": (lambda x: (x, x + 1, x), "f32[n,m]"),
    "constant result": (lambda x: (lw.ones(3), x), "f32[n,m]"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_bits_of_the_jit(compile_one, name):
    function, signature = FUNCTIONS[name]
    compiled = compile_one(function, signature)
    for shape in ((4, 5), (7, 3), (100, 33), (1025, 4)):
        x = values(*shape)
        for layout in (x, np.asfortranarray(x), x[::-1], np.repeat(x, 2, axis=1)[:, ::2]):
            assert_as_jit(function, compiled, layout)


def test_names_that_meet_must_agree(compile_one):
    def function(x, y):
        return x + y, x.shape[0] + y

    compiled = compile_one(function, "f32[n], f32[m]")
    assert_as_jit(function, compiled, values(5), values(5))
    with pytest.raises(ShapeError, match="n == m does not hold: 5 and 4"):
        compiled(values(5), values(4))
    with pytest.raises(ShapeError, match="n == m"):
        compiled(values(5), values(1))


def test_a_name_that_meets_a_number_has_that_value(compile_one):
    compiled = compile_one(lambda x: x + lw.ones(4), "f32[n]")
    assert compiled(values(4)).shape == (4,)
    with pytest.raises(ShapeError, match="n == 4 does not hold: 5 and 4"):
        compiled(values(5))


def test_one_name_is_one_size(compile_one):
    compiled = compile_one(lambda x, y: (x, y), "f32[n,n], f32[n]")
    with pytest.raises(ShapeError, match=r"x has shape \(3, 4\), not \(n=3, n=3\)"):
        compiled(values(3, 4), values(3))
    with pytest.raises(ShapeError, match=r"y has shape \(4,\), not \(n=3\)"):
        compiled(values(3, 3), values(4))


def test_axes_must_be_long_enough(compile_one):
    compiled = compile_one(lambda x: x[3] + x[-1], "f32[n]")
    assert compiled(values(4)).shape == ()
    with pytest.raises(ShapeError, match="n >= 4 does not hold: 3 and 4"):
        compiled(values(3))
    compiled = compile_one(lambda x: lw.max(x), "f32[n]")
    with pytest.raises(ShapeError, match="n >= 1 does not hold"):
        compiled(values(0))
    compiled = compile_one(lambda x: x[2:-2] + 1, "f32[n]")
    assert compiled(values(4)).shape == (0,)
    with pytest.raises(ShapeError, match="does not hold"):
        compiled(values(3))


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (lambda x: x if x.shape[0] else x + 1, "'n'"),
        (lambda x: x if x.shape[0] > 5 else x + 1, "'n - 5'"),
        (lambda x: [x[i] for i in range(x.shape[0])], "'n'"),
        (lambda x: x + int(x.shape[0]), "'n'"),
        (lambda x: x + float(x.shape[0]), "'n'"),
        (lambda x: x ** x.shape[0], "'n'"),
        (lambda x: x[x.shape[0] - 1], "'n - 1'"),
        (lambda x: lw.arange(0, x.shape[0], 2), "'n'"),
        (lambda x: x + len(x), "'n'"),
        (lambda x: sum(row for row in x), "'n'"),
        (lambda x: x[::2], "'n'"),
        (lambda x: list(x), "'n'"),
    ],
)
def test_the_error_names_the_size_whose_value_python_needs(compile_one, function, names):
    with pytest.raises((TracingError, UnsupportedError), match=f"size {names}"):
        compile_one(function, "f32[n]")


def test_arithmetic_and_comparison_of_sizes(compile_one):
    seen = []

    def function(x, y):
        n, m = x.shape
        seen.extend([n + m, 2 * n - n, n * m // m, (n * 4) % 2, n - n, -n + 1, n**2, +n])
        seen.extend([n == n, n != n + 1, n + 1 > n, n <= n - 1, m == y.shape[0], hash(n)])
        seen.extend([x.ndim, x.size, x.nbytes, {n: 1}[x.shape[0]], x.T.shape])
        return x

    compile_one(function, "f32[n,m], f32[m]")
    texts = [str(value) for value in seen]
    assert texts[:8] == ["m + n", "n", "n", "0", "0", "-n + 1", "n*n", "n"]
    assert seen[8:13] == [True, True, True, False, True]
    assert texts[14:] == ["2", "m*n", "4*m*n", "1", "(m, n)"]
    with pytest.raises(TracingError, match="comparison: the value of size '-?[mn] [-+] [mn]'"):
        compile_one(lambda x: x if x.shape[0] == x.shape[1] else x, "f32[n,m]")
    with pytest.raises(TypeError, match="Size"):
        lw.Size()


def test_sizes_in_several_signatures(tmp_path):
    def scaled(x, a):
        return x * a / x.shape[0]

    made = lw.compile_aot(
        scaled, ["f32[n], f64", "f64[n], f64", "f64[n,m], f64"], tmp_path / "libscaled"
    )
    assert made.functions == ("scaled_f32_f64", "scaled_f64_f64", "scaled_f64x2_f64") or all(
        name.startswith("scaled_") for name in made.functions
    )
    loaded = lw.load(made.object).scaled
    for x in (values(4), values(5, dtype=np.float64), values(2, 3, dtype=np.float64)):
        assert_as_jit(scaled, loaded, x, 0.3)
    with pytest.raises(lw.errors.DTypeError, match=r"no code for int32\[2\], float"):
        loaded(np.arange(2, dtype=np.int32), 0.5)


def test_examples_as_signature(compile_one):
    def function(x, a):
        return x + a

    compiled = compile_one(function, (values(3, 2), 0.5))
    assert compiled.signatures == ["f32[3,2], f64"]
    assert_as_jit(function, compiled, values(3, 2), 0.25)


def test_captured_arrays_are_part_of_the_library(compile_one):
    table = lw.asarray(values(6))[::-1]
    pending = lw.asarray(values(6)) * 2

    def function(x):
        return x * table + pending

    assert_as_jit(function, compile_one(function, "f32[n,6]"), values(9, 6))


def test_structures_of_results(compile_one):
    def function(x):
        return {"a": x + 1, "b": [x * 2, (lw.sum(x), None)]}

    result = compile_one(function, "f32[n]")(values(4))
    assert list(result) == ["a", "b"]
    assert isinstance(result["b"], list)
    assert isinstance(result["b"][1], tuple)
    assert result["b"][1][1] is None
    expected = lw.jit(function)(values(4))
    assert np.asarray(result["b"][1][0]).tobytes() == np.asarray(expected["b"][1][0]).tobytes()


def test_kernels_that_run_block_by_block(tmp_path):
    def function(x, y):
        for _ in range(20):
            x, y = lw.sin(x) * y + 1, lw.exp(-x * x) + y
        return x, y

    text = lw.dump(lw.jit(function), values(30000), values(30000))
    assert "blocked {" in text
    made = lw.compile_aot({"f": function}, "f32[n], f32[n]", tmp_path / "libf")
    compiled = lw.load(made.object).f
    for count in (1, 511, 512, 8192, 8193, 30000):
        assert_as_jit(function, compiled, values(count), values(count)[::-1])
    if made.shared is None:
        return
    library = ctypes.CDLL(str(made.shared))
    x, expected = values(30000), [np.zeros(30000, "f4") for _ in range(2)]
    parts = [np.zeros(30000, "f4") for _ in range(2)]
    pointers = [ctypes.byref(tensor(a)) for a in (x, x, *expected)]
    assert library.f(*pointers) == 0
    pointers = [ctypes.byref(tensor(a)) for a in (x, x, *parts)]
    for first, last in ((20001, 30000), (0, 100), (100, 20001)):
        assert library.f_range(*pointers, ctypes.c_int64(first), ctypes.c_int64(last), None) == 0
    assert [a.tobytes() for a in parts] == [a.tobytes() for a in expected]


def test_graphs_of_many_kernels(compile_one):
    """Temporaries share memory; updates start as copies."""

    def function(x):
        for i in range(4):
            x = lw.sum(x) * 0.001 + lw.sin(x) * (i + 1)
        y = x + 0
        y[1:] = x[:-1] * 2
        for _ in range(60):
            y = lw.sin(y) * x + lw.cos(y)
        return y

    compiled = compile_one(function, "f64[n]")
    for count in (2, 100, 5000):
        assert_as_jit(function, compiled, values(count, dtype=np.float64))
