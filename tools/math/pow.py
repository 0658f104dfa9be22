"""Tables and coefficients of the logarithm in pow, right to about 2^-64 (float32: 2^-34)."""

import fit
from fit import F32, F64
from log import interval, inverses, rest_range
from mpmath import mp, mpf

STEPS = 16
FIRST = mpf(13) / 2


def cubic_tail(r: mpf) -> mpf:
    """(log(1 + r) - r + r^2 / 2) / r^3."""
    if abs(r) < mpf(2) ** -40:
        return mpf(1) / 3 - r / 4 + r * r / 5
    return (mp.log1p(r) - r + r * r / 2) / r**3


def derive() -> fit.Header:
    header = fit.Header("pow")
    low, high = rest_range(STEPS, FIRST)
    header.comment(f"Mantissas start at {mp.nstr(interval(0, STEPS, FIRST)[0], 8)}.")
    header.constant("kPowLowest", interval(0, STEPS, FIRST)[0])
    table = inverses(STEPS, FIRST)
    for suffix, precision, terms in (("F32", F32, 4), ("F64", F64, 9)):
        header.comment("Near the inverses of mantissas: r = mantissa * inverse - 1 is exact.")
        header.bits(f"kPowInverse{suffix}", [fit.bits_of(x, precision) for x in table], precision)
        # On this grid exponent * ln(2) - log(inverse) is exact; exponents are below 2^7.3, 2^10.1.
        grid = (7 if precision == F32 else 10) - precision
        unit = fit.on_grid(mp.log(2), grid)
        header.comment("ln(2) in two parts, and minus the logarithms of the inverses likewise.")
        header.constant(f"kPowUnitHigh{suffix}", unit)
        header.constant(f"kPowUnitLow{suffix}", fit.rounded(mp.log(2) - unit, precision))
        logs = [-mp.log(x) for x in table]
        highs = [fit.on_grid(x, grid) for x in logs]
        lows = [fit.rounded(x - h, precision) for x, h in zip(logs, highs, strict=True)]
        header.bits(f"kPowHigh{suffix}", [fit.bits_of(x, precision) for x in highs], precision)
        header.bits(f"kPowLow{suffix}", [fit.bits_of(x, precision) for x in lows], precision)
        p = fit.fit(cubic_tail, low, high, [precision] * terms, weight=lambda r: r**2)
        header.comment(
            f"log(1 + r) = r - r^2/2 + r^3 P(r) for {mp.nstr(low, 5)} <= r <= {mp.nstr(high, 5)},\n"
            f"with an error below {p.bits} |r|."
        )
        header.array(f"kPowSeries{suffix}", p.coefficients)
    return header


if __name__ == "__main__":
    fit.main(derive)
