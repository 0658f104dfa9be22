"""Arrays as Python objects: attributes, conversions, protocols of the language."""

import copy
import gc
import pickle
import weakref

import lanewise as lw
import numpy as np
import pytest

from support import DTYPES, assert_same, same_bits, special_values


@pytest.mark.parametrize("dtype", DTYPES)
def test_attributes(dtype):
    a = lw.zeros((2, 3, 4), dtype=dtype)
    n = np.zeros((2, 3, 4), dtype)
    for name in ["shape", "dtype", "ndim", "size", "itemsize", "nbytes"]:
        assert getattr(a, name) == getattr(n, name), name
    assert a.device == "cpu"
    assert a.T.shape == (4, 3, 2)
    assert a.mT.shape == (2, 4, 3)


def test_dtypes_are_numpys():
    assert lw.float32 is np.dtype("float32")
    assert lw.asarray([1]).dtype is np.dtype("int64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers_from_arrays(dtype):
    for value in special_values(dtype):
        a = lw.asarray(value)
        assert a.shape == ()
        item = a.item()
        assert type(item) is type(value.item())
        assert item == value.item() or np.isnan(value)
        assert bool(a) == bool(value)
        if np.isfinite(value):
            assert int(a) == int(value)
        assert float(a) == float(value) or np.isnan(value)
        if value.dtype.kind in "iu":
            assert range(2**70)[a] == int(value) or value < 0
    assert lw.asarray([[7]], dtype=dtype).item() == 7 or dtype == "bool"


def test_item_and_tolist():
    a = lw.asarray([[1.5, 2.5], [3.5, 4.5]])
    assert a.item(1, 0) == 3.5
    assert a.item(-1, -1) == 4.5
    assert a.tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert lw.asarray(3).tolist() == 3
    assert lw.asarray([True]).tolist() == [True]


def test_index_of_sequences():
    assert [10, 20, 30][lw.asarray(1)] == 20
    assert list(range(5))[: lw.asarray([1, 2])[1]] == [0, 1]


def test_length_and_iteration():
    a = lw.reshape(lw.arange(6), (3, 2))
    assert len(a) == 3
    rows = list(a)
    assert [row.tolist() for row in rows] == [[0, 1], [2, 3], [4, 5]]
    rows[1][...] = 9  # rows are views
    assert a.tolist() == [[0, 1], [9, 9], [4, 5]]
    assert [x.item() for x in lw.arange(3)] == [0, 1, 2]
    assert list(reversed(lw.arange(3)))[0].item() == 2


@pytest.mark.parametrize("value", [2, 2.0, 7, np.int64(1), np.array([1, 2, 3]), "no", None])
def test_contains(value):
    a = lw.asarray([1, 2, 3])
    expected = False if isinstance(value, str) else value in np.asarray([1, 2, 3])
    assert (value in a) == bool(expected)


def test_contains_broadcasts_like_numpy():
    assert lw.asarray([0, 9]) in lw.asarray([[1, 2], [3, 9]])
    assert lw.asarray([3, 1]) not in lw.asarray([[1, 2], [0, 9]])


def test_no_hash():
    with pytest.raises(TypeError, match="unhashable type"):
        hash(lw.zeros(3))


def test_comparison_with_other_types():
    a = lw.asarray([1, 2])
    assert (a == "text") is False
    assert (a != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        a < "text"  # noqa: B015


class Other:
    """Knows how to add an Array to itself."""

    def __radd__(self, other):
        return "radd"

    def __rmatmul__(self, other):
        return "rmatmul"


def test_unknown_operands_get_their_turn():
    assert lw.zeros(2) + Other() == "radd"
    assert lw.zeros(2) @ Other() == "rmatmul"
    with pytest.raises(TypeError, match="unsupported operand"):
        lw.zeros(2) + "text"
    with pytest.raises(TypeError, match="unsupported operand"):
        lw.zeros(2) @ lw.zeros(2)
    with pytest.raises(TypeError, match="unsupported operand"):
        lw.zeros(2) + [1, 2]
    with pytest.raises(TypeError, match="unsupported operand"):
        lw.zeros(2) + 1j
    with pytest.raises(TypeError):
        pow(lw.zeros(2), 2, 3)


def test_divmod():
    q, r = divmod(lw.asarray([7, -7]), 3)
    assert q.tolist() == [2, -3] and r.tolist() == [1, 2]
    q, r = divmod(20, lw.asarray([7, -7]))
    assert q.tolist() == [2, -3] and r.tolist() == [6, -1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(dtype, protocol):
    values = special_values(dtype)
    a = lw.asarray(np.stack([values, values]))
    for view in (a, a[:, ::2], a.T, a[0, 0], a[:, :0], a + a):
        again = pickle.loads(pickle.dumps(view, protocol))
        assert isinstance(again, lw.Array)
        assert_same(again, np.asarray(view))


def test_pickle_out_of_band():
    a = lw.arange(1000)
    buffers = []
    data = pickle.dumps(a, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 1000 < sum(b.raw().nbytes for b in buffers)
    assert_same(pickle.loads(data, buffers=buffers), np.arange(1000))


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, lw.Array.copy])
def test_copies_are_independent(make):
    a = lw.asarray([1.0, 2.0, 3.0])
    b = make(a[1:])
    a[1] = 50
    b[1] = 70
    assert a.tolist() == [1, 50, 3]
    assert b.tolist() == [2, 70]


def test_weak_references():
    a = lw.zeros(3)
    seen = []
    reference = weakref.ref(a, lambda _: seen.append(True))
    assert reference() is a
    del a
    gc.collect()
    assert reference() is None and seen == [True]


def test_no_construction():
    with pytest.raises(TypeError, match="lanewise.asarray"):
        lw.Array([1, 2])
    with pytest.raises(TypeError):
        type("Sub", (lw.Array,), {})


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (lambda: lw.asarray([1.0, 2.5]), "array([1. , 2.5])"),
        (lambda: lw.asarray([1, 2], dtype=lw.int8), "array([1, 2], dtype=int8)"),
        (lambda: lw.asarray([0.1], dtype=lw.float32), "array([0.1], dtype=float32)"),
        (lambda: lw.asarray(True), "array(True)"),
        (lambda: lw.zeros((0, 3)), "array([], shape=(0, 3), dtype=float64)"),
        (lambda: lw.arange(2000), repr(np.arange(2000))),
    ],
)
def test_repr(array, text):
    assert repr(array()) == text


