"""What a row of the benchmark is, and data for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

F32, F64 = np.float32, np.float64
Arrays = list[np.ndarray]


def default_numexpr_names(arrays: Arrays) -> dict:
    return dict(zip("abcd", arrays, strict=False))


@dataclass(frozen=True)
class Row:
    """One piece of work, written for every engine as its own documentation recommends.

    `function(xp, *arrays)` serves engines with an array namespace. `numpy`, `torch` and `lanewise`
    replace it where a library has one function for the work. `numexpr` is an expression over a, b,
    c, d. `numba` is the body of a function of a, b, c, d and out that fills `out`, with `prange`
    for the loop that may be split. What an engine has no text for, it does not do.
    """

    name: str
    group: str
    make: Callable[[np.random.Generator], Arrays]
    function: Callable | None = None
    numpy: Callable | None = None
    torch: Callable | None = None
    lanewise: Callable | None = None
    numexpr: str | None = None
    numexpr_names: Callable[[Arrays], dict] = default_numexpr_names
    numba: str | None = None
    numba_fastmath: bool = False  # reductions: without it LLVM may not reorder the sum
    ufunc: str | None = None  # NumPy's and torch's function with out= that does the whole row
    limit: str | None = None  # the loop of limits.cpp that bounds the row
    tolerance: float = 1e-6  # of engines against NumPy, relative to the larger of value and mean
    once: bool = False  # time the first call of a process that knows the engine, not the work
    # Work that is no function of arrays: for each engine (module, arrays) -> (call, times), where a
    # call does the work so many times.
    special: dict[str, Callable] = field(default_factory=dict)
    target: float | None = None  # seconds, where the row has a goal of its own
    threads: tuple[int, ...] = (1, 2)
    isas: tuple[str, ...] = ("host", "x86-64-v3")
    quick: bool = True  # also with --quick
    show_memory: bool = False

    def for_engine(self, kind: str) -> Callable:
        return getattr(self, kind) or self.function


def uniform(dtype, *shapes, low=0.01, high=2.0):
    def make(rng):
        return [rng.uniform(low, high, shape).astype(dtype) for shape in shapes]

    return make


def nothing(rng):
    return []


def elementwise(expression: str) -> str:
    """A Numba loop over one-dimensional a, b, c, d."""
    return f"for i in prange(out.shape[0]):\n    out[i] = {expression}"
