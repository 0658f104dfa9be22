"""Transcendental functions."""

import importlib

import numpy as np

from .row import F32, F64, Row, elementwise, uniform

N = 1_000_000


def erf_of(xp):
    if hasattr(xp, "erf"):
        return xp.erf
    module = "jax.scipy.special" if "jax" in xp.__name__ else "scipy.special"
    return importlib.import_module(module).erf


def black_scholes(xp, s, k, t, v):
    """Price of a European call: spot, strike, years, volatility; rate .03."""
    erf = erf_of(xp)
    root = v * xp.sqrt(t)
    d1 = (xp.log(s / k) + (0.03 + 0.5 * v * v) * t) / root
    d2 = d1 - root
    n1 = 0.5 + 0.5 * erf(d1 * 0.7071067811865476)
    n2 = 0.5 + 0.5 * erf(d2 * 0.7071067811865476)
    return s * n1 - k * xp.exp(-0.03 * t) * n2


def options(rng):
    return [rng.uniform(*limits, N) for limits in ((10, 100), (10, 100), (0.1, 2), (0.1, 0.6))]


BLACK_SCHOLES_NUMBA = """
for i in prange(out.shape[0]):
    root = d[i] * math.sqrt(c[i])
    d1 = (math.log(a[i] / b[i]) + (0.03 + 0.5 * d[i] * d[i]) * c[i]) / root
    n1 = 0.5 + 0.5 * math.erf(d1 * 0.7071067811865476)
    n2 = 0.5 + 0.5 * math.erf((d1 - root) * 0.7071067811865476)
    out[i] = a[i] * n1 - b[i] * math.exp(-0.03 * c[i]) * n2
"""


def short(dtype):
    return np.dtype(dtype).name.replace("float", "f")


def tolerance(dtype):
    return 1e-5 if dtype is F32 else 1e-12


def unary(name, dtype, low, high, group="math", **options):
    own = {"numexpr": f"{name}(a)", "numba": f"np.{name}(a[i])", "ufunc": name} | options
    own["numba"] = elementwise(own["numba"])
    return Row(
        f"{name}, 1e6 {short(dtype)}, {low} to {high}",
        group,
        uniform(dtype, N, low=low, high=high),
        own.pop("function", lambda xp, a: getattr(xp, name)(a)),
        tolerance=tolerance(dtype),
        **own,
    )


def erf(dtype):
    return unary(
        "erf",
        dtype,
        -3,
        3,
        function=lambda xp, a: erf_of(xp)(a),
        numexpr=None,
        numba="math.erf(a[i])",
        ufunc=None,
    )


def power(dtype):
    return Row(
        f"a**1.7, 1e6 {short(dtype)}",
        "math",
        uniform(dtype, N),
        lambda xp, a: a**1.7,
        numexpr="a**c",  # a literal would make it float64
        numexpr_names=lambda arrays: {"a": arrays[0], "c": dtype(1.7)},
        numba=elementwise(f"a[i] ** np.{np.dtype(dtype).name}(1.7)"),
        tolerance=tolerance(dtype),
    )


def waves(dtype):
    return Row(
        f"sin(a)**2 + cos(b)**2, 1e6 {short(dtype)}",
        "math",
        uniform(dtype, N, N, high=10),
        lambda xp, a, b: xp.sin(a) ** 2 + xp.cos(b) ** 2,
        numexpr="sin(a)**2 + cos(b)**2",
        numba=elementwise("math.sin(a[i]) ** 2 + math.cos(b[i]) ** 2"),
        tolerance=tolerance(dtype),
    )


# Functions of one argument with the interval they are measured on.
DOMAINS = {
    "exp2": (-10, 10),
    "expm1": (-2, 2),
    "log2": (0.01, 100),
    "log10": (0.01, 100),
    "log1p": (-0.5, 10),
    "sin": (-10, 10),
    "cos": (-10, 10),
    "tan": (-1.5, 1.5),
    "arcsin": (-1, 1),
    "arccos": (-1, 1),
    "arctan": (-10, 10),
    "sinh": (-5, 5),
    "cosh": (-5, 5),
    "arcsinh": (-10, 10),
    "arccosh": (1, 10),
    "arctanh": (-0.99, 0.99),
}
NOT_IN_NUMEXPR = {"exp2", "log2"}


def remaining(dtype):
    for name, (low, high) in DOMAINS.items():
        numexpr = None if name in NOT_IN_NUMEXPR else f"{name}(a)"
        yield unary(name, dtype, low, high, "functions", numexpr=numexpr, threads=(1,), quick=False)


ROWS = [
    unary("exp", F32, -10, 10),
    unary("log", F32, 0.01, 100),
    unary("tanh", F32, -5, 5),
    erf(F32),
    power(F32),
    waves(F32),
    unary("exp", F64, -10, 10),
    unary("log", F64, 0.01, 100),
    unary("tanh", F64, -5, 5),
    erf(F64),
    power(F64),
    waves(F64),
    Row(
        "Black-Scholes call, 1e6 f64",
        "math",
        options,
        black_scholes,
        numba=BLACK_SCHOLES_NUMBA,
        tolerance=1e-9,
        show_memory=True,
    ),
]

FUNCTIONS = [*remaining(F32), *remaining(F64)]
