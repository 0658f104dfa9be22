"""A process that measures one engine on one row: `python -m bench.worker ROW ENGINE THREADS`.

Speaks JSON lines: prints {"ready": ..., "first_call": seconds}, then for each line on standard
input runs for that many seconds and prints {"times": [seconds a call, ...]}; "result PATH" saves
the result as .npy; "memory" prints the peak of resident memory.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time

import numpy as np

SEED = 20240607


def say(**facts):
    print(json.dumps(facts), flush=True)


def timed(call, seconds):
    """Times of single calls; short ones in batches, so that the clock costs nothing."""
    start = time.perf_counter()
    call()
    once = time.perf_counter() - start
    batch = max(1, int(50e-6 / max(once, 1e-7)))
    times = []
    end = time.perf_counter() + seconds
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - start) / batch)
    return times


def main():
    row_name, engine_name, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    from .engines import ENGINES, Unsupported
    from .rows import ROWS

    row = next(r for r in ROWS if r.name == row_name)
    engine = ENGINES[engine_name]
    arrays = row.make(np.random.default_rng(SEED))
    try:
        start = time.perf_counter()
        call = engine.prepare(row, arrays, threads)
        result = call()
        first = time.perf_counter() - start
    except Unsupported:
        say(ready=False)
        return
    say(ready=True, first_call=first, version=engine.version())
    for line in sys.stdin:
        command, _, argument = line.strip().partition(" ")
        if command == "run":
            say(times=timed(call, float(argument)))
        elif command == "result":
            np.save(argument, np.asarray(result))
            say(saved=True)
        elif command == "memory":
            say(peak=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


if __name__ == "__main__":
    main()
