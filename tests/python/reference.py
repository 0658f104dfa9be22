"""What elementwise functions must give, from NumPy in higher precision and from exact numbers."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np

# Precision beyond that of a dtype, to round from.
WIDER = {np.dtype("float32"): np.dtype("float64"), np.dtype("float64"): np.dtype("longdouble")}


def _minimum(x1, x2):
    result = np.where(x1 < x2, x1, x2)
    if x1.dtype.kind == "f":
        zeros = (x1 == 0) & (x2 == 0)
        result = np.where(zeros, np.where(np.signbit(x1), x1, x2), result)
        result = np.where(np.isnan(x1) | np.isnan(x2), np.nan, result)
    return result.astype(x1.dtype)


def _maximum(x1, x2):
    if x1.dtype.kind == "f":
        return -_minimum(-x1, -x2)
    return np.where(x1 > x2, x1, x2)


def _shift_left(x1, x2):
    bits = 8 * x1.itemsize
    inside = (x2 >= 0) & (x2 < bits)
    return np.where(inside, np.left_shift(x1, np.where(inside, x2, 0)), 0).astype(x1.dtype)


def _shift_right(x1, x2):
    bits = 8 * x1.itemsize
    inside = (x2 >= 0) & (x2 < bits)
    return np.right_shift(x1, np.where(inside, x2, bits - 1)) * np.where(
        inside | (x1 < 0), 1, 0
    ).astype(x1.dtype)


def _floor_divide(x1, x2):
    result = np.floor_divide(x1, x2)
    if x1.dtype.kind != "f":
        return result
    sign = np.copysign(1, x1) * np.copysign(1, x2)
    result = np.where(np.isinf(x1) & np.isfinite(x2), sign * np.inf, result)
    result = np.where(np.isfinite(x1) & np.isinf(x2), sign * 0.0, result)
    return result.astype(x1.dtype)


def _by_mpmath(function: Callable) -> Callable:
    def call(x):
        def one(value):
            if math.isnan(value):
                return math.nan
            with mpmath.workprec(200):
                return float(function(mpmath.mpf(float(value))))

        return np.array([one(v) for v in x.ravel()]).reshape(x.shape)

    return call


def _fma(x1, x2, x3):
    """In float64, exact before the one rounding."""

    def one(a, b, c):
        a, b, c = float(a), float(b), float(c)
        if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
            # A finite product must not overflow before an infinity is added.
            return c if math.isfinite(a) and math.isfinite(b) else a * b + c
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact == 0:
            return a * b + c
        try:
            return float(exact)
        except OverflowError:
            return math.inf if exact > 0 else -math.inf

    return np.array([one(*v) for v in zip(x1.flat, x2.flat, x3.flat, strict=True)]).reshape(
        x1.shape
    )


def _clip(x, low, high):
    return _minimum(_maximum(x, low), high)


def _expit(x):
    # In pieces, so that neither exp overflows to spoil the other.
    small = np.exp(-np.abs(x))
    return np.where(x < 0, small, x.dtype.type(1)) / (1 + small)


# Exact in the dtype itself: nothing to round.
EXACT: dict[str, Callable] = {
    "bitwise_left_shift": _shift_left,
    "bitwise_right_shift": _shift_right,
    "clip": _clip,
    "floor_divide": _floor_divide,
    "maximum": _maximum,
    "minimum": _minimum,
}
# In the wider precision.
WIDE: dict[str, Callable] = {
    "erf": _by_mpmath(mpmath.erf),
    # 0 or 2 beyond; mpmath cannot count that far.
    "erfc": _by_mpmath(lambda x: mpmath.erfc(max(min(x, 100), -100))),
    "expit": _expit,
    "reciprocal": lambda x: 1 / x,
}
NUMPY_NAMES = {"abs": "absolute", "pow": "power"}
# Functions of the array API whose results NumPy finds exactly.
PLAIN = set(
    [
        "abs",
        "add",
        "subtract",
        "multiply",
        "divide",
        "negative",
        "sqrt",
        "square",
        "floor",
        "ceil",
        "trunc",
        "round",
        "sign",
        "signbit",
        "copysign",
        "nextafter",
        "isnan",
        "isinf",
        "isfinite",
        "remainder",
        "fmod",
    ]
)


def compute(row: dict, arguments: list[np.ndarray]) -> np.ndarray:
    """The rounded exact result for arguments of the dtype that the op computes in."""
    name, dtype = row["name"], arguments[0].dtype
    if name == "fma":
        return _fma(*arguments).astype(dtype)
    if name in EXACT:
        return EXACT[name](*arguments)
    function = WIDE.get(name) or getattr(np, NUMPY_NAMES.get(name, name))
    if dtype.kind != "f" or row["gives_bool"] or (name in PLAIN and name != "reciprocal"):
        return function(*arguments)
    wide = [x.astype(WIDER[dtype]) for x in arguments]
    return function(*wide).astype(dtype)
