"""Reductions against NumPy."""

import warnings

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import lanewise as lw
import numpy as np
import pytest
from hypothesis import given

from support import DTYPES, LAYOUTS, assert_same, lay_out, random_values, same_bits

NAMES = ["sum", "prod", "min", "max", "any", "all", "mean"]


@given(
    st.sampled_from(NAMES),
    st.sampled_from(DTYPES),
    hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=5),
    st.booleans(),
    st.data(),
)
def test_against_numpy(name, dtype, shape, keepdims, data):
    if dtype == "bool" and name in ("sum", "prod", "mean"):
        values = data.draw(hnp.arrays(bool, shape))
    else:
        values = data.draw(
            hnp.arrays(
                dtype,
                shape,
                elements={"min_value": 0, "max_value": 3} if np.dtype(dtype).kind != "b" else None,
            )
        )
    if name == "prod" and np.dtype(dtype).kind == "f":
        # Near 1: no product of some of them overflows or is subnormal, whatever their order.
        values = (1 + (values - 1.5) / 15).astype(dtype)
    axis = (
        data.draw(
            st.none()
            | st.integers(-len(shape), len(shape) - 1)
            | st.lists(st.integers(0, len(shape) - 1), unique=True).map(tuple)
        )
        if shape
        else None
    )
    expected = np.asarray(getattr(np, name)(values, axis=axis, keepdims=keepdims))
    for result in (
        getattr(lw, name)(lw.asarray(values), axis=axis, keepdims=keepdims),
        getattr(lw.asarray(values), name)(axis, keepdims=keepdims),
    ):
        assert result.dtype == expected.dtype
        assert result.shape == expected.shape
        np.testing.assert_allclose(np.asarray(result), expected, rtol=5e-5)


@pytest.mark.parametrize("name", ["sum", "prod"])
def test_dtype(name):
    x = lw.asarray([100, 100, 2], dtype=lw.int8)
    function = getattr(lw, name)
    assert function(x).dtype == "int64"
    assert function(x, dtype=lw.int8).dtype == "int8"
    assert function(x, dtype=lw.float32).item() == getattr(np, name)([100.0, 100.0, 2.0])
    assert_same(
        function(x, dtype="int8"),
        getattr(np, name)(np.array([100, 100, 2], np.int8), dtype=np.int8),
    )


@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_and_zeros(name, dtype):
    function = getattr(lw, name)
    assert np.isnan(function(lw.asarray([1, np.nan, 2], dtype=dtype)).item())
    zeros = function(lw.asarray([0.0, -0.0, 0.0], dtype=dtype)).item()
    assert np.signbit(zeros) == (name == "min")


@pytest.mark.parametrize("axis", [None, 0, 1, (0, 1)])
@pytest.mark.parametrize("name", NAMES)
def test_empty(name, axis):
    x, n = lw.zeros((0, 3)), np.zeros((0, 3))
    reduces_empty_axis = axis != 1
    if name in ("min", "max") and reduces_empty_axis:
        with pytest.raises(ValueError, match=f"{name}: axis 0 of \\(0, 3\\) is empty"):
            getattr(lw, name)(x, axis=axis)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = np.asarray(getattr(np, name)(n, axis=axis))
    assert_same(getattr(lw, name)(x, axis=axis), expected)


def test_no_axes():
    x = lw.asarray([[1, 2], [3, 4]], dtype=lw.int8)
    assert_same(lw.sum(x, axis=()), np.array([[1, 2], [3, 4]], np.int64))
    assert_same(lw.any(x, axis=()), np.ones((2, 2), bool))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", [1, 5, 64, 100, 1000, 1024, 1025, 3000, 70000])
def test_results_do_not_depend_on_layout(name, n, rng):
    values = rng.normal(size=(2, n)).astype(np.float32)
    plain = np.asarray(getattr(lw, name)(lw.asarray(values), axis=1))
    wide = {"sum": np.sum, "mean": np.mean}.get(name)
    if wide:
        scale = np.abs(values).sum(axis=1, dtype=np.float64) / (n if name == "mean" else 1)
        error = np.abs(plain - wide(values.astype(np.float64), axis=1))
        assert (error <= 1e-6 * scale).all()
    for layout in LAYOUTS:
        if layout == "broadcast":
            continue
        assert same_bits(np.asarray(getattr(lw, name)(lay_out(values, layout), axis=1)), plain)
    transposed = lw.asarray(np.ascontiguousarray(values.T))
    assert same_bits(np.asarray(getattr(lw, name)(transposed, axis=0)), plain)
    rows = [np.asarray(getattr(lw, name)(lw.asarray(row))) for row in values]
    assert same_bits(np.stack(rows), plain)


def test_fused_with_elementwise_work(rng):
    x = random_values("int32", (20, 30), rng)
    expected = (x.astype(np.int64) * 2 + 1).sum(axis=0)
    assert_same(lw.sum(lw.asarray(x).astype(lw.int64) * 2 + 1, axis=0), expected)
    centred = lw.asarray(x).astype(lw.float64)
    centred = centred - lw.mean(centred, axis=1, keepdims=True)
    assert np.abs(np.asarray(lw.sum(centred, axis=1))).max() < 1e-3
