"""The rows of the benchmark: one piece of work each, written for every engine as its own
documentation recommends.

`function(xp, *arrays)` serves engines with an array namespace (NumPy, torch, JAX, lanewise);
`numexpr` is its expression over `names`; `numba` is the body of a loop nest that fills `out`, with
`prange` for the loop that may be split. `limit` names the tuned loop of limits.cpp that bounds it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Row:
    name: str
    group: str
    make: Callable[[np.random.Generator], list[np.ndarray]]
    function: Callable
    names: str = "a b c d"
    numexpr: str | None = None
    numba: str | None = None
    limit: str | None = None
    tolerance: float = 1e-6  # relative, against NumPy in the row's own dtype
    tags: frozenset = field(default_factory=frozenset)

    def argument_names(self, count: int) -> list[str]:
        return self.names.split()[:count]


def uniform(dtype, *shapes, low=0.01, high=2.0):
    def make(rng):
        return [rng.uniform(low, high, shape).astype(dtype) for shape in shapes]

    return make


def seed(rows):
    def make(rng):
        x = rng.standard_normal((rows, 2), dtype=np.float32)
        return [x]

    return make


def seed_function(xp, x):
    return x[:, 0] ** 2 + x[:, 1] ** 3


SEED_NUMBA = """
for i in prange(a.shape[0]):
    out[i] = a[i, 0] ** 2 + a[i, 1] ** 3
"""


def elementwise(expression):
    """A Numba loop over one-dimensional a, b, c, d."""
    return f"""
for i in prange(out.shape[0]):
    out[i] = {expression}
"""


def state_equation(xp, s, t, p):
    """Density of sea water, EOS-80 (UNESCO 1983): salinity, temperature (deg C), pressure."""
    sr = xp.sqrt(s)
    rw = 999.842594 + t * (6.793952e-2 + t * (-9.09529e-3 + t * (
        1.001685e-4 + t * (-1.120083e-6 + t * 6.536332e-9))))
    r0 = rw + s * (0.824493 + t * (-4.0899e-3 + t * (7.6438e-5 + t * (
        -8.2467e-7 + t * 5.3875e-9))) + sr * (-5.72466e-3 + t * (1.0227e-4 - t * 1.6546e-6))
        + s * 4.8314e-4)
    kw = 19652.21 + t * (148.4206 + t * (-2.327105 + t * (1.360477e-2 - t * 5.155288e-5)))
    k = kw + s * (54.6746 + t * (-0.603459 + t * (1.09987e-2 - t * 6.1670e-5))
                  + sr * (7.944e-2 + t * (1.6483e-2 - t * 5.3009e-4)))
    k = k + p * (3.239908 + t * (1.43713e-3 + t * (1.16092e-4 - t * 5.77905e-7))
                 + s * (2.2838e-3 - t * (1.0981e-5 + t * 1.6078e-6) + sr * 1.91075e-4))
    k = k + p * p * (8.50935e-5 + t * (-6.12293e-6 + t * 5.2787e-8)
                     + s * (-9.9348e-7 + t * (2.0816e-8 + t * 9.1697e-10)))
    return r0 / (1.0 - p / k)


def sea_water(rng):
    n = 1_000_000
    return [rng.uniform(30, 40, n), rng.uniform(0, 30, n), rng.uniform(0, 500, n)]


STATE_NUMBA = """
for i in prange(out.shape[0]):
    out[i] = f(np, a[i], b[i], c[i])
"""


def erf_of(xp):
    if hasattr(xp, "erf"):
        return xp.erf
    if hasattr(xp, "special"):
        return xp.special.erf
    import importlib

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
    n = 1_000_000
    return [rng.uniform(10, 100, n), rng.uniform(10, 100, n), rng.uniform(0.1, 2, n),
            rng.uniform(0.1, 0.6, n)]


BLACK_SCHOLES_NUMBA = """
for i in prange(out.shape[0]):
    root = d[i] * math.sqrt(c[i])
    d1 = (math.log(a[i] / b[i]) + (0.03 + 0.5 * d[i] * d[i]) * c[i]) / root
    n1 = 0.5 + 0.5 * math.erf(d1 * 0.7071067811865476)
    n2 = 0.5 + 0.5 * math.erf((d1 - root) * 0.7071067811865476)
    out[i] = a[i] * n1 - b[i] * math.exp(-0.03 * c[i]) * n2
