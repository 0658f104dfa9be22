"""Reductions, scans, and kernels over rows."""

import numpy as np

from ..host import last_level_cache
from .row import F32, F64, Row, uniform

# Several times the last-level cache, so that memory is what is measured.
LARGE = 4 * last_level_cache() // 4


def torch_cumulative(xp, a):
    return xp.cumsum(a, 0)


def softmax(xp, x):
    e = xp.exp(x - xp.amax(x, -1, keepdims=True))
    return e / xp.sum(e, -1, keepdims=True)


def layer_norm(xp, x):
    centred = x - xp.mean(x, -1, keepdims=True)
    return centred / xp.sqrt(xp.mean(centred * centred, -1, keepdims=True) + 1e-5)


SOFTMAX_NUMBA = """
for i in prange(a.shape[0]):
    top = a[i, 0]
    for j in range(a.shape[1]):
        top = max(top, a[i, j])
    total = np.float32(0)
    for j in range(a.shape[1]):
        out[i, j] = math.exp(a[i, j] - top)
        total += out[i, j]
    for j in range(a.shape[1]):
        out[i, j] /= total
"""

LAYER_NORM_NUMBA = """
for i in prange(a.shape[0]):
    mean = np.float32(0)
    for j in range(a.shape[1]):
        mean += a[i, j]
    mean /= np.float32(a.shape[1])
    square = np.float32(0)
    for j in range(a.shape[1]):
        square += (a[i, j] - mean) ** 2
    scale = np.float32(1) / math.sqrt(square / np.float32(a.shape[1]) + np.float32(1e-5))
    for j in range(a.shape[1]):
        out[i, j] = (a[i, j] - mean) * scale
"""


def softmax_row(rows, width):
    return Row(
        f"softmax, ({rows}, {width}) f32",
        "rows",
        uniform(F32, (rows, width), low=-4, high=4),
        softmax,
        torch=lambda xp, x: xp.softmax(x, -1),
        numba=SOFTMAX_NUMBA,
        numba_fastmath=True,
        tolerance=1e-4,
    )


def layer_norm_row(rows, width):
    return Row(
        f"layer norm, ({rows}, {width}) f32",
        "rows",
        uniform(F32, (rows, width), low=-4, high=4),
        layer_norm,
        torch=lambda xp, x: xp.nn.functional.layer_norm(x, x.shape[-1:]),
        numba=LAYER_NORM_NUMBA,
        numba_fastmath=True,
        tolerance=1e-3,
    )


def total(expression):
    return f"""
total = a.dtype.type(0)
for i in prange(a.shape[0]):
    total += {expression}
out[()] = total
"""


def full(name, dtype, n, function, expression, **options):
    limit = "read_f32" if dtype is F32 else "read_f64"
    return Row(
        name,
        "reductions",
        uniform(dtype, n),
        function,
        numba=total(expression).replace("a.dtype.type", f"np.{np.dtype(dtype).name}"),
        numba_fastmath=True,
        limit=limit,
        tolerance=1e-4 if dtype is F32 else 1e-9,
        **options,
    )


SUM_AXIS_0_NUMBA = """
for j in range(out.shape[0]):
    out[j] = 0
for i in range(a.shape[0]):
    for j in range(out.shape[0]):
        out[j] += a[i, j]
"""

SUM_AXIS_1_NUMBA = """
for i in prange(out.shape[0]):
    for k in range(out.shape[1]):
        out[i, k] = 0
    for j in range(a.shape[1]):
        for k in range(out.shape[1]):
            out[i, k] += a[i, j, k]
"""

ARGMAX_NUMBA = """
for i in prange(out.shape[0]):
    best = 0
    for j in range(a.shape[1]):
        if a[i, j] > a[i, best]:
            best = j
    out[i] = best
"""

CUMULATIVE_NUMBA = """
total = a[0] * 0
for i in range(out.shape[0]):
    total += a[i]
    out[i] = total
"""

ANY_NUMBA = """
found = False
for i in range(a.shape[0]):
    if a[i] > b[0]:
        found = True
        break
out[()] = found
"""


def early(rng):
    return [rng.uniform(0, 2, 10_000_000).astype(F32), np.full(1, 1.9, F32)]


def statistics(xp, a):
    return xp.mean(a) + xp.min(a) + xp.max(a) + xp.sum(a * a)


REDUCTIONS = [
    full("sum, 1e7 f32", F32, 10_000_000, lambda xp, a: xp.sum(a), "a[i]", numexpr="sum(a)"),
    full(
        "sum, 4 last-level caches, f32",
        F32,
        LARGE,
        lambda xp, a: xp.sum(a),
        "a[i]",
        numexpr="sum(a)",
    ),
    full(
        "sum(x*x), 1e7 f64",
        F64,
        10_000_000,
        lambda xp, a: xp.sum(a * a),
        "a[i] * a[i]",
        numexpr="sum(a*a)",
    ),
    Row(
        "sum over axis 0, (10000, 1000) f32",
        "reductions",
        uniform(F32, (10_000, 1000)),
        lambda xp, a: xp.sum(a, 0),
        numexpr="sum(a, axis=0)",
        numba=SUM_AXIS_0_NUMBA,
        limit="read_f32",
        tolerance=1e-4,
    ),
    Row(
        "sum over axis 1, (200, 300, 400) f32",
        "reductions",
        uniform(F32, (200, 300, 400)),
        lambda xp, a: xp.sum(a, 1),
        numexpr="sum(a, axis=1)",
        numba=SUM_AXIS_1_NUMBA,
        limit="read_f32",
        tolerance=1e-4,
    ),
    Row(
        "var over rows, (4096, 1024) f32",
        "reductions",
        uniform(F32, (4096, 1024)),
        lambda xp, a: xp.var(a, -1),
        torch=lambda xp, a: xp.var(a, -1, correction=0),
        limit="read_f32",
        tolerance=1e-3,
    ),
    Row(
        "mean, min, max and sum of squares of one array, 1e7 f32",
        "reductions",
        uniform(F32, 10_000_000),
        statistics,
        limit="read_f32",
        tolerance=1e-3,
    ),
    Row(
        "argmax over rows, (4096, 1024) f32",
        "reductions",
        uniform(F32, (4096, 1024)),
        lambda xp, a: xp.argmax(a, -1),
        numba=ARGMAX_NUMBA,
        limit="read_f32",
    ),
    Row(
        "cumulative sum, 1e7 f32",
        "reductions",
        uniform(F32, 10_000_000),
        lambda xp, a: xp.cumulative_sum(a),
        torch=torch_cumulative,
        numba=CUMULATIVE_NUMBA,
        tolerance=1e-2,
    ),
    Row(
        "any(x > 1.9) that can stop early, 1e7 f32",
        "reductions",
        early,
        lambda xp, a, b: xp.any(a > b),
        numba=ANY_NUMBA,
    ),
]

ROW_KERNELS = [
    softmax_row(4096, 1024),
    layer_norm_row(4096, 1024),
    softmax_row(100_000, 7),
    layer_norm_row(100_000, 7),
    softmax_row(40, 100_000),
    layer_norm_row(40, 100_000),
]
