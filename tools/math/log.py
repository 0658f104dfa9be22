"""Tables and coefficients of log, log2, log10 and log1p."""

import fit
from fit import F32, F64
from mpmath import mp, mpf

STEPS = 8
FIRST = mpf(7) / 2  # mantissas start this many steps above 1, halved


def log_tail(r: mpf) -> mpf:
    """(log(1 + r) - r) / r^2."""
    if abs(r) < mpf(2) ** -60:
        return -mpf(1) / 2 + r / 3
    return (mp.log1p(r) - r) / r**2


def interval(entry: int, steps: int, first: mpf) -> tuple[mpf, mpf]:
    """The mantissas that use a table entry; all of them start at (1 + first / steps) / 2."""

    def mantissa(position: mpf) -> mpf:
        return (1 + position / steps) / 2 if position < steps else position / steps

    return mantissa(first + entry), mantissa(first + entry + 1)


def inverses(steps: int, first: mpf) -> list[mpf]:
    """Numbers near 1 / mantissa with mantissa * inverse - 1 small and exact."""
    return [inverse(*interval(entry, steps, first)) for entry in range(steps)]


def inverse(low: mpf, high: mpf) -> mpf:
    if low < 1 < high:
        return mpf(1)
    best, smallest = mpf(0), mpf(1)
    for bits in range(1, 9):
        # The last bit of mantissa * inverse, in units of the last bit of a number in [1, 2), and
        # so what the difference may reach.
        reach = mpf(2) ** -bits * (mpf(1) / 2 if high <= 1 else 1) * 2
        for numerator in range(2 ** (bits - 1), 2 ** (bits + 1)):
            candidate = mpf(numerator) / 2**bits
            rest = max(abs(low * candidate - 1), abs(high * candidate - 1))
            if rest <= reach and rest < smallest:
                best, smallest = candidate, rest
    return best


def rest_range(steps: int, first: mpf) -> tuple[mpf, mpf]:
    """The extremes of mantissa * inverse - 1."""
    numbers = [
        end * x - 1
        for entry, x in enumerate(inverses(steps, first))
        for end in interval(entry, steps, first)
    ]
    return min(numbers), max(numbers)


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
        logs = [-mp.log(x) / mp.log(base) for x in inverses(STEPS, FIRST)]
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
    low, high = rest_range(STEPS, FIRST)
    header.comment(f"Mantissas start at {mp.nstr(interval(0, STEPS, FIRST)[0], 8)}.")
    header.constant("kLowest", interval(0, STEPS, FIRST)[0])
    for suffix, precision, terms in (("F32", F32, 5), ("F64", F64, 10)):
        header.comment("Inverses of the middles of the intervals, few bits each.")
        header.bits(
            f"kInverse{suffix}",
            [fit.bits_of(x, precision) for x in inverses(STEPS, FIRST)],
            precision,
        )
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
