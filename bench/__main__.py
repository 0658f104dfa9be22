"""lanewise beside its peers, row by row: `./dev bench`."""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from pathlib import Path

from . import host, report
from .console import print_row, print_summary
from .engines import ENGINES
from .measure import FULL, QUICK, Measurement
from .results import Results
from .rows import ROWS, Row
from .servers import Servers

ROOT = Path(__file__).resolve().parent.parent


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rows, shorter: minutes")
    parser.add_argument("--rows", default="", help="rows and groups whose name has this or fits it")
    parser.add_argument("--threads", default="", help="counts, as in 1,2")
    parser.add_argument("--isa", default="", help="host, x86-64-v3, or host,x86-64-v3")
    parser.add_argument("--engines", default="", help="names, with bars between")
    parser.add_argument("--resume", action="store_true", help="keep rows that are in the JSON")
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--docs", action="store_true", help="write docs/benchmarks.md and charts")
    parser.add_argument("--report", action="store_true", help="measure nothing: docs from the JSON")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    return parser.parse_args(arguments)


def wanted(row: Row, options: argparse.Namespace, isa: str, threads: int) -> bool:
    """What the options name; tables that they do not name leave out rows that say little there."""
    if options.quick and not row.quick:
        return False
    if not options.isa and isa not in row.isas:
        return False
    if not options.threads and threads not in row.threads:
        return False
    pattern = options.rows
    return pattern in row.name or pattern == row.group or fnmatch.fnmatchcase(row.name, pattern)


def tables(options: argparse.Namespace) -> list[tuple[str, int]]:
    """Instruction sets with thread counts, the full set unless told otherwise."""
    if not options.threads and not options.isa and not options.quick:
        several = [("host", count) for count in (1, 2) if count <= len(host.cores())]
        return [*several, ("x86-64-v3", 1)]
    counts = [int(count) for count in (options.threads or "1").split(",")]
    return [(isa, count) for isa in (options.isa or "host").split(",") for count in counts]


def measure(options: argparse.Namespace, results: Results, folder: Path) -> None:
    names = [name for name in options.engines.split("|") if name] or list(ENGINES)
    effort = QUICK if options.quick else FULL
    for isa, threads in tables(options):
        with Servers(folder, isa, threads) as servers:
            for row in ROWS:
                if not wanted(row, options, isa, threads):
                    continue
                if options.resume and (isa, threads, row.name) in results.rows:
                    continue
                found = Measurement(row, names, servers, isa, threads).run(effort)
                results.add(found)
                print_row(found)


def main() -> int:
    options = parse(sys.argv[1:])
    if options.list:
        print("\n".join(f"{row.group}: {row.name}" for row in ROWS))
        return 0
    folder = ROOT / "build" / "bench"
    folder.mkdir(parents=True, exist_ok=True)
    path = options.json or folder / "bench.json"
    if (options.resume or options.report) and path.exists():
        results = Results.load(path)
    else:
        results = Results(path, host.facts())
    start = time.monotonic()
    interrupted = False
    if not options.report:
        try:
            measure(options, results, folder)
        except KeyboardInterrupt:
            interrupted = True
            print("\ninterrupted; --resume goes on from here")
        print_summary(results)
        print(f"{(time.monotonic() - start) / 60:.1f} minutes; figures in {path}")
    if options.docs or options.report:
        report.write(results, ROOT / "docs" / "benchmarks.md")
        print(f"wrote {ROOT / 'docs' / 'benchmarks.md'}")
    return 130 if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