def test_str():
    assert str(lw.asarray([[1, 2], [3, 4]])) == "[[1 2]\n [3 4]]"
    assert f"{lw.asarray([1.5])}" == "[1.5]"


def test_repr_of_traced():
    texts = []

    @lw.jit
    def f(x, c):
        texts.append((repr(x), str(c)))
        return x * c

    f(lw.zeros((2, 3), dtype=lw.float32), 2.0)
    assert texts == [
        (
            "array(traced, shape=(2, 3), dtype=float32)",
            "array(traced, shape=(), dtype=float64)",
        )
    ]


def test_positive_is_a_copy():
    a = lw.asarray([1, -2])
    b = +a
    a[0] = 9
    assert b.tolist() == [1, -2]
    assert same_bits(np.asarray(lw.positive(a)), np.asarray(a))


def test_memory_of_arrays_is_freed():
    lw.free_cached_memory()
    before = lw.memory_stats()["in_use"]
    a = lw.ones(1 << 20)
    lw.eval(a)
    assert lw.memory_stats()["in_use"] >= before + (8 << 20)
    del a
    assert lw.memory_stats()["in_use"] < before + (1 << 20)


@pytest.mark.parametrize("spec", ["", ".3f", "10.2e", "g", "d", "x", ">8"])
@pytest.mark.parametrize("value", [2.5, -3, True, np.float32(0.1), np.uint8(200)])
def test_format(value, spec):
    a = lw.asarray(value)
    try:
        expected = format(a.item(), spec) if spec else str(np.asarray(value))
    except ValueError as error:
        with pytest.raises(ValueError, match=type(a.item()).__name__):
            format(a, spec)
        assert type(a.item()).__name__ in str(error)
    else:
        assert format(a, spec) == f"{a:{spec}}" == expected


def test_format_of_several_elements():
    assert f"{lw.asarray([1, 2])}" == "[1 2]"
    with pytest.raises(TypeError, match="format: only an array of 0 axes is a number"):
        format(lw.asarray([1, 2]), ".2f")
    with pytest.raises(lw.errors.TracingError):
        lw.jit(lambda x: f"{x.sum():.2f}")(lw.zeros(2))


def test_round_of_a_number():
    a = lw.asarray(2.567)
    assert (round(a), round(a, 1), round(a, None)) == (3, 2.6, 3)
    assert isinstance(round(a), int)
    assert round(lw.asarray(1234), -2) == 1200
    with pytest.raises(TypeError, match="round: only an array of 0 axes is a number"):
        round(lw.zeros(2), 1)


def test_methods_take_axes_as_numpys_do():
    n = np.arange(24).reshape(2, 3, 4)
    a = lw.asarray(n)
    for axes in [(), (None,), (1, 2, 0), ((1, 2, 0),), ([0, 2, 1],), (-1, 0, 1)]:
        assert_same(a.transpose(*axes), n.transpose(*axes))
    for axes in [(0, 1), (0, 0, 1), ((0, 1),), (0, 1, 2, 3), (0,)]:
        with pytest.raises(ValueError, match="transpose"):
            a.transpose(*axes)
    with pytest.raises(lw.errors.IndexError):
        a.transpose(0, 1, 3)
