"""Arithmetic: the example of the README, and expressions that other engines use to show off."""

import numpy as np

from .row import F32, F64, Row, elementwise, uniform


def seed(rows):
    return lambda rng: [rng.standard_normal((rows, 2), dtype=np.float32)]


def seed_row(label, rows, **options):
    return Row(
        f"X[:,0]**2 + X[:,1]**3, ({label}, 2) f32",
        "elementwise",
        seed(rows),
        lambda xp, x: x[:, 0] ** 2 + x[:, 1] ** 3,
        numexpr="a**2 + b**3",
        numexpr_names=lambda arrays: {"a": arrays[0][:, 0], "b": arrays[0][:, 1]},
        numba=elementwise("a[i, 0] ** 2 + a[i, 1] ** 3"),
        limit="seed_f32",
        tolerance=1e-5,
        **options,
    )


def axpby(label, n, dtype=F64, group="elementwise", **options):
    return Row(
        f"2*a + 3*b, {label} {'f64' if dtype is F64 else 'f32'}",
        group,
        uniform(dtype, n, n),
        lambda xp, a, b: 2 * a + 3 * b,
        numexpr="2*a + 3*b",
        numexpr_names=lambda arrays: {"a": arrays[0], "b": arrays[1]},
        numba=elementwise("2 * a[i] + 3 * b[i]"),
        **options,
    )


def state_equation(xp, s, t, p):
    """Density of sea water, EOS-80 (UNESCO 1983): salinity, temperature (deg C), pressure (bar)."""
    root = xp.sqrt(s)
    rw = 999.842594 + t * (
        6.793952e-2 + t * (-9.09529e-3 + t * (1.001685e-4 + t * (-1.120083e-6 + t * 6.536332e-9)))
    )
    r0 = rw + s * (
        0.824493
        + t * (-4.0899e-3 + t * (7.6438e-5 + t * (-8.2467e-7 + t * 5.3875e-9)))
        + root * (-5.72466e-3 + t * (1.0227e-4 - t * 1.6546e-6))
        + s * 4.8314e-4
    )
    kw = 19652.21 + t * (148.4206 + t * (-2.327105 + t * (1.360477e-2 - t * 5.155288e-5)))
    k = kw + s * (
        54.6746
        + t * (-0.603459 + t * (1.09987e-2 - t * 6.1670e-5))
        + root * (7.944e-2 + t * (1.6483e-2 - t * 5.3009e-4))
    )
    k = k + p * (
        3.239908
        + t * (1.43713e-3 + t * (1.16092e-4 - t * 5.77905e-7))
        + s * (2.2838e-3 - t * (1.0981e-5 + t * 1.6078e-6) + root * 1.91075e-4)
    )
    k = k + p * p * (
        8.50935e-5
        + t * (-6.12293e-6 + t * 5.2787e-8)
        + s * (-9.9348e-7 + t * (2.0816e-8 + t * 9.1697e-10))
    )
    return r0 / (1.0 - p / k)


def sea_water(rng):
    n = 1_000_000
    return [rng.uniform(30, 40, n), rng.uniform(0, 30, n), rng.uniform(0, 500, n)]


ROWS = [
    seed_row("1e4", 10_000),
    seed_row("1e7", 10_000_000, show_memory=True),
    axpby("1e6", 1_000_000, limit="axpby_f64"),
    axpby("1e7", 10_000_000, limit="axpby_f64", show_memory=True),
    Row(
        "a*b - 4.1*a > 2.5*b, 1e6 f64",
        "elementwise",
        uniform(F64, 1_000_000, 1_000_000),
        lambda xp, a, b: a * b - 4.1 * a > 2.5 * b,
        numexpr="a*b - 4.1*a > 2.5*b",
        numba=elementwise("a[i] * b[i] - 4.1 * a[i] > 2.5 * b[i]"),
    ),
    Row(
        "2*a + b**10, 1e6 f64",
        "elementwise",
        uniform(F64, 1_000_000, 1_000_000),
        lambda xp, a, b: 2 * a + b**10,
        numexpr="2*a + b**10",
        numba=elementwise("2 * a[i] + b[i] ** 10"),
        limit="axpby_f64",
    ),
    Row(
        "sea-water equation of state, 1e6 f64",
        "elementwise",
        sea_water,
        state_equation,
        numba=elementwise("f(np, a[i], b[i], c[i])"),
        show_memory=True,
    ),
    Row(
        "x**4, 2e6 f32",
        "elementwise",
        uniform(F32, 2_000_000),
        lambda xp, a: a**4,
        numexpr="a**4",
        numba=elementwise("a[i] ** 4"),
        tolerance=1e-5,
    ),
]

OVERHEAD = [
    axpby(f"n = {n}", n, F32, "overhead", threads=(1,) if n < 10_000 else (1, 2))
    for n in (1, 10, 100, 1000, 10_000, 100_000)
]
