"""var, std, argmin, argmax, norms, where=, and NumPy's functions called with our arrays."""

import math
import warnings
from fractions import Fraction

import lanewise as lw
import numpy as np
import pytest

from support import LAYOUTS, assert_same, lay_out, same_bits

SHAPES = [(1,), (7,), (5, 3), (2, 3, 4), (3, 1100), (70, 33)]
FLOATS = ["float32", "float64"]


def axes_of(shape):
    yield None
    yield from range(-len(shape), len(shape))
    if len(shape) > 1:
        yield (0, len(shape) - 1)


def close(result, expected, dtype):
    assert result.dtype == dtype
    assert result.shape == np.shape(expected)
    np.testing.assert_allclose(
        np.asarray(result), expected, rtol=1e-5 if dtype == "float32" else 1e-13
    )


@pytest.mark.parametrize("dtype", [*FLOATS, "int16", "uint8"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["var", "std"])
def test_var_and_std(name, shape, dtype, rng):
    x = rng.integers(0, 100, shape).astype(dtype)
    result_dtype = dtype if dtype in FLOATS else "float64"
    for axis in axes_of(shape):
        for correction in (0, 1, 0.5):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                expected = getattr(np, name)(x, axis=axis, ddof=correction, dtype=np.float64)
            result = getattr(lw, name)(lw.asarray(x), axis=axis, correction=correction)
            close(result, expected, result_dtype)
    kept = getattr(lw, name)(lw.asarray(x), axis=-1, keepdims=True)
    assert kept.shape == (*shape[:-1], 1)


def test_var_with_too_few_elements_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(lw.var(lw.zeros(0)).item())
        assert np.isnan(lw.mean(lw.zeros((0, 2)), axis=0)[1].item())
        assert np.isnan(lw.std(lw.asarray([1.0]), correction=1).item())
        assert lw.var(lw.asarray([1.0, 2.0]), correction=2).item() == math.inf
        assert np.isnan(lw.var(lw.asarray([math.inf])).item())
        assert_same(lw.var(lw.asarray([[1.0], [4.0]]), axis=1), np.zeros(2))


def exact_var(values):
    values = [Fraction(float(v)) for v in values]
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / len(values), mean


def var_bound(n, dtype, kappa):
    u = 2.0**-24 if dtype == "float32" else 2.0**-53
    of_lane = 16 if dtype == "float32" else 32
    depth = 6 + math.ceil(math.log2(max(1, math.ceil(n / 1024))))
    return ((of_lane + 3) * (of_lane + 1) + 8 * depth * kappa) * u


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("n", [2, 63, 1000, 1024, 5000, 40000])
@pytest.mark.parametrize("mean", [0, 1e4, 1e8])
def test_error_of_var(mean, n, dtype, rng):
    x = (rng.normal(size=n) + mean).astype(dtype)
    if mean == 0:
        x[n // 2] = 1e4  # an outlier, first of its lane or not
    exact, exact_mean = exact_var(x)
    kappa = math.sqrt(1 + exact_mean**2 / exact) if exact else 1
    for layout in (x, x[::-1]):
        result = lw.var(lw.asarray(layout)).item()
        assert abs(Fraction(result) - exact) <= Fraction(var_bound(n, dtype, kappa)) * exact
    if mean == 1e8 and dtype == "float64" and n >= 1000:
        assert abs(lw.std(lw.asarray(x)).item() - 1) < 0.1


@pytest.mark.parametrize("n", [1, 17, 64, 1000, 1024, 1025, 5000, 70000, 400000])
@pytest.mark.parametrize("dtype", FLOATS)
def test_error_of_sum(n, dtype, rng):
    """Terms that nearly cancel: the bound of docs/numerics.md, on sum(|x|)."""
    x = (rng.normal(size=n) * 10.0 ** rng.uniform(-6, 6, n)).astype(dtype)
    x[n // 2 :] = -x[: n - n // 2][::-1]
    x += (rng.normal(size=n) * 1e-3).astype(dtype)
    u = 2.0**-24 if dtype == "float32" else 2.0**-53
    lanes = 64 if dtype == "float32" else 32
    d = 1024 // lanes + int(math.log2(lanes)) + math.ceil(math.log2(max(1, math.ceil(n / 1024))))
    bound = d * u / (1 - d * u) * math.fsum(np.abs(x.astype(np.float64)))
    assert abs(lw.sum(lw.asarray(x)).item() - math.fsum(x.astype(np.float64))) <= bound


@pytest.mark.parametrize("n", [1, 100, 1100, 70000, 400000])
@pytest.mark.parametrize("name", ["var", "std", "argmin", "argmax", "logsumexp"])
def test_bits_do_not_depend_on_layout(name, n, rng):
    values = (rng.normal(size=(2, n)) + 100).astype(np.float32)
    function = getattr(lw, name)
    plain = np.asarray(function(lw.asarray(values), axis=1))
    for layout in LAYOUTS:
        if layout != "broadcast":
            assert same_bits(np.asarray(function(lay_out(values, layout), axis=1)), plain)
    transposed = lw.asarray(np.ascontiguousarray(values.T))
    assert same_bits(np.asarray(function(transposed, axis=0)), plain)
    rows = [np.asarray(function(lw.asarray(row))) for row in values]
    assert same_bits(np.stack(rows), plain)


def test_bits_do_not_depend_on_threads(rng):
    x = lw.asarray(rng.normal(size=3_000_000).astype(np.float32))
    index = lw.asarray(rng.integers(0, 1000, 3_000_000).astype(np.int32))
    functions = [lw.sum, lw.prod, lw.min, lw.var, lw.argmax, lw.mean, lw.cumulative_sum]
    before = lw.get_num_threads()
    results = []
    try:
        for threads in (1, 2, 3, 7):
            lw.set_num_threads(threads)
            for _ in range(3):  # costs are learned
                found = [np.asarray(f(x * 1.5)) for f in functions]
                found += [np.asarray(lw.sum(index)), np.asarray(lw.argmin(index))]
            results.append(found)
    finally:
        lw.set_num_threads(before)
    for other in results[1:]:
        assert all(map(same_bits, results[0], other))
    assert results[0][-1] == np.argmin(np.asarray(index))
    assert results[0][-2] == np.sum(np.asarray(index), dtype=np.int64)


# ---- positions ----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", *FLOATS])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_positions(name, shape, dtype, rng):
    x = rng.integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype)
    for axis in [None, *range(-len(shape), len(shape))]:
        for keepdims in (False, True):
            expected = np.asarray(getattr(np, name)(x, axis=axis, keepdims=keepdims))
            assert_same(getattr(lw, name)(lw.asarray(x), axis=axis, keepdims=keepdims), expected)


def test_positions_of_special_values():
    x = lw.asarray([[1, np.nan, 0, np.nan], [-0.0, 0.0, 1, -0.0], [np.inf] * 4, [-np.inf] * 4])
    assert lw.argmin(x, axis=1).tolist() == [1, 0, 0, 0]
    assert lw.argmax(x, axis=1).tolist() == [1, 2, 0, 0]
    assert x.argmin().item() == 1
    with pytest.raises(ValueError, match=r"argmin: axis 0 of \(0, 3\) is empty"):
        lw.argmin(lw.zeros((0, 3)), axis=0)
    with pytest.raises(ValueError, match=r"argmax: axis 1 of \(3, 0\) is empty"):
        lw.argmax(lw.zeros((3, 0)))
    with pytest.raises(IndexError, match="argmax: axis 2 is out of range"):
        lw.argmax(lw.zeros((3, 1)), axis=2)


# ---- made of others -----------------------------------------------------------------------


def test_count_nonzero(rng):
    x = rng.integers(-1, 2, (5, 40)).astype(np.float32)
    x[0, 0] = np.nan
    for axis in (None, 0, 1, (0, 1)):
        assert_same(lw.count_nonzero(lw.asarray(x), axis=axis), np.count_nonzero(x, axis=axis))


@pytest.mark.parametrize("dtype", FLOATS)
def test_logsumexp(dtype, rng):
    x = rng.normal(size=(6, 50)).astype(dtype) * 100
    x[1] = -np.inf
    x[2, 3] = np.inf
    x[3, 3] = np.nan
    expected = np.logaddexp.reduce(x.astype(np.float64), axis=1)
    close(lw.logsumexp(lw.asarray(x), axis=1), expected, dtype)
    close(lw.logsumexp(lw.asarray(x), axis=1, keepdims=True), expected[:, None], dtype)
    assert lw.logsumexp(lw.zeros(0)).item() == -np.inf
    assert lw.logsumexp(lw.asarray([1, 1])).dtype == "float64"


def test_vecdot(rng):
    a, b = rng.normal(size=(4, 1, 30)), rng.normal(size=(5, 30))
    close(lw.vecdot(lw.asarray(a), lw.asarray(b)), np.vecdot(a, b), "float64")
    c = rng.integers(0, 9, (30, 5)).astype(np.int8)
    assert_same(lw.vecdot(lw.asarray(c), lw.asarray(c), axis=0), (c * c).sum(0, dtype=np.int8))
    with pytest.raises(lw.errors.ShapeError, match="vecdot: axis -1 is 2 and 3"):
        lw.vecdot(lw.zeros(2), lw.zeros(3))
    with pytest.raises(IndexError, match="vecdot: axis -2 is out of range"):
        lw.vecdot(lw.zeros(2), lw.zeros((2, 2)), axis=-2)


@pytest.mark.parametrize("order", [0, 1, 2, math.inf, -math.inf])
def test_vector_norm(order, rng):
    x = rng.normal(size=(3, 4, 20))
    for axis in (None, 0, -1, (0, 2)):
        expected = np.linalg.vector_norm(x, axis=axis, ord=order)
        close(lw.vector_norm(lw.asarray(x), axis=axis, ord=order), expected, "float64")
    assert lw.vector_norm(lw.asarray([3, 4]), keepdims=True).tolist() == [5.0]
    with pytest.raises(NotImplementedError, match="vector_norm: ord=3"):
        lw.vector_norm(lw.asarray(x), ord=3)


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["int32", *FLOATS])
def test_where(name, dtype, rng):
    x = rng.integers(1, 9, (6, 50)).astype(dtype)
    mask = rng.random((6, 50)) < 0.5
    mask[0] = mask[:, 0] = True  # some element of each row and column
    if dtype in FLOATS:
        x[~mask] = np.nan  # must not be seen
    initial = {"min": {"initial": 99}, "max": {"initial": -99}}.get(name, {})
    for axis in (None, 0, 1):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            expected = np.asarray(getattr(np, name)(x, axis=axis, where=mask, **initial))
        result = getattr(lw, name)(lw.asarray(x), axis=axis, where=lw.asarray(mask))
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-5)
    with pytest.raises(lw.errors.ShapeError, match=f"{name}: where of shape"):
        getattr(lw, name)(lw.asarray(x), where=lw.asarray([True, False]))


