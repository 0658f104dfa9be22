"""./dev bench: lanewise beside its peers, row by row, in one run."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from .engines import ENGINES, PEERS
from .rows import ROWS


class Worker:
    def __init__(self, row, engine, threads, environment):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.worker", row.name, engine, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment)

    def read(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.stderr.read().strip().splitlines()[-1:])
        return json.loads(line) if line.startswith("{") else self.read()

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        return self.read()

    def close(self):
        self.process.kill()
        self.process.wait()


def worker_environment(engine, isa):
    environment = dict(os.environ)
    # NumPy at its best: its own choice of kernels.
    environment.pop("OPENBLAS_CORETYPE", None)
    environment.pop("OPENBLAS_L2_SIZE", None)
    if isa == "x86-64-v3":
        environment["LANEWISE_TARGET"] = isa
        environment["NPY_DISABLE_CPU_FEATURES"] = "X86_V4 AVX512_ICL AVX512_SPR"
        environment["ATEN_CPU_CAPABILITY"] = "avx2"
        environment["NUMBA_CPU_NAME"] = "x86-64-v3"
        environment["NUMBA_CPU_FEATURES"] = ""
        environment["XLA_FLAGS"] = "--xla_cpu_max_isa=AVX2"
    return environment


def check_values(row, workers, reference, folder):
    """Engines whose values differ from NumPy's beyond the row's tolerance."""
    wrong = []
    for name, worker in workers.items():
        if name in ("limit", "NumPy"):
            continue
        path = os.path.join(folder, "result.npy")
        worker.ask(f"result {path}")
        value = np.load(path)
        scale = np.maximum(np.abs(reference), np.abs(reference).mean() if reference.size else 0)
        if value.shape != reference.shape or not np.all(
                np.abs(value.astype(float) - reference) <= row.tolerance * scale):
            wrong.append(name)
    return wrong


def measure(row, engines, threads, isa, rounds, seconds):
    workers, facts = {}, {}
    try:
        for engine in engines:
            worker = Worker(row, engine, threads, worker_environment(engine, isa))
            try:
                ready = worker.read()
            except RuntimeError as error:
                facts[engine] = {"failed": str(error)}
                worker.close()
                continue
            if ready["ready"]:
                workers[engine] = worker
                facts[engine] = {"first_call": ready["first_call"], "version": ready["version"],
                                 "times": []}
            else:
                worker.close()
        arrays = row.make(np.random.default_rng(20240607))
        with np.errstate(all="ignore"), tempfile.TemporaryDirectory() as folder:
            reference = np.asarray(row.function(np, *arrays)).astype(float)
            for name in check_values(row, workers, reference, folder):
                facts[name]["wrong"] = True
        for _ in range(rounds):
            for name, worker in workers.items():
                facts[name]["times"] += worker.ask(f"run {seconds}")["times"]
        for name, worker in workers.items():
            times = facts[name].pop("times")
            facts[name]["best"] = min(times)
            facts[name]["median"] = statistics.median(times)
            facts[name]["peak_memory"] = worker.ask("memory")["peak"]
    finally:
        for worker in workers.values():
            worker.close()
    return facts


def best_peer(facts, key="best"):
    peers = {n: facts[n][key] for n in PEERS if key in facts.get(n, {})
             and not facts[n].get("wrong")}
    return min(peers.items(), key=lambda item: item[1]) if peers else (None, None)


def print_row(row, threads, facts):
    name, peer = best_peer(facts)
    ours = facts.get("lanewise", {}).get("best")
    cells = "  ".join(f"{n} {facts[n]['best'] * 1e6:.4g}{'!' if facts[n].get('wrong') else ''}"
                      for n in ENGINES if "best" in facts.get(n, {}))
    ratio = f"x{peer / ours:.2f} of {name}" if ours and peer else ""
    print(f"{row.name} [{threads}]: {ratio}  ({cells}) us", flush=True)


def host_facts(isa):
    model = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                  if line.startswith("model name")), platform.processor())
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "isa": isa,
            "python": platform.python_version(), "system": platform.platform()}


def main():
    parser = argparse.ArgumentParser(prog="dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and shorter repetitions")
    parser.add_argument("--threads", default="1,2", help="thread counts, as in 1,2")
    parser.add_argument("--only", default="", help="rows and groups whose name contains this")
    parser.add_argument("--engines", default=",".join(ENGINES), help="comma-separated")
    parser.add_argument("--isa", default="host", choices=["host", "x86-64-v3"])
    parser.add_argument("--json", default="", help="file for all figures")
    options = parser.parse_args()
    rounds, seconds = (3, 0.02) if options.quick else (10, 0.1)
    results = []
    for threads in map(int, options.threads.split(",")):
        for row in ROWS:
            if options.only not in row.name and options.only != row.group:
                continue
            facts = measure(row, options.engines.split(","), threads, options.isa, rounds, seconds)
            print_row(row, threads, facts)
            results.append({"row": row.name, "group": row.group, "threads": threads,
                            "engines": facts})
    if options.json:
        Path(options.json).write_text(
            json.dumps({"host": host_facts(options.isa), "results": results}, indent=1))


if __name__ == "__main__":
    main()
