"""Polynomials for ir/math/: near-minimax coefficients that are exact in their format, with a bound.

A generator (one a family, beside this file) describes its functions and writes one .inc file:

    python tools/math/exp.py          # rewrites ir/math/coefficients_exp.inc
    python tools/math/exp.py --check  # fails if the file would change
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from mpmath import mp, mpf

mp.prec = 240

ROOT = Path(__file__).resolve().parent.parent.parent

# The error of a fit, times its weight, is followed by a Chebyshev series of this degree; the rest
# of the series is checked to be negligible.
DEGREE = 64
SAMPLES = 512

F32, F64 = 24, 53  # bits of a mantissa


def rounded(x, bits: int) -> mpf:
    """The nearest number of that many bits, ties to even (no subnormals occur here)."""
    with mp.workprec(bits):
        return +mpf(x)


def on_grid(x, exponent: int) -> mpf:
    """The nearest multiple of 2**exponent."""
    return mp.ldexp(mp.nint(mp.ldexp(x, -exponent)), exponent)


def words(x, *formats: int) -> list[mpf]:
    """x as an unevaluated sum of numbers of these many bits."""
    out = []
    for bits in formats:
        out.append(rounded(x, bits))
        x -= out[-1]
    return out


@dataclass
class Fit:
    coefficients: list[mpf]
    bound: mpf  # of |weight * (f - polynomial)| on the interval, proved as `sup` says

    @property
    def bits(self) -> str:
        """The bound as it goes into a comment: 2^-62.3."""
        return f"2^{float(mp.log(self.bound, 2)) + 0.05:.1f}"


def chebyshev_points(low, high, count: int) -> list[mpf]:
    middle, radius = (mpf(low) + high) / 2, (mpf(high) - low) / 2
    return [middle + radius * mp.cos(mp.pi * (2 * k + 1) / (2 * count)) for k in range(count)]


def evaluate(coefficients: Sequence[mpf], x: mpf) -> mpf:
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


@cache
def turns(degree: int) -> list[mpf]:
    """The Chebyshev polynomial of that degree at the samples."""
    return [mp.cos(mp.pi * degree * (2 * k + 1) / (2 * SAMPLES)) for k in range(SAMPLES)]


def sup(error: Callable, low, high) -> mpf:
    """A bound for |error| on [low, high], for an error that is analytic around the interval.

    A polynomial of degree n is at most 1 / cos(n pi / 2m) times its largest value at m Chebyshev
    points (Ehlich and Zeller). The error is such a polynomial of degree DEGREE and a remainder,
    whose next Chebyshev coefficients must be too small to matter.
    """
    values = [error(x) for x in chebyshev_points(low, high, SAMPLES)]
    largest = max(abs(v) for v in values)
    for degree in range(DEGREE + 1, DEGREE + 7):
        coefficient = mp.fdot(values, turns(degree)) * 2 / SAMPLES
        if abs(coefficient) > largest * mpf(2) ** -12:
            raise ArithmeticError(f"Chebyshev coefficient {degree} of an error is not negligible")
    return largest * (1 + mpf(2) ** -9) / mp.cos(mp.pi * DEGREE / (2 * SAMPLES))


def least_squares(xs, targets, weights, count: int) -> list[mpf]:
    """Minimizes the sum of (weight * (target - polynomial))^2."""
    rows = []
    for x, w in zip(xs, weights, strict=True):
        row, power = [], w
        for _ in range(count):
            row.append(power)
            power *= x
        rows.append(row)
    right = [t * w for t, w in zip(targets, weights, strict=True)]
    columns = list(zip(*rows, strict=True))
    normal = mp.matrix([[mp.fdot(a, b) for b in columns] for a in columns])
    return list(mp.cholesky_solve(normal, mp.matrix([mp.fdot(a, right) for a in columns])))


def minimax(xs, targets, weights, count: int, rounds: int) -> list[mpf]:
    """Lawson's iteration: weights grow where the error is large, until it is level."""
    emphasis = [mpf(1)] * len(xs)
    best, best_error = [], mp.inf
    for _ in range(rounds):
        scaled = [w * mp.sqrt(e) for w, e in zip(weights, emphasis, strict=True)]
        c = least_squares(xs, targets, scaled, count)
        errors = [
            abs(w * (t - evaluate(c, x))) for x, t, w in zip(xs, targets, weights, strict=True)
        ]
        worst = max(errors)
        if worst < best_error:
            best, best_error = c, worst
        if worst == 0:
            break
        emphasis = [e * r / worst for e, r in zip(emphasis, errors, strict=True)]
    return best