def test_where_that_leaves_nothing():
    x, none = lw.asarray([1.0, 2.0]), lw.asarray([False, False])
    assert lw.min(x, where=none).item() == np.inf
    assert lw.max(lw.asarray([1, 2]), where=none).item() == np.iinfo(np.int64).min
    assert lw.sum(x, where=none).item() == 0
    assert np.isnan(lw.mean(x, where=none).item())
    assert np.isnan(lw.var(x, where=none).item())


# ---- NumPy's functions --------------------------------------------------------------------


def test_numpy_functions(rng):
    x = rng.normal(size=(4, 30))
    ours = lw.asarray(x)
    for name in ["sum", "prod", "min", "max", "mean", "var", "std", "amin", "amax", "argmin"]:
        function = getattr(np, name)
        for axis in (None, 1):
            result = function(ours, axis)
            assert isinstance(result, lw.Array)
            np.testing.assert_allclose(np.asarray(result), function(x, axis), rtol=1e-12)
    assert np.sum(ours, 0, np.float32).dtype == "float32"
    np.testing.assert_allclose(np.asarray(np.var(ours, 1, ddof=1)), np.var(x, 1, ddof=1))
    np.testing.assert_allclose(np.asarray(np.cumsum(ours)), np.cumsum(x))
    assert np.count_nonzero(ours, axis=0).tolist() == np.count_nonzero(x, axis=0).tolist()
    assert np.sum(ours, axis=1, keepdims=True).shape == (4, 1)
    out = np.zeros(30)
    assert np.max(ours, axis=0, out=out) is out
    assert (out == x.max(0)).all()
    assert np.linalg.vector_norm(ours, axis=1).shape == (4,)
