"""What is paid besides the work: compiling, recording, importing, calling.

Rows of `special` work are small programs of one engine each; see Row.
"""

import os
import subprocess
import sys

from .elementwise import seed
from .row import F32, F64, Row, nothing, uniform


def chain(count):
    """An expression of `count` ops that cannot be simplified."""

    def function(xp, a, b):
        x = a
        for i in range(count):
            x = x * a if i % 2 else x - b
        return x

    return function


def chain_numba(count):
    lines = (["x = x - b[i]", "x = x * a[i]"][k % 2] for k in range(count))
    body = "".join(f"    {line}\n" for line in lines)
    return f"for i in prange(out.shape[0]):\n    x = a[i]\n{body}    out[i] = x"


def chain_numexpr(count):
    text = "a"
    for i in range(count):
        text = f"({text} {'* a' if i % 2 else '- b'})"
    return text


def compile_row(count, target):
    return Row(
        f"first call, {count} ops",
        "first call",
        uniform(F64, 1000, 1000, low=0.99, high=1.01),
        chain(count),
        numexpr=chain_numexpr(count) if count <= 100 else None,
        numba=chain_numba(count),
        once=True,
        target=target,
        tolerance=1e-6,
        threads=(1,),
        quick=count <= 100,
    )


FIRST_CALLS = [
    Row(
        "first call, X[:,0]**2 + X[:,1]**3, (1e4, 2) f32",
        "first call",
        seed(10_000),
        lambda xp, x: x[:, 0] ** 2 + x[:, 1] ** 3,
        numexpr="a**2 + b**3",
        numexpr_names=lambda arrays: {"a": arrays[0][:, 0], "b": arrays[0][:, 1]},
        numba="for i in prange(out.shape[0]):\n    out[i] = a[i, 0] ** 2 + a[i, 1] ** 3",
        once=True,
        target=6e-3,
        tolerance=1e-5,
        threads=(1,),
    ),
    compile_row(10, 4e-3),
    compile_row(100, 15e-3),
    compile_row(1000, 150e-3),
    compile_row(10_000, 2.0),
]


def record(lw, arrays):
    x = lw.asarray(arrays[0])

    def call():
        for _ in range(100):
            x * 2.0

    return call, 100


def lazy(lw, arrays):
    x, y = map(lw.asarray, arrays)

    def call():
        for _ in range(10):
            lw.eval((x * 2.0 + y) - 1.0)

    return call, 10


def told_time(code, **environment):
    """Work whose time a fresh interpreter measures and prints."""

    def call():
        done = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )
        return float(done.stdout)

    return call, 1


def import_time(module):
    """Time of importing a module after NumPy."""
    code = (
        "import time, numpy\n"
        "start = time.perf_counter()\n"
        f"import {module}\n"
        "print(time.perf_counter() - start)"
    )
    return lambda _, arrays: told_time(code)


def first_result(_, arrays):
    """Trace, find the kernel on the disk and run it. The first process puts it there."""
    code = (
        "import time, numpy, lanewise as lw\n"
        "x = lw.asarray(numpy.ones((10000, 2), 'float32'))\n"
        "start = time.perf_counter()\n"
        "lw.jit(lambda x: x[:, 0] ** 2 + x[:, 1] ** 3)(x)\n"
        "print(time.perf_counter() - start)"
    )
    folder = os.path.join(os.environ["LANEWISE_BENCH_FOLDER"], "kernels")
    call, times = told_time(code, LANEWISE_CACHE_DIR=folder)
    call()
    return call, times


IMPORTED = {
    "lanewise": "lanewise",
    "numexpr": "numexpr",
    "Numba": "numba",
    "torch": "torch",
    "JAX": "jax",
}

RECORDING = [
    Row(
        "record x * 2.0",
        "recording",
        uniform(F32, 8),
        special={"lanewise": record},
        target=0.25e-6,
        threads=(1,),
    ),
    Row(
        "record and evaluate x * 2.0 + y - 1.0, n = 8",
        "recording",
        uniform(F32, 8, 8),
        special={"lanewise": lazy},
        target=3e-6 + 3 * 0.25e-6,
        threads=(1,),
    ),
    Row(
        "first call of a process, X[:,0]**2 + X[:,1]**3, kernel on disk",
        "recording",
        nothing,
        special={"lanewise": first_result},
        target=1.5e-3,
        threads=(1,),
    ),
    Row(
        "import, beyond NumPy's",
        "recording",
        nothing,
        special={engine: import_time(module) for engine, module in IMPORTED.items()},
        target=60e-3,
        threads=(1,),
    ),
]
