"""Starting workers and talking to them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from multiprocessing.connection import Client
from pathlib import Path


class Failed(Exception):
    """What an engine could not do, in words."""


class Skipped(Exception):
    """The engine is not meant for the row."""


def worker_environment(isa: str, threads: int, folder: Path) -> dict:
    """Each engine at its best on this instruction set, or held to AVX2."""
    # What torch.compile has made is found again in later runs, from any copy of this tree.
    cache = Path(tempfile.gettempdir()) / f"lanewise-bench-{os.getuid()}"
    environment = {
        **os.environ,
        "NUMEXPR_NUM_THREADS": str(threads),
        "NUMEXPR_MAX_THREADS": str(max(threads, 8)),
        "TORCHINDUCTOR_CACHE_DIR": str(cache / f"inductor-{isa}"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "LANEWISE_BENCH_FOLDER": str(folder),
        "LANEWISE_CACHE_DIR": "0",  # compiled anew in every process
    }
    # Set on some hosts against faults of OpenBLAS; NumPy's own choice is the faster one.
    environment.pop("OPENBLAS_CORETYPE", None)
    if isa == "x86-64-v3":
        environment |= {
            "LANEWISE_TARGET": isa,
            "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
            "ATEN_CPU_CAPABILITY": "avx2",
            "NUMBA_CPU_NAME": isa,
            "NUMBA_CPU_FEATURES": "",
            "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
            "LANEWISE_BENCH_MARCH": isa,
        }
    return environment


def plain(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)


class Worker:
    """A process with one engine on one row."""

    def __init__(self, address: str):
        try:
            self.connection = Client(address, "AF_UNIX")
            self.pid = self.ask("hello", timeout=10, send=False)
        except (OSError, EOFError) as error:
            raise Failed(f"no worker: {error}") from None

    def ask(self, name: str, *arguments, timeout: float, send: bool = True):
        try:
            if send:
                self.connection.send((name, arguments))
            if not self.connection.poll(timeout):
                self.close()
                raise Failed(f"{name}: over {timeout:.0f} s")
            state, value = self.connection.recv()
        except (EOFError, OSError):
            self.close()
            raise Failed(f"{name}: the process died") from None
        if state == "unsupported":
            raise Skipped
        if state == "failed":
            raise Failed(value)
        return value

    def close(self) -> None:
        self.connection.close()
        with contextlib.suppress(ProcessLookupError, AttributeError):
            os.kill(self.pid, signal.SIGKILL)


class Servers:
    """One server an engine, which forks the workers: for one instruction set and thread count."""

    def __init__(self, folder: Path, isa: str, threads: int):
        self.folder = folder
        self.sockets = tempfile.TemporaryDirectory(prefix="bench-")
        self.environment = worker_environment(isa, threads, folder)
        self.processes: dict[str, subprocess.Popen] = {}

    def address(self, engine: str) -> str:
        return os.path.join(self.sockets.name, plain(engine))

    def worker(self, engine: str) -> Worker:
        if engine not in self.processes:
            self.start(engine)
        if self.processes[engine].poll() is not None:
            raise Failed(f"the engine does not start: {self.last_words(engine)}")
        return Worker(self.address(engine))

    def start(self, engine: str) -> None:
        address = self.address(engine)
        with open(self.log(engine), "w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "bench.worker", engine, address],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=self.environment,
                start_new_session=True,  # Ctrl-C is for the parent
            )
        self.processes[engine] = process
        if process.stdout.readline().strip() != "ready":
            process.wait()

    def last_words(self, engine: str) -> str:
        return " ".join(self.log(engine).read_text().strip().splitlines()[-1:])

    def log(self, engine: str) -> Path:
        return self.folder / f"{plain(engine)}.log"

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
        self.processes.clear()
        self.sockets.cleanup()

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, *_) -> None:
        self.close()
