"""docs/benchmarks.md and its chart, from the figures of a run."""

from __future__ import annotations

import math
from pathlib import Path

from . import chart
from .console import duration
from .engines import ENGINES, PEERS
from .results import (
    OURS,
    Results,
    best_peer,
    geometric_mean,
    of_limit,
    ratio,
    ratios,
    time_of,
)

NDARRAYS = "lanewise, ndarrays"
GROUPS = {
    "elementwise": "Arithmetic",
    "layouts": "Layouts",
    "math": "Functions",
    "functions": "More functions",
    "rows": "Kernels over rows",
    "reductions": "Reductions and scans",
    "overhead": "What a call costs",
    "first call": "First calls",
    "recording": "Recording and importing",
}
INTRODUCTION = """\
# Benchmarks

Written by `./dev bench --docs` from one run; do not edit. `bench/rows/` has the work,
`bench/engines.py` how each engine is used, `bench/limits.cpp` the loops that bound a row.

Each engine does each row in a process of its own, on the same values; engines take turns, so that
what else the machine does meets all. Results must agree with NumPy's first; what fails or differs
is a note below the table, and counts for nothing. Times are the best of all calls; medians are in
the JSON. *Best peer / lanewise* above 1 means that lanewise is faster. *Of limit* is lanewise's
time over that of the best of several tuned loops, written by hand for the memory traffic of the row
and built and run in the same run. Engines with `out=` write into memory that exists, as lanewise
does; *ndarrays* is lanewise with NumPy's arrays as arguments in place of its own.
"""


def cell(row: dict, engine: str) -> str:
    time = time_of(row, engine)
    return duration(time) if time is not None else ""


def columns(rows: list[dict], engines: list[str]) -> list[str]:
    return [name for name in engines if any(time_of(row, name) for row in rows)]


def markdown(header: list[str], lines: list[list[str]]) -> list[str]:
    rule = "| --- |" + " ---: |" * (len(header) - 1)
    return [f"| {' | '.join(header)} |", rule, *(f"| {' | '.join(line)} |" for line in lines)]


def two_digits(value: float | None) -> str:
    return f"{value:.2f}" if value is not None else ""


def group_table(rows: list[dict]) -> list[str]:
    engines = columns(rows, [*PEERS, *(n for n in ENGINES if n not in PEERS and n != "limit")])
    extra = {
        "target": [duration(row["target"]) if row["target"] else "" for row in rows],
        "best peer / lanewise": [two_digits(ratio(row)) for row in rows],
        "of limit": [two_digits(of_limit(row)) for row in rows],
    }
    extra = {name: cells for name, cells in extra.items() if any(cells)}
    lines = [
        [row["name"], *(cell(row, engine) for engine in engines)]
        + [cells[i] for cells in extra.values()]
        for i, row in enumerate(rows)
    ]
    return markdown(["work", *engines, *extra], lines)


def notes(rows: list[dict]) -> list[str]:
    found = [
        f"{row['name']}: {engine}: {facts['note']}"
        for row in rows
        for engine, facts in row["engines"].items()
        if facts.get("note")
    ]
    return ["", "Notes:", "", *(f"- {note}" for note in found)] if found else []


def summary(results: Results) -> list[str]:
    """Geometric means, a line each for a table of the run."""
    header = ["", "rows", "best peer / lanewise", *(f"{peer} / lanewise" for peer in PEERS)]
    lines = []
    for isa, threads in results.tables():
        rows = comparable(results.of(isa, threads))
        means = [geometric_mean(ratios(rows, peer)) for peer in (None, *PEERS)]
        shown = ["" if math.isnan(mean) else f"{mean:.2f}" for mean in means]
        lines.append([label(results, isa, threads), str(len(ratios(rows))), *shown])
    return ["## Summary: geometric means", "", *markdown(header, lines), "", *behind(results)]


def behind(results: Results) -> list[str]:
    lines = ["Rows where a peer is ahead:", ""]
    for isa, threads in results.tables():
        losses = [row for row in comparable(results.of(isa, threads)) if (ratio(row) or 1) < 1]
        shown = "; ".join(
            f"{row['name']} ({best_peer(row)[0]}, {ratio(row):.2f})"
            for row in sorted(losses, key=ratio)
        )
        lines.append(f"- {label(results, isa, threads)}: {shown or 'none'}.")
    return [*lines, ""]


def comparable(rows: list[dict]) -> list[dict]:
    """Rows of work: recording and importing have goals of their own."""
    return [row for row in rows if row["group"] not in ("recording", "first call")]


def label(results: Results, isa: str, threads: int) -> str:
    if isa == "host":
        isa = "AVX-512" if results.host["avx512"] else "AVX2"
    elif isa == "x86-64-v3":
        isa = "AVX2"
    return f"{isa}, {threads} thread{'s' if threads > 1 else ''}"


def scaling(results: Results) -> list[str]:
    one = {row["name"]: row for row in results.of("host", 1)}
    lines = []
    for row in results.of("host", 2):
        before = one.get(row["name"])
        if before is None or not time_of(row, OURS) or not time_of(before, OURS):
            continue
        gains = [time_of(before, OURS) / time_of(row, OURS)]
        if best_peer(row)[1] and best_peer(before)[1]:
            gains.append(best_peer(before)[1] / best_peer(row)[1])
        lines.append([row["name"], *(f"{gain:.2f}" for gain in gains)] + [""] * (2 - len(gains)))
    if not lines:
        return []
    header = ["work", "lanewise", "best peers"]
    return ["## Time with one thread over time with two", "", *markdown(header, lines), ""]


def memory(results: Results) -> list[str]:
    rows = [row for row in results.of("host", 1) if row["show_memory"]]
    engines = [*PEERS, OURS, NDARRAYS]
    lines = [
        [row["name"], *(mebibytes(row["engines"].get(name, {})) for name in engines)]
        for row in rows
    ]
    if not lines:
        return []
    return ["## Most memory during a call, MiB", "", *markdown(["work", *engines], lines), ""]


def mebibytes(facts: dict) -> str:
    return f"{facts['memory'] / 2**20:.0f}" if facts.get("memory") and "note" not in facts else ""


def host_lines(results: Results) -> list[str]:
    host = results.host
    versions = ", ".join(f"{name} {version}" for name, version in results.versions().items())
    cache = host["last_level_cache"] >> 20
    return [
        f"{host['cpu']}, {host['cores']} cores, last-level cache {cache} MiB, {host['system']}; "
        f"Python {host['python']}, {versions}.",
        "",
    ]


def write(results: Results, target: Path) -> None:
    lines = [INTRODUCTION, *host_lines(results), *summary(results)]
    for isa, threads in results.tables():
        rows = results.of(isa, threads)
        picture = target.with_name(f"{target.stem}-{isa}-{threads}.png")
        chart.draw(comparable(rows), label(results, isa, threads), picture)
        lines += [f"## {label(results, isa, threads)}", "", f"![ratios]({picture.name})", ""]
        for group, title in GROUPS.items():
            of_group = [row for row in rows if row["group"] == group]
            if of_group:
                lines += [f"### {title}", "", *group_table(of_group), *notes(of_group), ""]
    lines += scaling(results) + memory(results)
    target.write_text("\n".join(lines).rstrip() + "\n")
