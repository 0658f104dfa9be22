"""The figures of a run, in a file that grows row by row, and what follows from them."""

from __future__ import annotations

import json
import math
from pathlib import Path

from .engines import PEERS

OURS = "lanewise"


class Results:
    """Rows by (isa, threads, name), saved after each so that an interrupted run can go on."""

    def __init__(self, path: Path, host: dict):
        self.path = path
        self.host = host
        self.rows: dict[tuple[str, int, str], dict] = {}

    @classmethod
    def load(cls, path: Path) -> Results:
        stored = json.loads(path.read_text())
        results = cls(path, stored["host"])
        for row in stored["rows"]:
            results.rows[row["isa"], row["threads"], row["name"]] = row
        return results

    def add(self, row: dict) -> None:
        self.rows[row["isa"], row["threads"], row["name"]] = row
        self.save()

    def save(self) -> None:
        text = json.dumps({"host": self.host, "rows": list(self.rows.values())}, indent=1)
        scratch = self.path.with_suffix(".part")
        scratch.write_text(text)
        scratch.rename(self.path)

    def tables(self) -> list[tuple[str, int]]:
        """The pairs of instruction set and thread count that were measured."""
        return list(dict.fromkeys((isa, threads) for isa, threads, _ in self.rows))

    def of(self, isa: str, threads: int) -> list[dict]:
        return [row for row in self.rows.values() if (row["isa"], row["threads"]) == (isa, threads)]

    def versions(self) -> dict[str, str]:
        return {
            name: facts["version"]
            for row in self.rows.values()
            for name, facts in row["engines"].items()
            if "version" in facts and (name in PEERS or name == OURS)
        }


def time_of(row: dict, engine: str, key: str = "best") -> float | None:
    """Seconds, or None where the engine has no right answer to the row."""
    facts = row["engines"].get(engine, {})
    return None if facts.get("note") else facts.get(key)


def best_peer(row: dict) -> tuple[str | None, float | None]:
    times = {peer: time_of(row, peer) for peer in PEERS}
    known = {peer: time for peer, time in times.items() if time is not None}
    return min(known.items(), key=lambda item: item[1]) if known else (None, None)


def ratio(row: dict, peer: str | None = None) -> float | None:
    """Time of the peer (of the best one) over ours."""
    theirs = time_of(row, peer) if peer else best_peer(row)[1]
    ours = time_of(row, OURS)
    return theirs / ours if theirs and ours else None


def ratios(rows: list[dict], peer: str | None = None) -> list[float]:
    return [value for row in rows if (value := ratio(row, peer)) is not None]


def of_limit(row: dict) -> float | None:
    """Our time over that of the best tuned loop."""
    limit, ours = time_of(row, "limit"), time_of(row, OURS)
    return ours / limit if limit and ours else None


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
