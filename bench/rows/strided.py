"""Layouts: steps, reversals, transposes, broadcasting."""

from .row import F32, F64, Row, elementwise, uniform

N = 1_000_000


def step(k):
    return Row(
        f"x[::{k}] + 1, 1e6 of {k}e6 f32",
        "layouts",
        uniform(F32, k * N),
        lambda xp, a: a[::k] + 1,
        numexpr="a + 1",
        numexpr_names=lambda arrays: {"a": arrays[0][::k]},
        numba=elementwise(f"a[{k} * i] + np.float32(1)"),
    )


def outer_loops(expression):
    return (
        "for i in prange(out.shape[0]):\n"
        "    for j in range(out.shape[1]):\n"
        f"        out[i, j] = {expression}"
    )


def broadcast(name, shapes, function, numexpr, numba):
    return Row(
        name,
        "layouts",
        uniform(F64, *shapes),
        function,
        numexpr=numexpr,
        numba=outer_loops(numba),
    )


ROWS = [
    Row(
        "x[::2]**4, 2e6 f32",
        "layouts",
        uniform(F32, 2 * N),
        lambda xp, a: a[::2] ** 4,
        numexpr="a**4",
        numexpr_names=lambda arrays: {"a": arrays[0][::2]},
        numba=elementwise("a[2 * i] ** 4"),
        tolerance=1e-5,
    ),
    Row(
        "x + 1, 1e6 f32",
        "layouts",
        uniform(F32, N),
        lambda xp, a: a + 1,
        numexpr="a + 1",
        numba=elementwise("a[i] + np.float32(1)"),
    ),
    step(2),
    step(3),
    step(4),
    Row(
        "x[::-1] + 1, 1e6 f32",
        "layouts",
        uniform(F32, N),
        lambda xp, a: xp.flip(a, (0,)) + 1,
        numpy=lambda xp, a: a[::-1] + 1,
        numexpr="a + 1",
        numexpr_names=lambda arrays: {"a": arrays[0][::-1]},
        lanewise=lambda xp, a: a[::-1] + 1,
        numba=elementwise("a[a.shape[0] - 1 - i] + np.float32(1)"),
    ),
    Row(
        "a + b.T, (4096, 4096) f32",
        "layouts",
        uniform(F32, (4096, 4096), (4096, 4096)),
        lambda xp, a, b: a + b.T,
        numexpr="a + b",
        numexpr_names=lambda arrays: {"a": arrays[0], "b": arrays[1].T},
        numba=outer_loops("a[i, j] + b[j, i]"),
    ),
    broadcast(
        "a + row, (4000, 1000) and (1000,) f64",
        [(4000, 1000), (1000,)],
        lambda xp, a, b: a + b,
        "a + b",
        "a[i, j] + b[j]",
    ),
    broadcast(
        "a + column, (4000, 1000) and (4000, 1) f64",
        [(4000, 1000), (4000, 1)],
        lambda xp, a, b: a + b,
        "a + b",
        "a[i, j] + b[i, 0]",
    ),
    broadcast(
        "(a - b)**2 + a*b, (4000, 1) and (1, 1000) f64",
        [(4000, 1), (1, 1000)],
        lambda xp, a, b: (a - b) ** 2 + a * b,
        "(a - b)**2 + a*b",
        "(a[i, 0] - b[0, j]) ** 2 + a[i, 0] * b[0, j]",
    ),
    broadcast(
        "a + 1, rows of 5, (200000, 5) of (200000, 6) f64",
        [(200_000, 6)],
        lambda xp, a: a[:, :5] + 1,
        None,
        "a[i, j] + 1",
    ),
]
