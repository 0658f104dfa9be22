"""Builds limits.cpp and picks the best variant of a loop for given arrays."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

VARIANTS = 4
ALIGNMENT = 64


def library():
    """The compiled loops, built on first use and kept for later processes."""
    source = Path(__file__).with_name("limits.cpp")
    march = os.environ.get("LANEWISE_BENCH_MARCH", "native")
    folder = os.environ.get("LANEWISE_BENCH_FOLDER", tempfile.gettempdir())
    target = Path(folder) / f"limits-{march}.so"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        compiler = os.environ.get("CXX", "c++")
        scratch = target.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [
                compiler,
                "-std=c++20",
                "-O3",
                f"-march={march}",
                "-shared",
                "-fPIC",
                str(source),
                "-o",
                str(scratch),
            ],
            check=True,
        )
        scratch.rename(target)
    return ctypes.CDLL(str(target))


def huge(count, dtype):
    """An array of huge pages where the system gives them, touched once."""
    size = max(count * np.dtype(dtype).itemsize, mmap.PAGESIZE)
    memory = mmap.mmap(-1, size + (2 << 20), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    array = np.frombuffer(memory, dtype=np.uint8)
    start = -array.ctypes.data % (2 << 20)
    result = array[start : start + size].view(dtype)[:count]
    result[:] = 0
    return result


def best(name, arrays, threads):
    """A call that runs the fastest variant of loop `name`, split over threads."""
    loops = [getattr(library(), f"{name}_{i}") for i in range(VARIANTS)]
    for loop in loops:
        loop.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_size_t]
        loop.restype = None
    inputs = [huge(a.size, a.dtype) for a in arrays]
    for copy, array in zip(inputs, arrays, strict=True):
        copy[:] = array.ravel()
    ratio = 2 if name.startswith("seed") else 1
    count = inputs[0].size // ratio
    out = huge(count, inputs[0].dtype)
    item = inputs[0].itemsize
    part = count // threads // ALIGNMENT * ALIGNMENT
    ends = [part * (t + 1) for t in range(threads - 1)] + [count]
    pool = ThreadPoolExecutor(threads) if threads > 1 else None

    def run(loop):
        def span(t):
            first = part * t
            offset = first * item
            loop(
                inputs[0].ctypes.data + offset * ratio,
                inputs[-1].ctypes.data + offset * ratio,
                out.ctypes.data + offset,
                ends[t] - first,
            )

        if pool is None:
            return lambda: span(0)
        return lambda: list(pool.map(span, range(threads)))

    def seconds(call):
        call()
        times = []
        for _ in range(5):
            start = time.perf_counter()
            call()
            times.append(time.perf_counter() - start)
        return min(times)

    return min((run(loop) for loop in loops), key=seconds)
