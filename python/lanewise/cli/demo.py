"""Shows an expression, its kernel and machine code, and its time beside NumPy."""

import os
import re
import time
from collections.abc import Callable

import numpy as np

import lanewise as lw

NAME = "demo"
HELP = "an expression, its kernel, its speed"
EXAMPLES = """\
  lanewise demo"""

PROGRAM = """\
import lanewise as lw
lw.manual_seed(0)
X = lw.randn(10000, 2)
y = X[:, 0]**2 + X[:, 1]**3
print(y)
"""


def expression(x):
    return x[:, 0] ** 2 + x[:, 1] ** 3


def best_microseconds(functions: list[Callable[[], object]], seconds: float) -> list[float]:
    """Shortest time of each, taking turns so that a noisy machine is noisy for all."""
    best = [float("inf")] * len(functions)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, function in enumerate(functions):
            start = time.perf_counter()
            function()
            best[i] = min(best[i], time.perf_counter() - start)
    return [1e6 * value for value in best]


def first_call_milliseconds(x: lw.Array) -> float:
    """Tracing, compiling and running an expression that was not seen before."""
    start = time.perf_counter()
    lw.jit(lambda a: expression(a) - 1)(x)
    return 1e3 * (time.perf_counter() - start)


def heading(text: str) -> None:
    print(f"\n---- {text} {'-' * (75 - len(text))}")


def add_options(parser) -> None:
    pass


def command(options) -> None:
    os.environ["LANEWISE_CACHE_DIR"] = "0"  # the first call is shown with compiling
    print(PROGRAM)
    scope: dict = {}
    exec(PROGRAM, scope)
    x = scope["X"]
    function = lw.jit(expression)
    ndarray = np.asarray(x)
    np.testing.assert_allclose(np.asarray(function(x)), expression(ndarray), rtol=1e-5, atol=1e-6)

    heading("optimized")
    print(lw.dump(function, x))
    heading("machine code")
    assembly = lw.dump(function, x, stage="asm")
    loops = [line for line in assembly.splitlines() if re.search(r"\bv\w+\s.*%[xyz]mm", line)]
    print("\n".join(loops[:12]))
    print(f"... {len(loops)} vector instructions of {len(assembly.splitlines())} lines in all")
    heading("where")
    lw.show_config()
    heading("how fast")
    first = first_call_milliseconds(x)
    out = lw.empty(x.shape[0], dtype=x.dtype)
    times = best_microseconds(
        [lambda: expression(ndarray), lambda: function(x), lambda: function(x, out=out)], 1.0
    )
    print(f"NumPy                 {times[0]:8.1f} us")
    print(f"lanewise.jit          {times[1]:8.1f} us, {times[0] / times[1]:.0f} times faster")
    print(f"lanewise.jit, out=    {times[2]:8.1f} us, {times[0] / times[2]:.0f} times faster")
    print(f"first call            {first:8.1f} ms, with tracing and compiling")
