"""Processes that measure: `python -m bench.worker ENGINE SOCKET`.

Loads the engine once and forks for every connection to the socket, so that each row has a process
of its own without paying for the import each time. A connection carries requests (name, arguments)
and replies ("done", value) or ("failed", text); see `Session`.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection, Listener
from pathlib import Path

import numpy as np

from .engines import ENGINES, Engine, Unsupported
from .rows import BY_NAME, Row

SEED = 20240607
BATCH_SECONDS = 50e-6  # short calls are timed together, so that the clock costs nothing
SAMPLE = 1_000_000


def sample(values: np.ndarray) -> np.ndarray:
    """All elements of a small array; of a large one the first and last and some between."""
    flat = values.ravel()
    if flat.size <= SAMPLE:
        return flat
    step = flat.size // SAMPLE * 2 + 1
    return np.concatenate([flat[:1000], flat[::step], flat[-1000:]])


def resident(field: str) -> int:
    """Bytes that /proc/self/status tells for VmRSS (now) or VmHWM (the most since the reset)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) << 10
    return 0


class Session:
    """One engine on one row."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self.before = resident("VmRSS")

    def prepare(self, row_name: str, threads: int, cpus: list[int], shape, dtype) -> str:
        """The first call of the row; gives the engine's version."""
        self.pin(cpus)
        self.row: Row = BY_NAME[row_name]
        self.count, self.says_time = 1, False
        arrays = self.row.make(np.random.default_rng(SEED))
        if self.row.special:
            if self.engine.name not in self.row.special:
                raise Unsupported
            work = self.row.special[self.engine.name]
            call, self.count = work(self.engine.load(), arrays)
            self.calls = [call]
            self.result = call()
            self.says_time = isinstance(self.result, float)
        else:
            self.out = np.empty(shape, dtype)
            made = self.engine.prepare(self.row, arrays, self.out, threads)
            self.calls = made if isinstance(made, list) else [made]
            self.result = self.calls[0]()
        return self.engine.version()

    def first_call(self, row_name: str, cpus: list[int], shape, dtype) -> float:
        """Seconds of the first call of a row once the engine has compiled something else."""
        self.pin(cpus)
        row: Row = BY_NAME[row_name]
        warm = BY_NAME["2*a + 3*b, n = 1 f32"]
        own = warm.make(np.random.default_rng(SEED))
        self.engine.prepare(warm, own, np.empty(1, np.float32), 1)()
        arrays = row.make(np.random.default_rng(SEED))
        self.out = np.empty(shape, dtype)
        start = time.perf_counter()
        self.result = self.engine.prepare(row, arrays, self.out, 1)()
        return time.perf_counter() - start

    def pin(self, cpus: list[int]) -> None:
        for thread in os.listdir("/proc/self/task"):
            os.sched_setaffinity(int(thread), cpus)

    def values(self) -> tuple[tuple[int, ...], np.ndarray]:
        values = np.asarray(self.out if self.result is None else self.result)
        return values.shape, sample(values)

    def run(self, seconds: float) -> list[float]:
        """Times of calls, the first left out: the caches were another engine's before."""
        times = []
        for call in self.calls:
            start = time.perf_counter()
            call()
            once = time.perf_counter() - start
            batch = max(1, int(BATCH_SECONDS / max(once, 1e-7)))
            end = time.perf_counter() + seconds / len(self.calls)
            times.append(self.time_batch(call, batch))
            while time.perf_counter() < end:
                times.append(self.time_batch(call, batch))
        return times

    def time_batch(self, call, batch: int) -> float:
        start = time.perf_counter()
        for _ in range(batch):
            self.result = call()
        took = (time.perf_counter() - start) / batch / self.count
        return self.result if self.says_time else took

    def memory(self) -> int:
        """Most bytes resident during a call, beyond those before there were arrays."""
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self.result = None
        self.result = self.calls[0]()
        return resident("VmHWM") - self.before


def end_with_parent() -> None:
    """However the parent ends. A fork does not inherit this."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def serve(connection: Connection, engine: Engine) -> None:
    gc.disable()
    connection.send(("done", os.getpid()))
    with np.errstate(all="ignore"):
        session = Session(engine)
        while True:
            try:
                name, arguments = connection.recv()
            except EOFError:
                return
            try:
                reply = ("done", getattr(session, name)(*arguments))
            except Unsupported:
                reply = ("unsupported", "")
            except Exception as error:
                traceback.print_exc()
                lines = str(error).strip().splitlines() or [""]
                reply = ("failed", f"{type(error).__name__}: {lines[0][:160]}")
            connection.send(reply)


def main() -> None:
    end_with_parent()
    engine = ENGINES[sys.argv[1]]
    engine.start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its workers itself
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    with Listener(sys.argv[2], "AF_UNIX") as listener:
        print("ready", flush=True)
        while True:
            connection = listener.accept()
            if os.fork() == 0:
                end_with_parent()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                listener.close()
                serve(connection, engine)
                os._exit(0)
            connection.close()


if __name__ == "__main__":
    main()
