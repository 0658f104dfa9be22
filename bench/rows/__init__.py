"""The rows of the benchmark, a module for each kind of work."""

from . import elementwise, latency, math, reductions, strided
from .row import Row

ROWS: list[Row] = [
    *elementwise.ROWS,
    *elementwise.OVERHEAD,
    *strided.ROWS,
    *math.ROWS,
    *reductions.ROW_KERNELS,
    *reductions.REDUCTIONS,
    *latency.FIRST_CALLS,
    *latency.RECORDING,
    *math.FUNCTIONS,
]
BY_NAME = {row.name: row for row in ROWS}
assert len(BY_NAME) == len(ROWS), "two rows of one name"
