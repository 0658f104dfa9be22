"""The machine that is measured."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def cpu_model() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def cpu_flags() -> set[str]:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split(":", 1)[1].split())
    return set()


def last_level_cache() -> int:
    """Bytes; 32 MiB where the system does not tell."""
    largest = (0, 32 << 20)
    for index in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        level = int((index / "level").read_text())
        kib = int((index / "size").read_text().strip().rstrip("K"))
        largest = max(largest, (level, kib << 10))
    return largest[1]


def cores() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def facts() -> dict:
    return {
        "cpu": cpu_model(),
        "cores": len(cores()),
        "avx512": "avx512f" in cpu_flags(),
        "last_level_cache": last_level_cache(),
        "python": platform.python_version(),
        "system": platform.system() + " " + platform.release(),
    }
