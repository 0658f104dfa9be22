"""Guards of what a call costs besides its work: instructions, page faults, memory."""

import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import lanewise as lw
import numpy as np
import pytest
from counted_calls import CALLS, KINDS

# Instructions of one call, of four elements, Python's own included: what Python 3.11 took,
# and a quarter more, since they move with Python and the compiler.
MOST_INSTRUCTIONS = {
    "call_arrays": 5_800,
    "call_out": 6_500,
    "call_ndarrays": 5_900,
    "record": 5_700,
    "evaluate": 26_500,
}
# Of the soak test; a million is the full one.
CALLS_OF_ALL = int(os.environ.get("LANEWISE_TEST_CALLS", "200000"))


@pytest.fixture(scope="module")
def instructions(tmp_path_factory):
    """Of a call of each kind."""
    if shutil.which("valgrind") is None:
        pytest.skip("valgrind counts instructions, and there is none")
    out = tmp_path_factory.mktemp("callgrind") / "out"
    script = Path(__file__).with_name("counted_calls.py")
    tool = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    done = subprocess.run(
        [*tool, sys.executable, str(script)],
        env={**os.environ, "LANEWISE_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    counts = {}
    for number, kind in enumerate(KINDS, start=1):
        text = out.with_name(f"out.{number}").read_text()
        counts[kind] = int(re.search(r"^totals: (\d+)", text, re.MULTILINE)[1]) / CALLS
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_instructions_of_a_call(kind, instructions):
    assert 500 < instructions[kind] <= MOST_INSTRUCTIONS[kind]


def page_faults() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def jitted(a, b):
    f = lw.jit(lambda a, b: lw.exp(a) * b + a)
    return lambda: f(a, b)


def recorded(a, b):
    return lambda: lw.eval(lw.exp(a) * b + a)


def reduced(a, b):
    return lambda: float(lw.sum(a * b))


def written(a, b):
    def call():
        nonlocal a
        a *= 0.5
        a += b
        lw.eval(a)

    return call


@pytest.mark.parametrize("make", [jitted, recorded, reduced, written])
def test_no_page_faults_once_warm(make):
    """Results of 16 MiB, which the allocator of C gives back to the system every time."""
    call = make(lw.ones(2**21), lw.ones(2**21))
    for _ in range(5):
        call()
    before = page_faults()
    for _ in range(20):
        call()
    assert page_faults() - before < 20  # a result's memory alone has 4096 pages


def different_function(i: int):
    """Number i of functions of two arrays, no two of which have the same kernel."""
    ops = [lw.add, lw.subtract, lw.multiply, lw.maximum, lw.minimum]

    def function(a, b):
        x, rest = a, i
        for _ in range(4):
            x = ops[rest % len(ops)](x, b if rest % 2 else a + b)
            rest //= 3
        return x + i % 7 * b if i % 3 else lw.sum(x)

    return lw.jit(function)


def test_calls_take_no_memory():
    functions = [different_function(i) for i in range(100)]
    own = [(lw.ones(n), lw.ones(n)) for n in (1, 7, 100, 1000)]
    foreign = [(np.ones(n), np.ones(n)) for n in (1, 7, 100, 1000)]
    outs = [lw.empty(n) for n in (1, 7, 100, 1000)]

    def calls(rounds):
        for i in range(rounds):
            for k, function in enumerate(functions):
                size = (i + k) % 4
                if k % 3 == 0:
                    function(*foreign[size])
                elif k % 3 == 1 and k % 2:
                    function(*own[size])
                elif k % 3 == 1:
                    function(*own[size], out=outs[size])
                else:
                    lw.eval(function(*own[size]) * 2)

    calls(500)
    before, in_use = resident_bytes(), lw.memory_stats()["in_use"]
    calls(CALLS_OF_ALL // len(functions))
    assert resident_bytes() - before < 2**20
    assert lw.memory_stats()["in_use"] == in_use
