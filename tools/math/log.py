"""Tables and coefficients of log, log2, log10 and log1p."""

import fit
from fit import F32, F64
from mpmath import mp, mpf

STEPS = 8
CARRY = 3  # numbers from 1 + (CARRY + 1/2)/STEPS up count as half of themselves


def log_tail(r: mpf) -> mpf:
    """(log(1 + r) - r) / r^2."""
    if abs(r) < mpf(2) ** -60:
        return -mpf(1) / 2 + r / 3
    return (mp.log1p(r) - r) / r**2


def interval(entry: int) -> tuple[mpf, mpf]:
    """The mantissas that use a table entry."""

    def mantissa(steps: mpf) -> mpf:
        return (1 + steps / STEPS) / 2 if steps < STEPS else steps / STEPS

    first = entry + CARRY + mpf(1) / 2
    return mantissa(first), mantissa(first + 1)


def inverses() -> list[mpf]:
    """Near 1 / mantissa, with so few bits that mantissa * inverse - 1 is (nearly always) exact."""
    out = []
    for entry in range(STEPS):
        low, high = interval(entry)
        out.append(mpf(1) if low < 1 < high else fit.rounded(2 / (low + high), 5))
    return out


def tables(header: fit.Header, suffix: str, precision: int) -> None:
    bias = 127 if precision == F32 else 1023
    # How the code counts: the exponent is `counted` - offset.
    offset = 2 * bias + 1 + bias
    for base, name in ((mp.e, "Log"), (mpf(2), "Log2"), (mpf(10), "Log10")):
        unit = mp.log(2) / mp.log(base)
        # On this grid counted * unit + entry is exact.
        grid = int(mp.ceil(mp.log(offset * unit, 2))) - precision
        high = fit.on_grid(unit, grid)
        # Its product with `offset` is exact, so that log(1) is 0.
        low = fit.rounded(unit - high, precision - offset.bit_length())
        header.comment(f"log(2) to the base {mp.nstr(base, 6)} in two parts.")
        header.constant(f"k{name}UnitHigh{suffix}", high)
        header.constant(f"k{name}UnitLow{suffix}", low)
        logs = [-mp.log(x) / mp.log(base) for x in inverses()]
        highs = [fit.on_grid(x, grid) for x in logs]
        lows = [
            fit.rounded(x - h - offset * low, precision) for x, h in zip(logs, highs, strict=True)
        ]
        header.comment("Minus the logarithms of the inverses, less `offset` times those parts.")
        bits = [fit.bits_of(h - offset * high, precision) for h in highs]
        header.bits(f"k{name}High{suffix}", bits, precision)
        header.bits(f"k{name}Low{suffix}", [fit.bits_of(x, precision) for x in lows], precision)


def derive() -> fit.Header:
    header = fit.Header("log")
    ends = [end * x - 1 for entry, x in enumerate(inverses()) for end in interval(entry)]
    low, high = min(ends), max(ends)
    header.comment(f"Mantissas start at {mp.nstr(interval(0)[0], 8)}.")
    header.constant("kLowest", interval(0)[0])
    for suffix, precision, terms in (("F32", F32, 5), ("F64", F64, 10)):
        header.comment("Inverses of the middles of the intervals, few bits each.")
        header.bits(f"kInverse{suffix}", [fit.bits_of(x, precision) for x in inverses()], precision)
        tables(header, suffix, precision)
        for base, name in ((mp.e, "Log"), (mpf(2), "Log2"), (mpf(10), "Log10")):
            factor = 1 / mp.log(base)
            header.comment(f"log(1 + r) = {mp.nstr(factor, 8)} r + r^2 P(r) for {mp.nstr(low, 5)}")
            p = fit.fit(
                lambda r, factor=factor: log_tail(r) * factor,
                low,
                high,
                [precision] * terms,
                weight=lambda r: r,
            )
            header.lines[-1] += f" <= r <= {mp.nstr(high, 5)}, with an error below {p.bits} |r|."
            header.array(f"k{name}Series{suffix}", p.coefficients)
            if factor != 1:
                first, second = fit.words(factor, precision, precision)
                header.comment("That factor in two words.")
                header.constant(f"k{name}FactorHigh{suffix}", first)
                header.constant(f"k{name}FactorLow{suffix}", second)
    return header


if __name__ == "__main__":
    fit.main(derive)
