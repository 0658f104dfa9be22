"""lanewise.jit: arguments, results, tracing."""

import collections
import pickle

import lanewise as lw
import numpy as np
import pytest

from support import DTYPES, assert_same, random_values, same_bits

Point = collections.namedtuple("Point", "x y")


def test_seed_expression(rng):
    x = rng.normal(size=(1000, 2)).astype(np.float32)

    def f(x):
        return x[:, 0] ** 2 + x[:, 1] ** 3

    lazy = np.asarray(f(lw.asarray(x)))
    compiled = lw.jit(f)
    for argument in (lw.asarray(x), x, np.asfortranarray(x), x[::-1][::-1]):
        result = compiled(argument)
        assert isinstance(result, lw.Array)
        assert_same(result, lazy)
    assert compiled.trace_count == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_arguments_of_all_kinds(dtype, rng):
    values = random_values(dtype, (4, 6), rng)

    @lw.jit
    def f(x):
        return lw.where(x != 0, x, x), x.T

    plain = f(lw.asarray(values))
    for argument in (
        values,
        values.copy(order="F"),
        memoryview(values),
        lw.asarray(values.T).T,
        lw.asarray(values, copy=False),
    ):
        for result, expected in zip(f(argument), plain, strict=True):
            assert same_bits(np.asarray(result), np.asarray(expected))
    assert_same(f(values[::2, ::-1])[1], values[::2, ::-1].T)
    swapped = values.astype(values.dtype.newbyteorder())
    assert_same(f(swapped)[1], values.T)


def test_numpy_scalars_and_pending_arguments():
    f = lw.jit(lambda x, y: x * y)
    assert f(np.float32(2), lw.ones(3, dtype=lw.float32)).dtype == "float32"
    assert f(np.float64(2), lw.ones(3, dtype=lw.float32)).dtype == "float64"
    x = lw.arange(3)
    assert f(x + 1, x * 2).tolist() == [0, 4, 12]


def test_numbers_are_run_time_values():
    traces = []

    @lw.jit
    def f(x, c):
        traces.append(c)
        return c * x + c

    x = lw.asarray([1, 2], dtype=lw.float32)
    for c in (1.5, 2.5, -3.0):
        assert_same(f(x, c), np.float32(c) * np.array([1, 2], np.float32) + np.float32(c))
    assert len(traces) == 1
    assert f(x, 2).dtype == "float32" and f(x, True).dtype == "float32"
    assert len(traces) == 3
    assert f(lw.asarray([1, 2]), 2).dtype == "int64"


def test_traced_numbers_stay_weak():
    @lw.jit
    def f(x, rate):
        half = rate * 0.5
        half += 1
        return x - half * x, lw.sqrt(rate) * x, -rate * x, rate / 3, rate > 1

    x = lw.ones(2, dtype=lw.float32)
    results = f(x, 0.5)
    assert [r.dtype.name for r in results] == ["float32"] * 3 + ["float64", "bool"]
    assert results[0].tolist() == [-0.25, -0.25]
    assert results[3].item() == 0.5 / 3


def test_power_of_traced_number(rng):
    x = np.abs(rng.normal(size=50))
    f = lw.jit(lambda x, p: x**p)
    assert_same(f(x, 2.7), np.asarray(lw.pow(lw.asarray(x), lw.full(50, 2.7))))


def test_structures():
    @lw.jit
    def f(batch, *, scale, extra=None):
        first, (second, third) = batch["pair"]
        total = first + second * third
        assert extra is None or isinstance(extra, list)
        return {"sum": total * scale, "parts": [first, (second, None)], "point": batch["point"]}

    a, b, c = lw.asarray([1.0, 2.0]), np.array([3.0, 4.0]), 10
    batch = {"pair": (a, [b, c]), "point": Point(a, 2.0)}
    result = f(batch, scale=2)
    assert list(result) == ["sum", "parts", "point"]
    assert result["sum"].tolist() == [62, 84]
    assert type(result["parts"]) is list and type(result["parts"][1]) is tuple
    assert result["parts"][1][1] is None
    assert type(result["point"]) is Point and result["point"].y.item() == 2.0
    f(batch, scale=2, extra=[a, None])
    assert f.trace_count == 2
    f({"pair": (a, (b, c)), "point": Point(a, 2.0)}, scale=2)  # a tuple is no list
    assert f.trace_count == 3
    name = "".join(["po", "int"])  # a string of its own
    f({"pair": (a, [b, c]), name: Point(a, 2.0)}, **{"".join("scale"): 2})
    assert f.trace_count == 3


