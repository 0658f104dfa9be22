"""Running sums and products against NumPy."""

import lanewise as lw
import numpy as np
import pytest

from support import LAYOUTS, assert_same, lay_out, same_bits

NAMES = ["cumulative_sum", "cumulative_prod"]
NUMPY = {"cumulative_sum": np.cumsum, "cumulative_prod": np.cumprod}


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (15,), (17, 3), (2, 40, 5), (3, 1100), (1100, 20)])
@pytest.mark.parametrize("name", NAMES)
def test_against_numpy(name, shape, dtype, rng):
    x = rng.integers(0 if dtype == "bool" else 1, 2, shape).astype(dtype)
    if dtype.startswith("float"):
        x = (rng.random(shape) * 0.1 + 0.95).astype(dtype)
    for axis in range(-len(shape), len(shape)):
        expected = NUMPY[name](x, axis=axis)
        result = getattr(lw, name)(lw.asarray(x), axis=axis)
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(np.asarray(result), expected, rtol=2e-5)
        assert same_bits(
            np.asarray(getattr(lw, f"cum{name[11:]}")(lw.asarray(x), axis)), np.asarray(result)
        )


@pytest.mark.parametrize("n", [5, 1024, 5000, 300_000])
def test_bits_do_not_depend_on_layout(n, rng):
    values = rng.normal(size=(2, n)).astype(np.float32)
    plain = np.asarray(lw.cumulative_sum(lw.asarray(values), axis=1))
    for layout in LAYOUTS:
        if layout != "broadcast":
            assert same_bits(np.asarray(lw.cumulative_sum(lay_out(values, layout), axis=1)), plain)
    columns = lw.cumulative_sum(lw.asarray(np.ascontiguousarray(values.T)), axis=0)
    assert same_bits(np.asarray(columns).T.copy(), plain)
    assert_same(lw.cumulative_sum(lw.asarray(values[1])), plain[1])


@pytest.mark.parametrize("name", NAMES)
def test_include_initial(name):
    x = lw.asarray([[2, 3], [4, 5]])
    start = 0 if name == "cumulative_sum" else 1
    for axis in (0, 1):
        result = getattr(lw, name)(x, axis=axis, include_initial=True)
        expected = np.insert(NUMPY[name](np.asarray(x), axis=axis), 0, start, axis=axis)
        assert_same(result, expected)
    assert_same(getattr(lw, name)(lw.zeros(0), include_initial=True), np.full(1, float(start)))


def test_arguments():
    x = lw.asarray([[1, 2], [3, 4]], dtype=lw.int8)
    assert lw.cumulative_sum(x, axis=1).dtype == "int64"
    assert lw.cumulative_sum(x, axis=1, dtype=lw.int8).dtype == "int8"
    assert lw.cumsum(x).tolist() == [1, 3, 6, 10]
    assert x.cumprod(0).tolist() == [[1, 2], [3, 8]]
    with pytest.raises(ValueError, match="cumulative_sum: axis is needed for an array of 2 axes"):
        lw.cumulative_sum(x)
    with pytest.raises(ValueError, match="cumulative_sum: an array of 0 axes"):
        lw.cumulative_sum(lw.asarray(1.0))
    with pytest.raises(IndexError, match="cumulative_prod: axis 2 is out of range for 2 axes"):
        lw.cumulative_prod(x, axis=2)


def test_fused_with_a_reduction(rng):
    x = rng.random((5, 300))
    ours = lw.asarray(x)
    running = lw.cumulative_sum(ours * 2, axis=1)
    expected = np.cumsum(x * 2, axis=1)
    expected /= expected.max(axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.asarray(running / lw.max(running, axis=1, keepdims=True)), expected
    )
