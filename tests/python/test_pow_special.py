"""pow's special values, at every position of a vector and in every layout.

The table is that of IEEE 754 and Annex F of C, with what follows from it near the ends.
"""

import lanewise as lw
import numpy as np
import pytest

from support import lay_out, same_bits

DTYPES = ["float32", "float64"]
LENGTHS = [*range(1, 34), 1000]
PLACES = ["contiguous", "step2", "reversed"]
INF, NAN = np.inf, np.nan


def table(dtype):
    """Rows x, y, x**y."""
    info = np.finfo(dtype)
    large, tiny, least = info.max, info.tiny, info.smallest_subnormal
    odd = 2.0 ** (info.nmant + 1) - 1  # the largest odd number
    return [
        # 1 whatever the other is
        *((x, y, 1) for x in (NAN, INF, -INF, 0.0, -0.0, 1, -1, large, least) for y in (0.0, -0.0)),
        *((1, y, 1) for y in (NAN, INF, -INF, large, -least, 0.5)),
        *((-1, y, 1) for y in (INF, -INF, large, -large, odd + 1)),
        (-1, odd, -1),
        (-1, -odd, -1),
        # zeros
        *((0.0, y, INF) for y in (-1, -2, -3, -0.5, -1.5, -large, -INF, -least)),
        *((-0.0, y, INF) for y in (-2, -4, -0.5, -1.5, -large, -INF, -odd - 1)),
        *((-0.0, y, -INF) for y in (-1, -3, -odd)),
        *((0.0, y, 0.0) for y in (1, 2, 3, 0.5, 1.5, large, INF, least)),
        *((-0.0, y, 0.0) for y in (2, 4, 0.5, 2.5, large, INF, odd + 1)),
        *((-0.0, y, -0.0) for y in (1, 3, odd)),
        # infinities
        *((INF, y, INF) for y in (1, 2, 0.5, 1.5, least, large, INF)),
        *((INF, y, 0.0) for y in (-1, -2, -0.5, -1.5, -least, -large, -INF)),
        *((-INF, y, INF) for y in (2, 4, 0.5, 1.5, 2.5, large, INF)),
        *((-INF, y, -INF) for y in (1, 3, 5, odd)),
        *((-INF, y, 0.0) for y in (-2, -4, -0.5, -1.5, -large, -INF)),
        *((-INF, y, -0.0) for y in (-1, -3, -odd)),
        *((x, INF, INF) for x in (2, -2, 1.5, -1.5, large, 1 + info.eps)),
        *((x, INF, 0.0) for x in (0.5, -0.5, tiny, least, 1 - info.epsneg)),
        *((x, -INF, 0.0) for x in (2, -2, 1.5, -1.5, large, 1 + info.eps)),
        *((x, -INF, INF) for x in (0.5, -0.5, tiny, least, 1 - info.epsneg)),
        # not a number
        *((NAN, y, NAN) for y in (1, 2, -1, 0.5, INF, NAN)),
        *((x, NAN, NAN) for x in (0.0, -0.0, 2, -1, INF, -INF)),
        *((x, y, NAN) for x in (-1, -2, -large, -least) for y in (0.5, -0.5, 1.5, -2.5, 0.1)),
        # out of range, and just not
        *((2, y, INF) for y in (info.maxexp, large, 1e6)),
        *((-2, y, INF) for y in (info.maxexp, large)),
        (-2, info.maxexp + 1, -INF),
        (2, info.maxexp - 1, 2.0 ** (info.maxexp - 1)),
        (2, info.minexp - info.nmant, least),
        (-2, info.minexp, tiny),
        (2, -large, 0.0),
        (-2, -2.0 * info.maxexp - 1, -0.0),
        (large, 2, INF),
        (-large, 3, -INF),
        (large, 1, large),
        (large, -large, 0.0),
        (least, 1, least),
        (-least, 1, -least),
        (least, 2, 0.0),
        (-least, 3, -0.0),
        (least, -3, INF),
        (-least, -3, -INF),
        (tiny, 0.5, 2.0 ** (info.minexp / 2)),
    ]


def columns(dtype):
    with np.errstate(over="ignore"):
        x, y, power = np.array(table(dtype), np.longdouble).T
        return x.astype(dtype), y.astype(dtype), power.astype(dtype)


def show_difference(x, y, result, expected):
    wrong = [i for i in range(len(x)) if not same_bits(result[i : i + 1], expected[i : i + 1])]
    return [f"{x[i]!r} ** {y[i]!r} = {result[i]!r}, not {expected[i]!r}" for i in wrong[:10]]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", PLACES)
def test_arrays_of_all_lengths(dtype, layout):
    x, y, power = columns(dtype)
    for length in LENGTHS:
        # So that each row is met at each position.
        for start in range(0, len(x), length) if length < 1000 else (0,):
            rows = np.arange(start, start + length) % len(x)
            result = np.asarray(lay_out(x[rows], layout) ** lay_out(y[rows], layout))
            assert not show_difference(x[rows], y[rows], result, power[rows]), length


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_without_axes(dtype):
    for x, y, power in zip(*columns(dtype), strict=True):
        result = np.asarray(lw.asarray(x) ** lw.asarray(y))
        assert result.shape == () and same_bits(result, power), (x, y, result, power)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("layout", PLACES)
def test_exponents_that_are_numbers(dtype, layout):
    x, y, power = columns(dtype)
    for exponent in np.unique(y):
        rows = np.flatnonzero((y == exponent) | (np.isnan(y) & np.isnan(exponent)))
        for length in (1, len(rows), 33, 1000):
            some = np.resize(rows, length)
            result = np.asarray(lay_out(x[some], layout) ** float(exponent))
            assert not show_difference(x[some], y[some], result, power[some])


@pytest.mark.parametrize("dtype", DTYPES)
def test_exponents_of_a_compiled_call(dtype):
    """A number that is an argument is no constant of the code, and has the same results."""
    x, y, power = columns(dtype)
    f = lw.jit(lambda x, c: x**c)
    for exponent in np.unique(y):
        rows = np.flatnonzero((y == exponent) | (np.isnan(y) & np.isnan(exponent)))
        result = np.asarray(f(x[rows], float(exponent)))
        assert not show_difference(x[rows], y[rows], result, power[rows])
