"""What a run prints."""

from __future__ import annotations

from .results import OURS, best_peer, geometric_mean, of_limit, ratio, ratios


def duration(seconds: float) -> str:
    """Three digits with a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}" if seconds < 999 * size else f"{seconds:.0f} s"
    return f"{seconds * 1e9:.3g} ns"


def print_row(row: dict) -> None:
    peer, _ = best_peer(row)
    share = ratio(row)
    verdict = f"{share:5.2f} x {peer}" if share else ""
    if of_limit(row):
        verdict += f", {of_limit(row):.2f} of limit"
    if row["target"]:
        verdict += f", target {duration(row['target'])}"
    print(f"{row['name']} [{row['isa']}, {row['threads']} threads] {verdict}", flush=True)
    for engine, facts in row["engines"].items():
        times = ""
        if "best" in facts:
            times = f"{duration(facts['best']):>9} {duration(facts['median']):>9}"
        print(f"    {engine:30}{times:20} {facts.get('note', '')}".rstrip(), flush=True)


def print_summary(results) -> None:
    for isa, threads in results.tables():
        rows = results.of(isa, threads)
        values = ratios(rows)
        behind = [row for row in rows if (ratio(row) or 1) < 1]
        print(
            f"{isa}, {threads} threads: best peer / {OURS} {geometric_mean(values):.2f} "
            f"(geometric mean of {len(values)} rows), behind in {len(behind)}"
        )
        for row in behind:
            print(f"    {ratio(row):.2f} {row['name']} ({best_peer(row)[0]})")
