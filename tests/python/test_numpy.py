"""NumPy's functions and ufuncs called with arrays of lanewise."""

import lanewise as lw
import numpy as np
import pytest
from lanewise import _core

from support import assert_same, random_values

UFUNCS = {
    name: row
    for row in _core.op_table()
    for name in row["names"]
    if isinstance(getattr(np, name, None), np.ufunc)
}


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_are_ours(name, rng):
    row = UFUNCS[name]
    dtype = row["computes_in"][-1]
    values = [random_values(dtype, (3, 5), rng) for _ in range(row["arity"])]
    if name in ("pow", "power") and np.dtype(dtype).kind in "iu":
        values[1] &= 3
    arrays = [lw.asarray(v) for v in values]
    ufunc, ours = getattr(np, name), getattr(lw, name)
    result = ufunc(*arrays)
    assert_same(result, np.asarray(ours(*arrays)))
    if len(arrays) == 2:
        assert_same(ufunc(values[0], arrays[1]), np.asarray(result))
        assert_same(ufunc(arrays[0], values[1]), np.asarray(result))
    for out in (lw.zeros((3, 5), dtype=result.dtype), np.zeros((3, 5), result.dtype)):
        assert ufunc(*arrays, out=out) is out
        assert_same(lw.asarray(out), np.asarray(result))


def test_there_are_many_ufuncs():
    assert len(UFUNCS) > 60


def test_ufuncs_that_are_not_ours():
    x = lw.ones(3)
    for call in (
        lambda: np.matmul(x, x),
        lambda: np.add.reduce(x),
        lambda: np.add.outer(x, x),
        lambda: np.add(x, x, where=np.array([True, False, True])),
        lambda: np.add(x, x, dtype=np.float32),
        lambda: np.modf(x),
        lambda: np.sin(x, out=[0]),
    ):
        with pytest.raises(TypeError):
            call()


def test_ufuncs_record():
    x = lw.asarray([1.0, 2.0])
    pending = np.add(np.multiply(x, 2), np.ones(2))
    assert "multiply" in lw.dump(pending, stage="graph")
    x[...] = 0
    assert pending.tolist() == [3, 5]


def test_operators_of_ndarrays_and_numpy_scalars():
    n, x = np.array([1.0, 2.0]), lw.asarray([10.0, 20.0])
    for result, expected in (
        (n + x, [11, 22]),
        (x + n, [11, 22]),
        (n - x, [-9, -18]),
        (x // n, [10, 10]),
        (n**x, [1, 2.0**20]),
        (np.float64(2) * x, [20, 40]),
        (x / np.float64(2), [5, 10]),
        (n < x, [True, True]),
        (n == x, [False, False]),
    ):
        assert isinstance(result, lw.Array) and result.tolist() == expected
    assert (np.float32(2) * lw.ones(2, dtype=lw.float32)).dtype == "float32"
    assert (np.float64(2) * lw.ones(2, dtype=lw.float32)).dtype == "float64"


X = np.arange(24.0).reshape(2, 3, 4) - 7.5


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.all(x > 0, axis=1),
        lambda x: np.any(x > 0),
        lambda x: np.amax(x, axis=(0, 2)),
        lambda x: np.amin(x),
        lambda x: np.max(x, axis=0, keepdims=True),
        lambda x: np.min(x, 1),
        lambda x: np.sum(x, axis=-1),
        lambda x: np.prod(x[0, 0]),
        lambda x: np.mean(x * 0 + 2, axis=0),
        lambda x: np.astype(x, np.int32),
        lambda x: np.broadcast_to(x[0], (5, 3, 4)),
        lambda x: np.broadcast_arrays(x, x[0])[1],
        lambda x: np.clip(x, -1, 3),
        lambda x: np.clip(x, min=0, max=1),
        lambda x: np.copy(x),
        lambda x: np.expand_dims(x, 1),
        lambda x: np.flip(x, 2),
        lambda x: np.matrix_transpose(x),
        lambda x: np.moveaxis(x, 0, -1),
        lambda x: np.ones_like(x),
        lambda x: np.zeros_like(x, dtype=np.int8),
        lambda x: np.full_like(x, 3),
        lambda x: np.permute_dims(x, (2, 0, 1)),
        lambda x: np.transpose(x),
        lambda x: np.reshape(x, (4, 6)),
        lambda x: np.round(x),
        lambda x: np.squeeze(np.expand_dims(x, 0), 0),
        lambda x: np.where(x > 0, x, 0),
    ],
)
def test_functions(call):
    result = call(lw.asarray(X))
    assert isinstance(result, lw.Array)
    assert_same(result, call(X))


def test_functions_about_arrays(tmp_path):
    x = lw.asarray(X)
    assert np.shape(x) == (2, 3, 4) and np.ndim(x) == 3 and np.size(x) == 24 and np.size(x, 1) == 3
    assert np.array_equal(x, X) and np.allclose(x + 1e-12, X) and not np.array_equal(x, X + 1)
    assert np.array_equiv(x, X) and np.isclose(x, X).all()
    assert np.array_repr(x) == np.array_repr(X) and np.array2string(x) == np.array2string(X)
    assert np.array_str(x[0, 0]) == np.array_str(X[0, 0])
    np.save(tmp_path / "x.npy", x)
    assert np.array_equal(np.load(tmp_path / "x.npy"), X)
    np.savez(tmp_path / "x.npz", first=x, second=X)
    assert np.array_equal(np.load(tmp_path / "x.npz")["first"], X)
    np.savetxt(tmp_path / "x.txt", x[0])
    assert np.allclose(np.loadtxt(tmp_path / "x.txt"), X[0])
    assert np.empty_like(x).shape == x.shape


def test_functions_that_are_not_ours():
    x = lw.asarray(X)
    hint = r"np.asarray\(a\) gives an ndarray, which it takes"
    with pytest.raises(TypeError, match=f"no implementation found for 'numpy.median' on.*{hint}"):
        np.median(x)
    with pytest.raises(TypeError, match=f"no implementation found for 'numpy.stack' on.*{hint}"):
        np.stack([x, X])
    assert np.histogram(np.asarray(x))[0].sum() == x.size

    class Other:
        def __array_function__(self, *_):
            return "other"

    assert np.stack([x, Other()]) == "other"
    with pytest.raises(NotImplementedError, match="round: decimals=2, only 0 is supported"):
        np.round(x, 2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'low'"):
        np.clip(x, 0, 1, low=3)


def test_ndarrays_of_arrays():
    x = lw.asarray(X)
    view = np.asarray(x)
    assert view.base is not None and not view.flags.writeable
    assert np.asarray(x).ctypes.data == view.ctypes.data
    assert np.asarray(x[:, ::-1, 1]).strides == X[:, ::-1, 1].strides
    own = np.array(x)
    own[...] = 0
    assert x.tolist() == X.tolist()
    assert np.asarray(x, np.float32).dtype == "float32"
    assert np.asarray(x, dtype=np.float64, copy=False).ctypes.data == view.ctypes.data
    with pytest.raises(ValueError, match="copy=False, but float64 to int64 needs a copy"):
        x.__array__(np.int64, copy=False)
    assert np.stack([np.asarray(x), X]).shape == (2, 2, 3, 4)
    assert memoryview(x[0]).tolist() == X[0].tolist()
    assert memoryview(x).readonly
    with pytest.raises(TypeError, match="read-only"):
        memoryview(x)[0, 0, 0] = 1
