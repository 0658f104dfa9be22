"""How many kernels an expression compiles to, and how large graphs may get."""

import re
import threading

import lanewise as lw
import numpy as np
import pytest
from lanewise import _core

from support import assert_same

# How loops merge, how operands move along the inner loop, streaming stores, long rows.
DOCUMENTED_VARIANTS = 4
LENGTHS = [0, 1, *range(2, 34), 63, 64, 65, 100, 127, 128, 1000, 1023, 4096, 10_000, 65_537]
LENGTHS += [100_000, 250_000, 999_999, 1_000_000, 1_300_001]


def compilations() -> int:
    return lw.cache_stats()["compilations"]


def expected(n: np.ndarray, c: float, d: float) -> np.ndarray:
    return np.float32(c) * (n[:, 0] * n[:, 0]) + np.float32(d)


@pytest.mark.parametrize("way", ["lazy", "jit"])
def test_sizes_and_numbers_do_not_compile(way):
    assert len(LENGTHS) >= 48
    lengths = (LENGTHS + [3, 5])[:50]
    numbers = [(0.1 + 0.37 * i, 1.7 - 0.21 * i) for i in range(50)]

    def function(x, c, d):
        return c * x[:, 0] ** 2 + d

    run = lw.jit(function) if way == "jit" else function
    values = np.arange(2 * max(lengths), dtype=np.float32).reshape(-1, 2) % 97
    before = compilations()
    for n, (c, d) in zip(lengths, numbers, strict=True):
        assert_same(run(lw.asarray(values[:n]), c, d), expected(values[:n], c, d))
    assert compilations() - before <= DOCUMENTED_VARIANTS
    few = lw.asarray(values[:10])
    between = compilations()
    for c, d in numbers:
        assert_same(run(few, c, d), expected(values[:10], c, d))
    assert compilations() == between


def test_numbers_that_algebra_knows_give_the_same_values():
    x = lw.asarray(np.arange(10, dtype=np.float32).reshape(5, 2))
    for c in (0, 1, -1, 2, 0.5):
        for d in (0, 1, -1, 2, 0.5):
            assert_same(c * x[:, 0] ** 2 + d, expected(np.asarray(x), c, d))


def test_compiled_code_calls_nothing_outside():
    for row in _core.op_table():
        dtype = row["computes_in"][-1]
        arrays = [lw.asarray(np.ones(100, dtype)) for _ in range(row["arity"])]
        text = lw.dump(getattr(lw, row["name"])(*arrays), stage="asm")
        assert "vmov" in text
        labels = set(re.findall(r"^([\w.$]+):", text, re.MULTILINE))
        for target in re.findall(r"\bcallq?\s+(\S+)", text):
            assert target.split("@")[0] in labels, (row["name"], target)


# ---- size of graphs ------------------------------------------------------------------------------
def in_small_stack(work):
    """The result of work() in a thread with a stack of 256 KiB."""
    results = []
    before = threading.stack_size(256 << 10)
    try:
        thread = threading.Thread(target=lambda: results.append(work()))
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    assert results, "the thread failed"
    return results[0]


def test_chain_of_adds():
    def work():
        x = lw.asarray([1.0, 2.0, 3.0])
        y = x
        for _ in range(50_000):
            y = y + x
        return np.asarray(y).tolist()

    assert in_small_stack(work) == [50_001, 100_002, 150_003]


def test_chain_of_adds_that_nobody_evaluates():
    def work():
        y = lw.ones(3)
        for _ in range(50_000):
            y = y + 1
        del y
        return True

    assert in_small_stack(work)


def test_chain_of_adds_in_a_trace():
    @lw.jit
    def chain(x):
        y = x
        for _ in range(50_000):
            y = y + x
        return y

    assert in_small_stack(lambda: chain(np.array([1.0, 2.0])).tolist()) == [50_001, 100_002]


def test_balanced_tree_of_numbers():
    def work():
        level = [lw.full(2, i * 0.5) for i in range(1 << 16)]
        while len(level) > 1:
            level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
        return np.asarray(level[0]).tolist()

    n = 1 << 16
    assert in_small_stack(work) == [n * (n - 1) / 4] * 2


def test_balanced_tree_of_arrays():
    def work():
        level = [lw.asarray([float(i), 1.0]) for i in range(1 << 16)]
        while len(level) > 1:
            level = [a + b for a, b in zip(level[::2], level[1::2], strict=True)]
        return np.asarray(level[0]).tolist()

    n = 1 << 16
    assert in_small_stack(work) == [n * (n - 1) / 2, n]
