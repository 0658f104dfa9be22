"""out= of jitted functions."""

import lanewise as lw
import numpy as np
import pytest

from support import assert_same


@lw.jit
def step(x, y):
    return x + 2 * y


@lw.jit
def both(x):
    return {"sum": x + 1, "parts": (x * 2, [x * 3])}


def test_array_and_ndarray():
    x, y = lw.asarray([1.0, 2.0]), np.array([10.0, 20.0])
    for out in (
        lw.empty(2),
        np.empty(2),
        lw.zeros((2, 3))[:, 1],
        np.zeros((2, 3))[:, 2],
        np.zeros(2)[::-1],
        lw.flip(lw.zeros(2)),
    ):
        assert step(x, y, out=out) is out
        assert out.tolist() == [21, 42]


def test_views_of_out_see_it():
    base = lw.zeros((2, 2))
    step(lw.ones(2), lw.ones(2), out=base[0])
    assert base.tolist() == [[3, 3], [0, 0]]


def test_structure():
    x = lw.asarray([1.0, 2.0])
    out = {"sum": lw.zeros(2), "parts": (np.zeros(2), [None])}
    result = both(x, out=out)
    assert result["sum"] is out["sum"] and result["parts"][0] is out["parts"][0]
    assert out["sum"].tolist() == [2, 3] and out["parts"][0].tolist() == [2, 4]
    assert result["parts"][1][0].tolist() == [3, 6]
    assert both(x, out=None)["sum"].tolist() == [2, 3]


@pytest.mark.parametrize(
    "out, message",
    [
        ({"sum": None}, "out: the key 'parts' is missing"),
        ({"sum": None, "parts": (None,)}, "out: 1 items in place of 2"),
        (
            {"sum": None, "parts": (None, (None,))},
            "out: the structure differs: tuple in place of list",
        ),
        (3, "out: the structure differs: int in place of dict"),
        ({"sum": None, "parts": (None, [None]), "more": None}, "out: 3 keys in place of 2"),
    ],
)
def test_wrong_structure(out, message):
    with pytest.raises(TypeError) as caught:
        both(lw.ones(2), out=out)
    assert str(caught.value) == message


def test_an_out_that_is_a_traced_argument():
    x = lw.asarray([1.0, 2.0])
    inner = lw.jit(lambda b: b * 2)
    with pytest.raises(ValueError) as caught:
        lw.jit(lambda a: inner(a, out=a))(x)
    assert str(caught.value) == (
        "jit: out: argument 'a' of a jit-compiled function is read-only; use out= when calling it"
    )


def read_only():
    n = np.zeros(2)
    n.flags.writeable = False
    return n


@pytest.mark.parametrize(
    "make, error, message",
    [
        (lambda: lw.zeros(3), ValueError, "out: shape (3,), but the result has (2,)"),
        (lambda: np.zeros((1, 2)), ValueError, "out: shape (1, 2), but the result has (2,)"),
        (
            lambda: lw.zeros(2, dtype=lw.float32),
            TypeError,
            "out: dtype float32, but the result has float64",
        ),
        (lambda: np.zeros(2, int), TypeError, "out: dtype int64, but the result has float64"),
        (read_only, ValueError, "out: the ndarray is read-only"),
        (
            lambda: lw.broadcast_to(lw.zeros(1), 2),
            ValueError,
            "out: a view that repeats elements is read-only",
        ),
        (lambda: lw.asarray(read_only(), copy=False), ValueError, "out: the memory is read-only"),
        (lambda: [1, 2], TypeError, "out: a list is no Array or ndarray"),
        (
            lambda: np.zeros(2, complex),
            TypeError,
            "out: an ndarray of a dtype that lanewise does not have, or not aligned",
        ),
    ],
)
def test_bad_out(make, error, message):
    out = make()
    before = np.array(out, copy=True)
    with pytest.raises(error) as caught:
        step(lw.ones(2), lw.ones(2), out=out)
    assert str(caught.value) == message
    assert np.array_equal(np.asarray(out), before)


@pytest.mark.parametrize("shift", [-3, -1, 0, 1, 2])
@pytest.mark.parametrize("reverse", [False, True])
def test_overlap(shift, reverse):
    for kind in ("lanewise", "numpy", "alias"):
        memory = np.arange(20.0)
        base = {
            "lanewise": lambda m=memory: lw.asarray(m),
            "numpy": lambda m=memory: m,
            "alias": lambda m=memory: lw.asarray(m, copy=False),
        }[kind]()
        x, out = base[5:15], base[5 + shift : 15 + shift]
        if reverse:
            out = out[::-1]
        expected = np.arange(20.0)[5:15] * 3
        y = np.array(x, copy=True)
        step(x, y, out=out)
        assert np.asarray(out).tolist() == expected.tolist()
        untouched = [i for i in range(20) if not 5 + shift <= i < 15 + shift]
        assert np.asarray(base)[untouched].tolist() == untouched


def test_outs_that_overlap():
    pair = lw.jit(lambda x: (x + 1, x + 2))
    memory = np.zeros(6)
    pair(np.zeros(4), out=(memory[:4], memory[2:]))
    assert sorted(memory[[0, 1, 4, 5]].tolist()) == [1, 1, 2, 2]


def test_in_place_update_reuses_memory():
    x, y = lw.ones(1000), lw.ones(1000)
    lw.eval(x, y)
    step(x, y, out=x)
    before = lw.memory_stats()["allocations"]
    for _ in range(10):
        step(x, y, out=x)
    assert lw.memory_stats()["allocations"] == before
    assert x[0].item() == 23


def test_others_keep_the_old_values():
    out = lw.asarray([1.0, 2.0])
    pending, view, other = out + 1, np.asarray(out), out.copy()
    alias = out[:]
    step(lw.ones(2), lw.ones(2), out=out)
    assert out.tolist() == alias.tolist() == [3, 3]
    assert pending.tolist() == [2, 3]
    assert view.tolist() == other.tolist() == [1, 2]


def test_pending_out():
    out = lw.zeros(2) + 5
    step(lw.ones(2), out, out=out)
    assert out.tolist() == [11, 11]


def test_inside_a_trace():
    @lw.jit
    def outer(x):
        buffer = lw.zeros(2)
        result = step(x, x, out=buffer)
        assert result is buffer
        return buffer * 2

    assert outer(lw.asarray([1.0, 2.0])).tolist() == [6, 12]


def test_failure_leaves_out_alone():
    power = lw.jit(lambda x, y: x**y)
    out = lw.asarray([7, 7])
    with pytest.raises(ValueError, match="negative"):
        power(lw.asarray([2, 3]), lw.asarray([1, -1]), out=out)
    assert out.tolist() == [7, 7]
    assert_same(power(lw.asarray([2, 3]), lw.asarray([3, 1]), out=out), np.array([8, 3]))
