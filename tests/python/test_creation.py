"""Arrays from values, ranges and random numbers."""

import array

import hypothesis.strategies as st
import lanewise as lw
import numpy as np
import pytest
from hypothesis import given

from support import DTYPES, assert_same, special_values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), 3, (2, 3), [4], (0,), (2, 0)])
def test_filled(dtype, shape):
    assert_same(lw.zeros(shape, dtype=dtype), np.zeros(shape, dtype))
    assert_same(lw.ones(shape, dtype=dtype), np.ones(shape, dtype))
    assert_same(lw.full(shape, 1, dtype=dtype), np.full(shape, 1, dtype))
    assert lw.empty(shape, dtype=dtype).shape == np.empty(shape).shape
    x = lw.zeros(shape, dtype=dtype)
    assert_same(lw.zeros_like(x), np.zeros(shape, dtype))
    assert_same(lw.ones_like(x), np.ones(shape, dtype))
    assert_same(lw.full_like(x, 1), np.full(shape, 1, dtype))
    assert lw.empty_like(x, dtype=lw.int8).dtype == "int8"


@pytest.mark.parametrize("make", [np.asarray, lw.asarray])
def test_full_of_an_array(make):
    row = np.arange(3, dtype=np.int16)
    like = lw.zeros((2, 3))
    assert_same(lw.full((2, 3), make(row)), np.full((2, 3), row))
    assert_same(lw.full_like(like, make(row)), np.full((2, 3), row, float))
    for value in (np.zeros((2, 3)), np.zeros(4), np.zeros((2, 1)), np.zeros((1, 3)), np.zeros(0)):
        with pytest.raises(lw.errors.ShapeError, match="full: cannot broadcast"):
            lw.full(3, make(value))
        with pytest.raises(lw.errors.ShapeError, match="full_like: cannot broadcast"):
            lw.full_like(like[0], make(value))


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (True, "bool"),
        (3, "int64"),
        (2**63, "uint64"),
        (0.5, "float64"),
        (np.float32(2), "float32"),
        (np.int8(2), "int8"),
    ],
)
def test_dtype_of_numbers(value, dtype):
    assert lw.full(2, value).dtype == dtype
    assert lw.asarray(value).dtype == dtype
    assert lw.full(2, value).tolist() == [value, value]
    assert lw.asarray(value).item() == value


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(-7, 7).filter(bool))
def test_arange_of_integers(start, stop, step):
    assert_same(lw.arange(start, stop, step), np.arange(start, stop, step))
    assert_same(
        lw.arange(start, stop, step, dtype=lw.float32), np.arange(start, stop, step, np.float32)
    )


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(0.25, 7))
def test_arange_of_floats(start, stop, step):
    ours, numpys = lw.arange(start, stop, step), np.arange(start, stop, step)
    assert ours.shape == numpys.shape
    np.testing.assert_allclose(np.asarray(ours), numpys, rtol=1e-12, atol=1e-12)


def test_arange_forms():
    assert_same(lw.arange(5), np.arange(5))
    assert_same(lw.arange(2.5), np.arange(2.5))
    assert_same(lw.arange(1, 5.0), np.arange(1, 5.0))
    assert_same(lw.arange(5, step=2), np.arange(0, 5, 2))
    assert_same(lw.arange(np.int8(3)), np.arange(3))
    assert_same(lw.arange(lw.asarray(3)), np.arange(3))


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(0, 60), st.booleans())
def test_linspace(start, stop, num, endpoint):
    ours = lw.linspace(start, stop, num, endpoint=endpoint)
    numpys = np.linspace(start, stop, num, endpoint=endpoint)
    assert ours.shape == numpys.shape
    np.testing.assert_allclose(np.asarray(ours), numpys, rtol=1e-12, atol=1e-9)
    if endpoint and num > 1:
        assert ours[-1].item() == stop
    if num:
        assert ours[0].item() == start


def test_linspace_dtype():
    assert_same(lw.linspace(0, 10, 5, dtype=lw.int32), np.linspace(0, 10, 5, dtype=np.int32))
    assert lw.linspace(0, 1).shape == (50,)


@given(st.integers(0, 6), st.none() | st.integers(0, 6), st.integers(-7, 7))
def test_eye(rows, columns, k):
    assert_same(lw.eye(rows, columns, k=k), np.eye(rows, columns, k=k))


@pytest.mark.parametrize("dtype", DTYPES)
def test_asarray_of_ndarrays(dtype):
    values = special_values(dtype)
    for n in (
        values,
        values[::-2],
        np.stack([values, values]).T,
        values.reshape(1, -1, 1),
        values[:0],
        values.astype(values.dtype.newbyteorder(">")),
    ):
        a = lw.asarray(n)
        assert_same(a, n.astype(dtype))
    unaligned = np.zeros(values.nbytes + 1, np.uint8)[1:].view(dtype)
    unaligned[...] = values
    assert_same(lw.asarray(unaligned), values)
    a = lw.asarray(values)
    values[...] = values[0]
    assert a.tolist() != values.tolist()


