"""Measuring one row: all engines prepared, compared, then timed in turns."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from . import host
from .engines import ENGINES
from .rows import Row
from .servers import Failed, Servers, Skipped, Worker
from .worker import SEED, sample

PREPARE_TIMEOUT = 90.0
FIRST_CALL_TIMEOUT = 10.0
RUN_TIMEOUT = 60.0


@dataclass(frozen=True)
class Effort:
    rounds: int
    seconds: float  # of one engine in one round
    most: float  # seconds of one engine in all rounds, beyond the first three


FULL = Effort(rounds=6, seconds=0.02, most=0.6)
QUICK = Effort(rounds=3, seconds=0.01, most=0.2)


def reference(row: Row) -> np.ndarray | None:
    if row.function is None:
        return None
    arrays = row.make(np.random.default_rng(SEED))
    with np.errstate(all="ignore"):
        return np.asarray(row.for_engine("numpy")(np, *arrays))


def difference(row: Row, expected: np.ndarray, shape, values: np.ndarray) -> str | None:
    """What is wrong with an engine's values, if anything."""
    if shape != expected.shape:
        return f"wrong shape {shape}"
    right = sample(expected).astype(float)
    scale = np.maximum(np.abs(right), np.abs(right).mean() if right.size else 0)
    error = np.abs(values.astype(float) - right)
    if np.all(error <= row.tolerance * scale):
        return None
    return f"wrong by {np.max(error / np.maximum(scale, 1e-300)):.2g}"


class Measurement:
    def __init__(self, row: Row, engines: list[str], servers: Servers, isa: str, threads: int):
        self.row, self.servers, self.isa, self.threads = row, servers, isa, threads
        self.engines = [name for name in engines if ENGINES[name].does(row)]
        self.cpus = host.cores()[-threads:]
        self.facts: dict[str, dict] = {}
        self.workers: dict[str, Worker] = {}

    def run(self, effort: Effort) -> dict:
        expected = reference(self.row)
        try:
            if self.row.once:
                self.time_first_calls(expected, effort)
            else:
                self.prepare(expected)
                self.compare(expected)
                self.take_turns(effort)
        finally:
            for worker in self.workers.values():
                worker.close()
        return {
            "name": self.row.name,
            "group": self.row.group,
            "isa": self.isa,
            "threads": self.threads,
            "target": self.row.target,
            "show_memory": self.row.show_memory,
            "engines": {n: self.facts[n] for n in self.engines if n in self.facts},
        }

    def attempt(self, engine: str, action):
        """Runs the action; its failure is a note, and ends the engine's part in this row."""
        try:
            return action()
        except Skipped:
            self.facts.pop(engine, None)
        except Failed as failure:
            self.facts.setdefault(engine, {})["note"] = str(failure)
        worker = self.workers.pop(engine, None)
        if worker is not None:
            worker.close()
        return None

    def prepare(self, expected: np.ndarray | None) -> None:
        """Starts workers and makes their first calls, one for each core at a time."""
        shape, dtype = ((), "f8") if expected is None else (expected.shape, expected.dtype.str)
        for engine in self.engines:
            started = self.attempt(engine, lambda e=engine: self.servers.worker(e))
            if started is not None:
                self.workers[engine] = started

        def first(engine: str, slot: int) -> None:
            cpus = self.cpus if self.threads > 1 else [host.cores()[slot % len(host.cores())]]
            arguments = (self.row.name, self.threads, cpus, shape, dtype)
            worker = self.workers[engine]
            version = self.attempt(
                engine, lambda: worker.ask("prepare", *arguments, timeout=PREPARE_TIMEOUT)
            )
            if version is not None:
                self.facts[engine] = {"version": version}

        slowest_first = list(self.workers)[::-1]
        with ThreadPoolExecutor(len(host.cores())) as pool:
            list(pool.map(first, slowest_first, range(len(slowest_first))))

    def compare(self, expected: np.ndarray | None) -> None:
        if expected is None:
            return
        for engine in list(self.workers):
            worker = self.workers[engine]
            got = self.attempt(engine, lambda w=worker: w.ask("values", timeout=RUN_TIMEOUT))
            if got is not None and engine != "limit":
                wrong = difference(self.row, expected, *got)
                if wrong:
                    self.facts[engine]["note"] = wrong

    def take_turns(self, effort: Effort) -> None:
        for worker in self.workers.values():
            worker.ask("pin", self.cpus, timeout=RUN_TIMEOUT)
        times: dict[str, list[float]] = {engine: [] for engine in self.workers}
        spent = dict.fromkeys(times, 0.0)
        for turn in range(effort.rounds):
            for engine in list(self.workers):
                if turn >= 3 and spent[engine] > effort.most:
                    continue
                time.sleep(0.002)  # threads of the last engine may still look for work
                start = time.perf_counter()
                worker = self.workers[engine]
                new = self.attempt(
                    engine, lambda w=worker: w.ask("run", effort.seconds, timeout=RUN_TIMEOUT)
                )
                spent[engine] += time.perf_counter() - start
                times[engine] += new or []
        for engine, worker in list(self.workers.items()):
            facts = self.facts[engine]
            facts |= {
                "best": min(times[engine]),
                "median": statistics.median(times[engine]),
                "calls": len(times[engine]),
            }
            if not self.row.special:
                facts["memory"] = self.attempt(
                    engine, lambda w=worker: w.ask("memory", timeout=RUN_TIMEOUT)
                )

    def time_first_calls(self, expected: np.ndarray, effort: Effort) -> None:
        """Each in a process of its own."""
        for _ in range(effort.rounds):
            for engine in self.engines:
                facts = self.facts.setdefault(engine, {"times": []})
                if "note" in facts or sum(facts["times"]) > effort.most:
                    continue
                worker = self.attempt(engine, lambda e=engine: self.servers.worker(e))
                if worker is not None:
                    self.workers[engine] = worker
                    self.attempt(engine, lambda e=engine: self.first_call(e, expected))
                    worker.close()
                    self.workers.pop(engine, None)
        for facts in self.facts.values():
            times = facts.pop("times")
            if times:
                facts |= {"best": min(times), "median": statistics.median(times)}
                facts["calls"] = len(times)

    def first_call(self, engine: str, expected: np.ndarray) -> None:
        worker, facts = self.workers[engine], self.facts[engine]
        arguments = (self.row.name, self.cpus, expected.shape, expected.dtype.str)
        facts["times"].append(worker.ask("first_call", *arguments, timeout=FIRST_CALL_TIMEOUT))
        if len(facts["times"]) == 1:
            wrong = difference(self.row, expected, *worker.ask("values", timeout=RUN_TIMEOUT))
            if wrong:
                facts["note"] = wrong
