"""Tables and coefficients of cbrt."""

import fit
from fit import F32, F64
from log import interval, inverses, rest_range
from mpmath import mp, mpf

STEPS = 8
FIRST = mpf(7) / 2  # as in log.py


def root_tail(r: mpf) -> mpf:
    """((1 + r)^(1/3) - 1) / r."""
    if abs(r) < mpf(2) ** -60:
        return mpf(1) / 3 - r / 9
    return (mp.cbrt(1 + r) - 1) / r


def table_in_two_words(header: fit.Header, name: str, suffix: str, roots: list, precision: int):
    pairs = [fit.words(root, precision, 21) for root in roots]
    for part, column in zip(("High", "Low"), zip(*pairs, strict=True), strict=True):
        bits = [fit.bits_of(x, precision) for x in column]
        header.bits(f"k{name}{part}{suffix}", bits, precision)


def derive() -> fit.Header:
    header = fit.Header("cbrt")
    table = inverses(STEPS, FIRST)
    low, high = rest_range(STEPS, FIRST)
    header.comment(f"Mantissas start at {mp.nstr(interval(0, STEPS, FIRST)[0], 8)}.")
    header.constant("kCbrtLowest", interval(0, STEPS, FIRST)[0])
    for suffix, precision, terms in (("F32", F32, 5), ("F64", F64, 10)):
        header.comment("Near the inverses of mantissas: r = mantissa * inverse - 1 is exact.")
        header.bits(f"kCbrtInverse{suffix}", [fit.bits_of(x, precision) for x in table], precision)
        header.comment("Roots of the inverses' inverses in two words; of 2^j, j = 0, 1, -2, -1.")
        table_in_two_words(header, "Cbrt", suffix, [mp.cbrt(1 / x) for x in table], precision)
        powers = [mp.cbrt(mpf(2) ** j) for j in (0, 1, -2, -1)]
        table_in_two_words(header, "CbrtPower", suffix, powers, precision)
        p = fit.fit(root_tail, low, high, [precision] * terms, weight=lambda r: r)
        header.comment(
            f"(1 + r)^(1/3) = 1 + r P(r) for {mp.nstr(low, 5)} <= r <= {mp.nstr(high, 5)}, "
            f"with an error below {p.bits}."
        )
        header.array(f"kCbrtSeries{suffix}", p.coefficients)
    return header


if __name__ == "__main__":
    fit.main(derive)