"""


def softmax(xp, x):
    e = xp.exp(x - xp.amax(x, -1, keepdims=True))
    return e / xp.sum(e, -1, keepdims=True)


def layer_norm(xp, x):
    m = xp.mean(x, -1, keepdims=True)
    d = x - m
    v = xp.mean(d * d, -1, keepdims=True)
    return d / xp.sqrt(v + 1e-5)


def unary(name, dtype, low, high, numexpr=None, numba=None):
    short = np.dtype(dtype).name.replace("float", "f")
    return Row(f"{name}(a), 1e6 {short}, {low} to {high}", "math",
               uniform(dtype, 1_000_000, low=low, high=high),
               lambda xp, a: getattr(xp, name)(a),
               numexpr=numexpr or f"{name}(a)", numba=elementwise(numba or f"math.{name}(a[i])"),
               tolerance=1e-5 if dtype == np.float32 else 1e-12)


F32, F64 = np.float32, np.float64

ROWS = [
    Row("X[:,0]**2 + X[:,1]**3, (1e4, 2) f32", "seed", seed(10_000), seed_function,
        names="x", numexpr=None, numba=SEED_NUMBA, limit="seed_f32", tolerance=1e-4),
    Row("X[:,0]**2 + X[:,1]**3, (1e7, 2) f32", "seed", seed(10_000_000), seed_function,
        names="x", numba=SEED_NUMBA, limit="seed_f32", tolerance=1e-4),
    Row("2*a + 3*b, 1e6 f64", "elementwise", uniform(F64, 1_000_000, 1_000_000),
        lambda xp, a, b: 2 * a + 3 * b, numexpr="2*a + 3*b",
        numba=elementwise("2 * a[i] + 3 * b[i]"), limit="axpby_f64"),
    Row("2*a + 3*b, 1e7 f64", "elementwise", uniform(F64, 10_000_000, 10_000_000),
        lambda xp, a, b: 2 * a + 3 * b, numexpr="2*a + 3*b",
        numba=elementwise("2 * a[i] + 3 * b[i]"), limit="axpby_f64"),
    Row("a*b - 4.1*a > 2.5*b, 1e6 f64", "elementwise", uniform(F64, 1_000_000, 1_000_000),
        lambda xp, a, b: a * b - 4.1 * a > 2.5 * b, numexpr="a*b - 4.1*a > 2.5*b",
        numba=elementwise("a[i] * b[i] - 4.1 * a[i] > 2.5 * b[i]")),
    Row("2*a + b**10, 1e6 f64", "elementwise", uniform(F64, 1_000_000, 1_000_000),
        lambda xp, a, b: 2 * a + b**10, numexpr="2*a + b**10",
        numba=elementwise("2 * a[i] + b[i] ** 10"), limit="axpby_f64"),
    Row("sea-water equation of state, 1e6 f64", "elementwise", sea_water, state_equation,
        numba=STATE_NUMBA),
    Row("(a - b)**2 + a*b, (4000,1) and (1,1000) f64", "elementwise",
        uniform(F64, (4000, 1), (1, 1000)), lambda xp, a, b: (a - b) ** 2 + a * b,
        numexpr="(a - b)**2 + a*b", numba="""
for i in prange(a.shape[0]):
    for j in range(b.shape[1]):
        out[i, j] = (a[i, 0] - b[0, j]) ** 2 + a[i, 0] * b[0, j]
