"""Tables and a chart from the figures that `./dev bench --json` wrote."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

from .__main__ import best_peer
from .engines import ENGINES, PEERS

SHOWN = [*PEERS, "lanewise", "lanewise (ndarray)", "limit"]


def microseconds(facts):
    if "best" not in facts:
        return ""
    text = f"{facts['best'] * 1e6:.3g}"
    if "e" in text:
        text = f"{facts['best'] * 1e6:.0f}"
    return text + (" (wrong)" if facts.get("wrong") else "")


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def ratios(results):
    """Best peer over lanewise, a row each."""
    found = []
    for result in results:
        _, peer = best_peer(result["engines"])
        ours = result["engines"].get("lanewise", {}).get("best")
        if peer and ours:
            found.append((result["row"], peer / ours))
    return found


def table(results):
    lines = ["| work | " + " | ".join(SHOWN) + " | best peer / lanewise | of limit |",
             "| --- |" + " ---: |" * (len(SHOWN) + 2)]
    for result in results:
        engines = result["engines"]
        _, peer = best_peer(engines)
        ours = engines.get("lanewise", {}).get("best")
        limit = engines.get("limit", {}).get("best")
        ratio = f"{peer / ours:.2f}" if peer and ours else ""
        share = f"{100 * limit / ours:.0f} %" if limit and ours else ""
        cells = [microseconds(engines.get(name, {})) for name in SHOWN]
        lines.append(f"| {result['row']} | {' | '.join(cells)} | {ratio} | {share} |")
    return lines


def summary(results):
    pairs = ratios(results)
    lines = [f"Geometric mean of best peer / lanewise over {len(pairs)} rows: "
             f"{geometric_mean([r for _, r in pairs]):.2f}. Against each peer alone: "]
    means = []
    for peer in PEERS:
        single = [r["engines"][peer]["best"] / r["engines"]["lanewise"]["best"] for r in results
                  if "best" in r["engines"].get(peer, {})
                  and "best" in r["engines"].get("lanewise", {})
                  and not r["engines"][peer].get("wrong")]
        if single:
            means.append(f"{peer} {geometric_mean(single):.2f} ({len(single)} rows)")
    lines[0] += ", ".join(means) + "."
    behind = [f"{row} ({ratio:.2f})" for row, ratio in pairs if ratio < 1]
    if behind:
        lines.append("Rows where a peer is ahead: " + "; ".join(behind) + ".")
    return lines


def chart(results, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    pairs = ratios(results)[::-1]
    figure, axes = plt.subplots(figsize=(9, 0.3 * len(pairs) + 1))
    axes.barh([row for row, _ in pairs], [ratio for _, ratio in pairs], color="#3b6ea5")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("time of the best peer / time of lanewise, one thread")
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def versions(results):
    found = {}
    for result in results:
        for name, facts in result["engines"].items():
            if "version" in facts and name in ENGINES and name != "limit":
                found[name] = facts["version"]
    return ", ".join(f"{name} {found[name]}" for name in found if "(" not in name)


def write(files, target):
    lines = ["# Benchmarks", "",
             "Written by `./dev bench` from one run; `bench/rows.py` has the work, "
             "`bench/engines.py` how each engine is used, `bench/limits.cpp` the loops that "
             "bound a row. Times in microseconds, best of all repetitions; engines take turns. "
             "lanewise writes into preallocated memory (`out=`) as the peers do where they can.",
             ""]
    for number, file in enumerate(files):
        figures = json.loads(Path(file).read_text())
        host = figures["host"]
        lines += [f"## {host['cpu']}, {host['cores']} cores, code for {host['isa']}", "",
                  f"{versions(figures['results'])}; Python {host['python']}.", ""]
        for threads in sorted({r["threads"] for r in figures["results"]}):
            results = [r for r in figures["results"] if r["threads"] == threads]
            lines += [f"### {threads} thread{'s' * (threads > 1)}", "", *table(results), "",
                      *summary(results), ""]
            if number == 0 and threads == 1:
                chart(results, target.with_suffix(".png"))
                lines += [f"![ratios]({target.with_suffix('.png').name})", ""]
    target.write_text("\n".join(lines))


def main():
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=__doc__)
    parser.add_argument("json", nargs="+", help="files from ./dev bench --json")
    parser.add_argument("--output", default="docs/benchmarks.md")
    options = parser.parse_args()
    write(options.json, Path(options.output))


if __name__ == "__main__":
    main()
