"""The chart of docs/benchmarks.md: how much longer the best peer and each peer take."""

from __future__ import annotations

from pathlib import Path

from .engines import PEERS
from .results import ratio

COLOURS = ["#999999", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9"]
LEFT, RIGHT = 0.5, 100


def draw(rows: list[dict], title: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = [row for row in rows if ratio(row) is not None][::-1]
    figure, axes = plt.subplots(figsize=(10, 0.25 * len(shown) + 1.5))
    places = range(len(shown))
    axes.barh(places, [ratio(row) for row in shown], color="#d6e4f2", label="best peer")
    for peer, colour in zip(PEERS, COLOURS, strict=True):
        points = [(ratio(row, peer), y) for y, row in enumerate(shown)]
        points = [(min(x, RIGHT), y) for x, y in points if x is not None]
        if points:
            axes.scatter(*zip(*points, strict=True), s=14, color=colour, label=peer, zorder=3)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlim(LEFT, RIGHT)
    axes.set_ylim(-0.6, len(shown) - 0.4)
    axes.set_yticks(places, [row["name"] for row in shown], fontsize=7)
    axes.set_xlabel("time / time of lanewise (right of 1: lanewise is faster)")
    axes.set_title(title, fontsize=10)
    axes.legend(fontsize=7, loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)