def test_defaults_and_keywords():
    @lw.jit
    def f(x, c=3.0, *, d=1):
        return c * x + d

    x = lw.asarray([1.0, 2.0])
    assert f(x).tolist() == [4, 7]
    assert f(x, 2.0).tolist() == [3, 5]
    assert f(x, d=2).tolist() == [5, 8]
    assert f(c=1.0, x=x).tolist() == [2, 3]
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        f()
    with pytest.raises(TypeError, match="unexpected keyword argument 'e'"):
        f(x, e=1)


def test_static_arguments():
    @lw.jit(static_argnames=("n", "mode"))
    def f(x, n, *, mode="up"):
        for _ in range(n):
            x = x * 2 if mode == "up" else x / 2
        return x

    x = lw.asarray([1.0])
    assert f(x, 3).tolist() == [8]
    assert f(x, n=3).tolist() == [8]
    assert f(x, 2, mode="down").tolist() == [0.25]
    assert f.trace_count == 3
    f(x, 3)
    assert f.trace_count == 3
    assert f(x, True).tolist() == [2] and f.trace_count == 4  # equal to 1, but not the same
    assert f(x, 1).tolist() == [2] and f.trace_count == 5
    with pytest.raises(TypeError, match=r"static argument \[1\] of f is a list, which has no hash"):
        f(x, [1])
    g = lw.jit(lambda x, axis: x.sum(axis), static_argnames="axis")
    assert g(lw.ones((2, 3)), 0).tolist() == [2, 2, 2]


def test_shapes_are_known():
    @lw.jit
    def f(x):
        assert isinstance(x.shape[0], int) and x.ndim == 2 and len(x) == x.shape[0]
        return sum(row * i for i, row in enumerate(x)) / x.shape[0]

    assert f(lw.ones((3, 2))).tolist() == [1, 1]
    assert f(lw.ones((4, 2))).tolist() == [1.5, 1.5]
    assert f.trace_count == 2


def test_captured_arrays_are_constants():
    weights = lw.asarray([1.0, 2.0])
    ndarray = np.array([10.0, 20.0])
    f = lw.jit(lambda x: x * weights + ndarray + (weights + 1).sum())
    assert f(1.0).tolist() == [16, 27]
    weights[0] = 100
    ndarray[0] = 100
    assert f(2.0).tolist() == [17, 29]
    assert f(lw.asarray([1.0, 1.0])).tolist() == [304, 126]  # another trace


def test_results_that_need_no_arguments():
    f = lw.jit(lambda x: (x, 1, 2.5, np.arange(2), lw.zeros(2), None, [], {}))
    x = lw.asarray([1.0])
    result = f(x)
    assert [type(r) for r in result] == [lw.Array] * 5 + [type(None), list, dict]
    assert [r.tolist() for r in result[:5]] == [[1.0], 1, 2.5, [0, 1], [0, 0]]
    result[0][0] = 5
    assert x.tolist() == [1]
    assert f(x)[4].tolist() == [0, 0]
    assert lw.jit(lambda: lw.arange(3))().tolist() == [0, 1, 2]


def test_nested_functions():
    inner = lw.jit(lambda x, c: x * c)

    @lw.jit
    def outer(x):
        return inner(x, 2) + inner(x, c=x)

    assert outer(lw.asarray([1.0, 3.0])).tolist() == [3, 15]
    assert inner.trace_count == 0


def test_methods():
    class Model:
        scale = 3

        @lw.jit(static_argnames="self")
        def apply(self, x):
            return x * self.scale

    model = Model()
    assert model.apply(lw.ones(2)).tolist() == [3, 3]
    bound = lw.jit(model.apply.__func__.__wrapped__.__get__(model))
    assert bound(lw.ones(2)).tolist() == [3, 3]


def module_level(x):
    """Doubles."""
    return x * 2


module_level = lw.jit(module_level)


def test_looks_like_the_function():
    import inspect

    assert module_level.__name__ == "module_level" and module_level.__doc__ == "Doubles."
    assert list(inspect.signature(module_level).parameters) == ["x"]
    assert "module_level" in repr(module_level)
    assert pickle.loads(pickle.dumps(module_level)) is module_level
    assert isinstance(module_level, lw.Function)


def test_functions_are_freed():
    import gc
    import weakref

    class Marker:
        pass

    marker = Marker()

    def make():
        @lw.jit
        def f(x):
            assert marker_of() is not None
            return x + (0 if f is None else 1)  # refers to itself

        marker_of = weakref.ref(marker)
        f(lw.ones(2))
        f.own = f
        return weakref.ref(f)

    reference = make()
    gc.collect()
    assert reference() is None