def fit(
    f: Callable,
    low,
    high,
    formats: Sequence[int],
    weight: Callable = lambda x: mpf(1),
    fixed: Sequence = (),
    rounds: int = 8,
    in_turn: int | None = None,
) -> Fit:
    """f(x) ~ c0 + c1 x + ... with coefficients of `formats` bits, |weight * error| small.

    Each coefficient (or `in_turn` of them, and then the others at once) is rounded in turn, lowest
    first, and those after it make up for it. The first ones may be given as `fixed`. The weight
    must be smooth and may change sign.
    """
    xs = chebyshev_points(low, high, 6 * len(formats) + 1)
    given = [f(x) for x in xs]
    weights = [abs(weight(x)) for x in xs]
    chosen = [mpf(c) for c in fixed]
    for index in range(len(chosen), len(formats)):
        # What remains, divided by the power of x that the next coefficient has.
        targets = [(g - evaluate(chosen, x)) / x**index for g, x in zip(given, xs, strict=True)]
        relative = [w * abs(x) ** index for w, x in zip(weights, xs, strict=True)]
        c = minimax(xs, targets, relative, len(formats) - index, rounds)
        if in_turn is not None and index >= in_turn:
            chosen += [rounded(x, bits) for x, bits in zip(c, formats[index:], strict=True)]
            break
        chosen.append(rounded(c[0], formats[index]))
    bound = sup(lambda x: weight(x) * (f(x) - evaluate(chosen, x)), low, high)
    return Fit(chosen, bound)


# Writing .inc files.


def literal(x: mpf) -> str:
    """A number of at most 53 bits as a C++ hexadecimal literal."""
    value = float(x)
    if mpf(value) != x:
        raise ValueError(f"{x} does not fit a double")
    mantissa, _, exponent = value.hex().partition("p")
    if "." in mantissa:
        mantissa = mantissa.rstrip("0").rstrip(".")
    return f"{mantissa}p{int(exponent)}"


def bits_of(x: mpf, precision: int) -> int:
    """The bits of a positive normal number as float32 or float64."""
    fraction, bias = (23, 127) if precision == F32 else (52, 1023)
    if x == 0:
        return 0
    mantissa, exponent = mp.frexp(abs(x))
    integer = int(mp.ldexp(mantissa, fraction + 1))
    if mp.ldexp(integer, exponent - fraction - 1) != abs(x):
        raise ValueError(f"{x} does not have {precision} bits")
    word = (exponent - 1 + bias << fraction) + integer - (1 << fraction)
    return word | (1 << (31 if precision == F32 else 63) if x < 0 else 0)


class Header:
    """The text of ir/math/coefficients_<family>.inc."""

    def __init__(self, family: str):
        self.family = family
        self.lines = [
            f"// Written by tools/math/{family}.py, which derives every number here. Do not edit.",
            "#pragma once",
            "",
            "#include <cstdint>",
            "",
            "namespace lanewise::ir::math {",
        ]

    def comment(self, text: str) -> None:
        self.lines += ["", *(f"// {line}" for line in text.splitlines())]

    def constant(self, name: str, x: mpf) -> None:
        self.lines.append(f"inline constexpr double {name} = {literal(x)};")

    def array(self, name: str, values: Sequence[mpf]) -> None:
        self._list(f"inline constexpr double {name}[] = {{", [literal(v) for v in values])

    def bits(self, name: str, integers: Sequence[int], precision: int) -> None:
        """A table: the bits of its entries."""
        digits = 8 if precision == F32 else 16
        items = [f"0x{i % 16**digits:0{digits}x}" for i in integers]
        self._list(f"inline constexpr uint64_t {name}[] = {{", items)

    def _list(self, opening: str, items: Sequence[str]) -> None:
        self.lines.append(opening)
        line = "   "
        for item in items:
            if len(line) + len(item) + 2 > 100:
                self.lines.append(line)
                line = "   "
            line += f" {item},"
        self.lines += [line, "};"]

    @property
    def path(self) -> Path:
        return ROOT / "ir" / "math" / f"coefficients_{self.family}.inc"

    def text(self) -> str:
        return "\n".join([*self.lines, "", "}  // namespace lanewise::ir::math", ""])


def main(derive: Callable[[], Header]) -> None:
    """The command line of a generator."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    header = derive()
    if not options.check:
        header.path.write_text(header.text())
    elif header.path.read_text() != header.text():
        sys.exit(f"{header.path} is not what its generator derives")