def test_asarray_of_sequences():
    assert_same(lw.asarray([[1, 2], [3, 4]]), np.array([[1, 2], [3, 4]]))
    assert_same(lw.asarray((1.5, True)), np.array([1.5, 1.0]))
    assert_same(lw.asarray([]), np.array([]))
    assert_same(lw.asarray([1, 2], dtype="uint8"), np.array([1, 2], np.uint8))
    assert_same(lw.asarray([lw.asarray([1, 2]), lw.asarray([3, 4])]), np.array([[1, 2], [3, 4]]))
    assert_same(lw.asarray(range(4)), np.arange(4))
    assert_same(lw.asarray(array.array("d", [1, 2])), np.array([1.0, 2.0]))
    assert_same(lw.asarray(memoryview(b"ab")), np.array([97, 98], np.uint8))


def test_asarray_of_arrays():
    a = lw.asarray([1.0, 2.0])
    assert lw.asarray(a) is a
    assert lw.asarray(a, dtype=lw.float64) is a
    assert lw.asarray(a, dtype=lw.float32).dtype == "float32"
    copy = lw.asarray(a, copy=True)
    copy[0] = 9
    assert a.tolist() == [1, 2]
    assert lw.asarray(a, copy=False) is a


def test_asarray_without_copy():
    n = np.arange(6.0).reshape(2, 3)
    a = lw.asarray(n, copy=False)
    n[0, 0] = 50
    assert a[0, 0].item() == 50
    for view in (n.T, n[::-1, ::2], n[:, :0], n[1, 1:], np.broadcast_to(n[0], (4, 3))):
        assert_same(lw.asarray(view, copy=False), view)
    raw = array.array("i", [1, 2, 3])
    lw.asarray(raw, copy=False)[1] = 20
    assert raw.tolist() == [1, 20, 3]
    with pytest.raises(ValueError, match="copy=False, but float64 to float32 needs a copy"):
        lw.asarray(n, dtype=lw.float32, copy=False)
    with pytest.raises(ValueError):
        lw.asarray([1, 2], copy=False)
    with pytest.raises(ValueError, match="byte order"):
        lw.asarray(n.astype(">f8"), copy=False)
    packed = np.zeros(3, dtype=[("a", "i4"), ("b", "f8")])["a"]
    lw.asarray(packed, copy=False)[1] = 7
    assert packed.tolist() == [0, 7, 0]
    odd = np.zeros(3, dtype=np.dtype([("a", "i4"), ("b", "i2")]))["a"]
    with pytest.raises(ValueError, match="stride 6 of axis 0|alignment"):
        lw.asarray(odd, copy=False)
    with pytest.raises(ValueError, match="read-only"):
        lw.asarray(np.broadcast_to(np.float64(1), 3), copy=False)[0] = 1


def test_aliases_keep_memory_alive():
    a = lw.asarray(np.arange(1000.0), copy=False)
    junk = [np.zeros(1000) for _ in range(10)]
    assert a.sum().item() == sum(range(1000)) and len(junk) == 10


# ---- random numbers ------------------------------------------------------------------------------


def test_seed_program():
    lw.manual_seed(0)
    x = lw.randn(10000, 2)
    assert x.dtype == "float32"
    np.testing.assert_allclose(
        np.asarray(x[:2]).ravel(), [-1.1258398, -1.1523602, -0.2505786, -0.4338788], rtol=3e-7
    )
    y = x[:, 0] ** 2 + x[:, 1] ** 3
    np.testing.assert_allclose(
        np.asarray(y[:4]), [-0.2627430, -0.0188884, 1.0516963, -9.3639508], rtol=3e-6
    )


def test_random_streams():
    lw.manual_seed(0)
    np.testing.assert_allclose(
        np.asarray(lw.randn(5)),
        np.float32([1.5409961, -0.2934289, -2.1787894, 0.5684313, -1.0845224]),
        rtol=3e-7,
    )
    lw.manual_seed(0)
    assert_same(lw.rand(4), np.float32([0.49625659, 0.76822180, 0.08847743, 0.13203049]))


@pytest.mark.parametrize("shape", [(), (0,), (15,), (16,), (17,), (3, 7), (1000,)])
def test_random_shapes(shape):
    for function in (lw.rand, lw.randn):
        lw.manual_seed(7)
        first = np.asarray(function(*shape))
        lw.manual_seed(7)
        assert_same(function(shape), first)
        assert first.shape == shape and np.isfinite(first).all()
    lw.manual_seed(2**64 - 1)
    first = np.asarray(lw.rand(3))
    lw.manual_seed(-1)
    assert_same(lw.rand(3), first)


def test_random_numbers_are_drawn_at_the_call():
    lw.manual_seed(3)
    first, second = lw.rand(2), lw.rand(2)
    later = second.tolist(), first.tolist()
    lw.manual_seed(3)
    assert lw.rand(2).tolist() == later[1] and lw.rand(2).tolist() == later[0]


def test_uniform_range():
    lw.manual_seed(1)
    x = np.asarray(lw.rand(100000))
    assert x.min() >= 0 and x.max() < 1
    assert abs(x.mean() - 0.5) < 0.01
    z = np.asarray(lw.randn(100000))
    assert abs(z.mean()) < 0.02 and abs(z.std() - 1) < 0.02


def test_against_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for shape in [(1,), (5,), (16,), (17,), (100,), (3, 11), (1000, 2)]:
        for seed in (0, 1, 2**40):
            lw.manual_seed(seed)
            torch.manual_seed(seed)
            assert_same(lw.rand(*shape), torch.rand(*shape).numpy())
            np.testing.assert_allclose(
                np.asarray(lw.randn(*shape)), torch.randn(*shape).numpy(), rtol=1e-5, atol=1e-6
            )
