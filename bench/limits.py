"""Builds limits.cpp and runs its loops on given arrays."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import tempfile
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


def variants(name, arrays, threads):
    """Calls of all variants of loop `name`, split over threads."""
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
    spans = []
    for t, end in enumerate(ends):
        first = part * t
        addresses = [
            inputs[0].ctypes.data + first * item * ratio,
            inputs[-1].ctypes.data + first * item * ratio,
            out.ctypes.data + first * item,
        ]
        spans.append((*addresses, end - first))
    kept = (*inputs, out)  # as long as the calls

    def run(loop):
        if threads == 1:
            a, b, c, n = spans[0]
            return lambda kept=kept: loop(a, b, c, n)
        pool = ThreadPoolExecutor(threads)
        return lambda kept=kept: list(pool.map(lambda span: loop(*span), spans))

    return [run(loop) for loop in loops]
