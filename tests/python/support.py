"""What several tests share: dtypes, layouts, comparisons."""

import lanewise as lw
import numpy as np

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
REALS = INTEGERS + FLOATS
DTYPES = ["bool"] + REALS

# Ways to lie in memory: name -> function from a C-ordered array to a view with the same shape whose
# elements are then filled with the same values.
LAYOUTS = [
    "contiguous",
    "offset",
    "step2",
    "step3",
    "step7",
    "reversed",
    "step-2",
    "step-3",
    "transposed",
    "columns",
    "broadcast",
]


def special_values(dtype: str) -> np.ndarray:
    """Values where ops go wrong: extremes, zeros, NaN, infinities, subnormal numbers."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return np.array([False, True])
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        values = {0, 1, 2, 3, 5, 7, 31, 32, 63, 64, 100, limits.max, limits.max - 1, limits.min}
        if kind.kind == "i":
            values |= {-1, -2, -3, -7, -100, limits.min + 1}
        return np.array(sorted(v for v in values if limits.min <= v <= limits.max), kind)
    info = np.finfo(kind)
    positive = [0.0, 1.0, 0.5, 2.0, 3.0, 0.1, 1.5, 2.5, 10.0, 100.5, 1e4, np.pi]
    positive += [info.max, info.tiny, info.smallest_subnormal, info.eps, np.inf, 1 + info.eps]
    return np.array(positive + [-v for v in positive] + [np.nan], kind)


def random_values(dtype: str, shape, rng: np.random.Generator) -> np.ndarray:
    """Half special, half random ones of moderate size."""
    special = rng.choice(special_values(dtype), shape)
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return special
    if kind.kind == "f":
        plain = rng.normal(scale=3, size=shape).astype(kind)
    else:
        plain = rng.integers(0 if kind.kind == "u" else -20, 20, shape).astype(kind)
    return np.where(rng.random(shape) < 0.5, special, plain).astype(kind)


def lay_out(values: np.ndarray, layout: str) -> lw.Array:
    """An array of these values that lies in memory as `layout` says."""
    n = values.shape[-1] if values.ndim else 0
    if layout == "contiguous" or values.ndim == 0:
        return lw.asarray(values)
    if layout == "offset":
        base = lw.zeros(values.size + 3, dtype=values.dtype)
        view = base[3:].reshape(values.shape)
    elif layout.startswith("step"):
        step = int(layout[4:])
        base = lw.zeros((*values.shape[:-1], n * abs(step) + 1), dtype=values.dtype)
        view = base[..., : n * abs(step) : abs(step)]
        if step < 0:
            view = view[..., ::-1]
    elif layout == "reversed":
        view = lw.flip(lw.zeros(values.shape, dtype=values.dtype))
    elif layout == "transposed":
        view = lw.zeros(values.shape[::-1], dtype=values.dtype).T
    elif layout == "columns":
        view = lw.zeros((*values.shape, 2), dtype=values.dtype)[..., 1]
    else:
        raise AssertionError(layout)
    view[...] = values
    assert view.shape == values.shape
    return view


def ordered(values: np.ndarray) -> np.ndarray:
    """Floating-point numbers as integers that count them from 0 in order."""
    bits = values.view({4: np.int32, 8: np.int64}[values.itemsize]).astype(object)
    return np.where(
        values.view(np.int32 if values.itemsize == 4 else np.int64) < 0,
        -(bits & (2 ** (8 * values.itemsize - 1) - 1)),
        bits,
    )


def ulp_distance(a: np.ndarray, b: np.ndarray) -> int:
    """Largest number of floating-point numbers from an element to the other's; NaN equals NaN."""
    assert a.dtype == b.dtype and a.shape == b.shape
    nan = np.isnan(a)
    assert np.array_equal(nan, np.isnan(b)), (a, b)
    a, b = np.where(nan, 0, a).astype(a.dtype), np.where(nan, 0, b).astype(b.dtype)
    distance = np.abs(ordered(np.atleast_1d(a)) - ordered(np.atleast_1d(b)))
    return int(distance.max(initial=0))


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal to the last bit, signs of zero included; any NaN equals any."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    nan = np.isnan(a)
    unsigned = {4: np.uint32, 8: np.uint64}[a.itemsize]
    bits = [np.ascontiguousarray(x).view(unsigned) for x in (a, b)]
    return np.array_equal(nan, np.isnan(b)) and np.array_equal(bits[0][~nan], bits[1][~nan])


def assert_same(result: lw.Array, expected: np.ndarray) -> None:
    """Dtype, shape and bits."""
    assert isinstance(result, lw.Array)
    expected = np.asarray(expected)
    assert result.dtype == expected.dtype, (result.dtype, expected.dtype)
    assert result.shape == expected.shape, (result.shape, expected.shape)
    assert same_bits(np.asarray(result), expected), (np.asarray(result), expected)