"""),
    *[Row(f"2*a + 3*b, n = {n} f32", "overhead", uniform(F32, n, n),
          lambda xp, a, b: 2 * a + 3 * b, numexpr="2*a + 3*b",
          numba=elementwise("2 * a[i] + 3 * b[i]")) for n in (1, 1000, 10_000)],
    Row("x**4, 2e6 f32", "strided", uniform(F32, 2_000_000), lambda xp, a: a**4,
        numexpr="a**4", numba=elementwise("a[i] ** 4"), tolerance=1e-5),
    Row("x[::2]**4, 2e6 f32", "strided", uniform(F32, 2_000_000), lambda xp, a: a[::2] ** 4,
        numba=elementwise("a[2 * i] ** 4"), tolerance=1e-5),
    Row("x[::-1] + 1, 1e6 f32", "strided", uniform(F32, 1_000_000),
        lambda xp, a: xp.flip(a, (0,)) + 1, numba=elementwise("a[a.shape[0] - 1 - i] + 1")),
    Row("a + b.T, (4096, 4096) f32", "strided", uniform(F32, (4096, 4096), (4096, 4096)),
        lambda xp, a, b: a + b.T, numba="""
for i in prange(a.shape[0]):
    for j in range(a.shape[1]):
        out[i, j] = a[i, j] + b[j, i]
"""),
    unary("exp", F32, -10, 10), unary("tanh", F32, -5, 5), unary("log", F32, 0.01, 100),
    Row("a**1.7, 1e6 f32", "math", uniform(F32, 1_000_000), lambda xp, a: a**1.7,
        numexpr="a**1.7", numba=elementwise("a[i] ** np.float32(1.7)"), tolerance=1e-5),
    Row("sin(a)**2 + cos(b)**2, 1e6 f32", "math", uniform(F32, 1_000_000, 1_000_000, high=10),
        lambda xp, a, b: xp.sin(a) ** 2 + xp.cos(b) ** 2, numexpr="sin(a)**2 + cos(b)**2",
        numba=elementwise("math.sin(a[i]) ** 2 + math.cos(b[i]) ** 2"), tolerance=1e-5),
    unary("exp", F64, -10, 10), unary("log", F64, 0.01, 100),
    Row("a**1.7, 1e6 f64", "math", uniform(F64, 1_000_000), lambda xp, a: a**1.7,
        numexpr="a**1.7", numba=elementwise("a[i] ** 1.7"), tolerance=1e-12),
    Row("sin(a)**2 + cos(b)**2, 1e6 f64", "math", uniform(F64, 1_000_000, 1_000_000, high=10),
        lambda xp, a, b: xp.sin(a) ** 2 + xp.cos(b) ** 2, numexpr="sin(a)**2 + cos(b)**2",
        numba=elementwise("math.sin(a[i]) ** 2 + math.cos(b[i]) ** 2"), tolerance=1e-12),
    Row("erf(a), 1e6 f64", "math", uniform(F64, 1_000_000, low=-3, high=3),
        lambda xp, a: erf_of(xp)(a), numba=elementwise("math.erf(a[i])"), tolerance=1e-12),
    Row("Black-Scholes call, 1e6 f64", "math", options, black_scholes,
        numba=BLACK_SCHOLES_NUMBA, tolerance=1e-9),
    Row("softmax, (4096, 1024) f32", "rows", uniform(F32, (4096, 1024), low=-4, high=4), softmax,
        tolerance=1e-4),
    Row("layer norm, (4096, 1024) f32", "rows", uniform(F32, (4096, 1024), low=-4, high=4),
        layer_norm, tolerance=1e-3),
    Row("sum, 1e7 f32", "reductions", uniform(F32, 10_000_000), lambda xp, a: xp.sum(a),
        numexpr="sum(a)", limit="read_f32", tolerance=1e-4),
    Row("sum(x*x), 1e7 f64", "reductions", uniform(F64, 10_000_000), lambda xp, a: xp.sum(a * a),
        numexpr="sum(a*a)", limit="read_f64"),
    Row("sum over axis 0, (10000, 1000) f32", "reductions", uniform(F32, (10_000, 1000)),
        lambda xp, a: xp.sum(a, 0), numexpr="sum(a, axis=0)", limit="read_f32", tolerance=1e-4),
    Row("sum over axis 1, (200, 300, 400) f32", "reductions", uniform(F32, (200, 300, 400)),
        lambda xp, a: xp.sum(a, 1), numexpr="sum(a, axis=1)", limit="read_f32", tolerance=1e-4),
]
