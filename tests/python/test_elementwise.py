"""Every function of the op table against NumPy, for every dtype and layout."""

import itertools
import math

import lanewise as lw
import numpy as np
import pytest
import reference
from lanewise import _core

from support import (
    DTYPES,
    LAYOUTS,
    assert_same,
    lay_out,
    random_values,
    same_bits,
    special_values,
    ulp_distance,
)

TABLE = _core.op_table()
ROWS = {row["name"]: row for row in TABLE}


def compute_dtype(row: dict, dtype: str) -> str | None:
    """The dtype in which an op computes for arguments of a dtype; None if it takes no such."""
    if row["promotion"] == "logical":
        return "bool"
    if row["promotion"] == "inexact" and np.dtype(dtype).kind != "f":
        is_small = np.dtype(dtype).itemsize <= 2 and row["name"] != "divide"
        return "float32" if is_small else "float64"
    if row["keeps_integers"]:
        return dtype
    return dtype if dtype in row["computes_in"] else None


def arguments_for(arity: int, dtype: str, rng) -> list[np.ndarray]:
    """All pairs of special values (some triples), and random ones."""
    special = special_values(dtype)
    if arity == 1:
        grids = [special]
    elif arity == 2:
        grids = [x.ravel() for x in np.meshgrid(special, special)]
    else:
        grids = [rng.choice(special, 2000) for _ in range(arity)]
    return [np.concatenate([x, random_values(dtype, 500, rng)]).astype(dtype) for x in grids]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ROWS)
def test_against_reference(name, dtype, rng):
    row = ROWS[name]
    arguments = arguments_for(row["arity"], dtype, rng)
    function = getattr(lw, name)
    computed = compute_dtype(row, dtype)
    if computed is None:
        with pytest.raises(lw.errors.DTypeError, match=f"{name}: not defined for {dtype}"):
            function(*map(lw.asarray, arguments))
        return
    if name == "pow" and np.dtype(dtype).kind == "i":
        arguments[1] = np.abs(np.maximum(arguments[1], -arguments[1].dtype.type(3)))
        arguments[1][arguments[1] < 0] = 0
    result = np.asarray(function(*map(lw.asarray, arguments)))
    expected = reference.compute(row, [x.astype(computed) for x in arguments])
    assert result.dtype == ("bool" if row["gives_bool"] else computed)
    if name == "logaddexp":  # near its zero the bound is absolute: ops.def states it
        bound = {"float32": 2.0**-28, "float64": 2.0**-57}[computed]
        with np.errstate(invalid="ignore"):
            near_zero = np.abs(result - expected) <= bound
        result, expected = result[~near_zero], expected[~near_zero]
    if result.dtype.kind == "f" and row["max_ulp"] > 0.5:
        assert ulp_distance(result, expected) <= math.ceil(row["max_ulp"])
    else:
        assert same_bits(result, np.asarray(expected, result.dtype))


@pytest.mark.parametrize("name", ROWS)
def test_results_do_not_depend_on_layout(name, rng):
    row = ROWS[name]
    function = getattr(lw, name)
    for dtype in row["computes_in"][-1:] + row["computes_in"][:1]:
        values = [random_values(dtype, (3, 41), rng) for _ in range(row["arity"])]
        if name == "pow" and np.dtype(dtype).kind in "iu":
            values[1] = values[1] & 7
        plain = np.asarray(function(*map(lw.asarray, values)))
        for layout in LAYOUTS:
            if layout == "broadcast":
                continue
            mixed = [
                lay_out(x, layout if i == 0 else LAYOUTS[(i * 3) % 9]) for i, x in enumerate(values)
            ]
            assert same_bits(np.asarray(function(*mixed)), plain), layout
            assert same_bits(np.asarray(function(*[lay_out(x, layout) for x in values])), plain)


@pytest.mark.parametrize("name", [name for name in ROWS if ROWS[name]["arity"] == 2])
def test_broadcasting(name, rng):
    row = ROWS[name]
    dtype = row["computes_in"][-1]
    column = random_values(dtype, (5, 1), rng)
    line = random_values(dtype, (7,), rng)
    if name == "pow" and np.dtype(dtype).kind in "iu":
        line &= 3
    function = getattr(lw, name)
    full = [np.ascontiguousarray(x) for x in np.broadcast_arrays(column, line)]
    assert same_bits(
        np.asarray(function(lw.asarray(column), lw.asarray(line))),
        np.asarray(function(*map(lw.asarray, full))),
    )


@pytest.mark.parametrize("name", ROWS)
def test_names(name):
    function = getattr(lw, name)
    for other in ROWS[name]["names"]:
        assert getattr(lw, other) is function
    assert function.__name__ == name
    if name != "clip":  # whose bounds are optional in Python
        assert ROWS[name]["doc"] in function.__doc__