def test_many_shapes_and_dtypes(rng):
    f = lw.jit(lambda x: x + 1)
    for n in range(400):
        assert f(lw.zeros(n)).shape == (n,)
    for dtype in DTYPES:
        assert f(lw.zeros(3, dtype=dtype)).tolist() == [1, 1, 1]
    f.clear_cache()
    count = f.trace_count
    f(lw.zeros(3))
    assert f.trace_count == count + 1


def test_layouts_share_a_trace(rng):
    values = rng.normal(size=(40, 30))
    f = lw.jit(lambda x: x * 2 + x.T[:30, :40].T)
    expected = values * 2 + values
    for argument in (
        values,
        values.copy("F"),
        np.repeat(values, 2, axis=1)[:, ::2],
        values[::-1].copy()[::-1],
        np.pad(values, 3)[3:-3, 3:-3],
    ):
        assert_same(f(argument), expected)
        assert_same(f(lw.asarray(argument, copy=False)), expected)
    assert f.trace_count == 1


def test_random_draws_are_refused():
    state = []

    @lw.jit
    def f(x):
        state.append(1)
        return x + lw.rand(3)

    lw.manual_seed(0)
    with pytest.raises(NotImplementedError, match="rand: random numbers cannot be drawn"):
        f(lw.zeros(3))
    assert state == [1]
    assert lw.rand(1).item() == np.float32(0.49625659)
    assert f.trace_count == 0


def test_exceptions_of_the_function_pass_through():
    class Mine(Exception):
        pass

    @lw.jit
    def f(x):
        raise Mine("here")

    with pytest.raises(Mine, match="here"):
        f(lw.zeros(3))
    assert (lw.zeros(2) + 1).tolist() == [1, 1]


def test_functions_with_an_out_of_their_own():
    x, y = np.array([[1.0, 4.0], [9.0, 16.0]]), np.ones((2, 2))
    for jitted, expected in [
        (lw.jit(lw.sqrt), np.sqrt(x)),
        (lw.jit(lw.cumulative_sum, static_argnames="axis"), None),
        (lw.jit(np.sqrt), np.sqrt(x)),
    ]:
        if expected is None:
            assert_same(jitted(x, axis=1), np.cumsum(x, axis=1))
            continue
        assert_same(jitted(x), expected)
        out = np.zeros((2, 2))
        assert jitted(x, out=out) is out and (out == expected).all()
    assert_same(lw.jit(lw.add)(x, y), x + y)


class Meddler:
    """Changes what holds it while it is read."""

    def __init__(self, change):
        self.change = change

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        self.change()
        return np.ones(2).__dlpack__()


def nested_sum(items):
    if isinstance(items, dict):
        items = list(items.values())
    total = 0
    for item in items:
        total = total + (nested_sum(item) if isinstance(item, list | dict) else item)
    return total


@pytest.mark.parametrize("traced", [False, True])
def test_lists_and_dicts_that_change_while_read(traced):
    jitted = lw.jit(nested_sum)

    def f(tree):
        return lw.jit(lambda x: jitted(tree) + x)(1.0) if traced else jitted(tree)

    for change in (list.clear, list.pop, lambda held: held.extend(np.ones((1000, 2)))):
        held = [np.ones(2) for _ in range(50)]
        held[3] = Meddler(lambda held=held, change=change: change(held))
        with pytest.raises(RuntimeError, match="changed while its items were read"):
            f(held)
    for change in (dict.clear, dict.popitem, lambda held: held.update(new=1.0)):
        held = {f"k{i}": np.ones(2) for i in range(50)}
        held["k3"] = Meddler(lambda held=held, change=change: change(held))
        with pytest.raises(RuntimeError, match="changed while its items were read"):
            f(held)


@pytest.mark.parametrize(
    "change",
    [
        lambda held: held.extend(np.ones((1000, 2))),
        lambda held: held.__setitem__(0, 1.0),
        list.clear,
    ],
)
def test_a_list_that_a_later_argument_changes(change):
    held = [np.ones(2) for _ in range(3)]
    with pytest.raises(RuntimeError, match="changed while its items were read"):
        lw.jit(nested_sum)([held, Meddler(lambda: change(held))])


def test_an_item_that_takes_itself_out():
    held = [None]
    held[0] = Meddler(lambda: held.__setitem__(0, np.zeros(2)))
    assert lw.jit(nested_sum)(held).tolist() == [1, 1]


def test_bad_decorations():
    with pytest.raises(TypeError, match="jit: an int cannot be called"):
        lw.jit(3)
    with pytest.raises(ValueError, match="static_argnames has 'n', which is no parameter of f"):

        @lw.jit(static_argnames="n")
        def f(x):
            return x

    with pytest.raises(ValueError, match="the parameter 'out' of g is in the way"):

        @lw.jit
        def g(x, out):
            return x
