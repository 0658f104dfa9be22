"""Writes torch_values.inc: what PyTorch draws on the CPU, for random_test.cpp to compare with.

Run with a Python that has torch (written with 2.13.0): python make_torch_values.py
"""

import textwrap
from pathlib import Path

import torch

# Seed, then draws from one stream: kind and count.
STREAMS = [
    (0, [("normal", 20000), ("uniform", 4)]),
    (0, [("normal", 5)]),
    (0, [("uniform", 4)]),
    (1, [("normal", n) for n in range(1, 18)]),
    (42, [("normal", 3), ("uniform", 3), ("normal", 16), ("normal", 1), ("normal", 1)]),
    (2**32 + 7, [("uniform", 700), ("normal", 33), ("normal", 9), ("normal", 624)]),
    (2**64 - 1, [("normal", 31), ("normal", 100), ("uniform", 1300)]),
]
SHOWN = 24  # at either end


def draw(kind: str, count: int) -> list[float]:
    return (torch.randn if kind == "normal" else torch.rand)(count).tolist()


def row(kind: str, count: int) -> str:
    values = draw(kind, count)
    ends = [values[:SHOWN], values[-SHOWN:] if count > SHOWN else []]
    lists = ", ".join("{" + ", ".join(f"{v:#.9g}f" for v in part) + "}" for part in ends)
    text = f"{{Kind::k{kind.capitalize()}, {count}, {lists}}},"
    return textwrap.fill(text, 100, initial_indent="  ", subsequent_indent="    ")


def main() -> None:
    lines = [
        "// Written by make_torch_values.py: a seed, then draws with their first and last values"
    ]
    for seed, draws in STREAMS:
        torch.manual_seed(seed)
        lines += [f"{{{seed}u, {{", *(row(*d) for d in draws), "}},"]
    Path(__file__).with_name("torch_values.inc").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