@pytest.mark.parametrize("length", [0, 1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 130])
def test_lengths(length, rng):
    x = random_values("float32", length, rng)
    y = random_values("float32", length, rng)
    whole = np.asarray(lw.asarray(np.resize(x, 200)) * 3 + lw.asarray(np.resize(y, 200)))
    assert_same(lw.asarray(x) * 3 + lw.asarray(y), whole[:length])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "exponent",
    [
        0,
        1,
        2,
        3,
        4,
        5,
        7,
        10,
        16,
        31,
        -1,
        -2,
        -3,
        -10,
        0.5,
        -0.5,
        1.5,
        2.5,
        -1.5,
        1 / 3,
        1.1,
        -0.7,
        100,
        0.0,
        2.0,
        True,
        math.inf,
        -math.inf,
        math.nan,
    ],
)
def test_power_by_a_number(exponent, dtype, rng):
    values = np.concatenate([special_values(dtype), random_values(dtype, 500, rng)])
    result = np.asarray(lw.asarray(values) ** exponent)
    assert result.dtype == dtype
    wide = reference.WIDER[np.dtype(dtype)]
    cast = np.dtype(dtype).type(exponent).astype(wide)
    expected = np.power(values.astype(wide), np.full(values.shape, cast)).astype(dtype)
    assert ulp_distance(result, expected) <= 1
    zero = expected == 0
    assert np.array_equal(np.signbit(result[zero]), np.signbit(expected[zero]))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if np.dtype(d).kind in "iu"])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 8, 31, 64])
def test_integer_power_wraps(exponent, dtype):
    values = special_values(dtype)
    bits = 8 * values.itemsize
    exact = [pow(int(v), exponent, 2**bits) for v in values]
    expected = np.array(exact, np.uint64).astype(f"uint{bits}").view(dtype)
    assert_same(lw.asarray(values) ** exponent, expected)
    assert_same(lw.pow(lw.asarray(values), lw.full(values.shape, exponent, dtype=dtype)), expected)


@pytest.mark.parametrize(("source", "target"), list(itertools.product(DTYPES, DTYPES)))
def test_astype(source, target, rng):
    values = np.concatenate([special_values(source), random_values(source, 200, rng)])
    result = np.asarray(lw.astype(lw.asarray(values), target))
    kind = np.dtype(target).kind
    if values.dtype.kind == "f" and kind in "iu":
        limits = np.iinfo(target)
        expected = np.array(
            [
                0
                if math.isnan(v)
                else limits.max
                if v >= limits.max
                else limits.min
                if v <= limits.min
                else int(v)
                for v in values.tolist()
            ],
            target,
        )
    else:
        expected = values.astype(target)
    assert same_bits(result, expected)


def test_where(rng):
    condition = rng.random(50) < 0.5
    x, y = random_values("float64", 50, rng), random_values("float64", 50, rng)
    arrays = [lw.asarray(v) for v in (condition, x, y)]
    assert_same(lw.where(*arrays), np.where(condition, x, y))
    assert_same(lw.where(arrays[1], arrays[2], 0), np.where(x, y, 0))
    assert_same(
        lw.where(arrays[0], 1, lw.asarray(np.float32(2))),
        np.where(condition, np.float32(1), np.float32(2)),
    )
    assert lw.where(lw.asarray(True), 1, 2.5).item() == 1.0


def test_clip_bounds_are_optional():
    x = lw.asarray([-1.0, 0.5, 2.0])
    assert lw.clip(x).tolist() == [-1, 0.5, 2]
    assert lw.clip(x, 0).tolist() == [0, 0.5, 2]
    assert lw.clip(x, max=1).tolist() == [-1, 0.5, 1]
    assert lw.clip(x, min=lw.asarray([1, 1, 1]), max=3).tolist() == [1, 1, 2]


def test_functions_of_numbers():
    assert lw.sqrt(4).item() == 2.0
    assert lw.add(1, 2).dtype == "int64"
    assert lw.add(1, 2.5).item() == 3.5
    assert lw.logical_not(0).item() is True


def test_chained_comparisons_of_int64_and_uint64():
    signed = lw.asarray([-1, 5, 2**62], dtype=lw.int64)
    unsigned = lw.asarray([2**64 - 1, 5, 2**63], dtype=lw.uint64)
    assert (signed < unsigned).tolist() == [True, False, True]
    assert (unsigned == signed).tolist() == [False, True, False]
    assert (unsigned > signed).tolist() == [True, False, True]
    assert (signed >= 2**70 - 2**70).tolist() == [False, True, True]
