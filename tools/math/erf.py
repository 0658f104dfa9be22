"""Coefficients for erf and erfc: polynomials on 16 intervals, one table a coefficient."""

from functools import cache

from fit import F32, F64, Header, bits_of, fit, main, rounded
from mpmath import mp, mpf

erf = cache(mp.erf)

ERF_SHIFT = mpf(1) / 2
ERFC_SHIFT = mpf(2)


def interval(index: int, shift: mpf) -> tuple[mpf, mpf]:
    """The numbers x >= 0 for which the last two exponent bits and the first two of the fraction of
    x + shift are `index`; x + shift may lie in four octaves. A little more, for its rounding.
    """
    first = int(mp.log(shift, 2))
    exponent = first + (index // 4 - 3 - first) % 4
    low = mp.ldexp(mpf(4 + index % 4), exponent - 2) - shift
    return max(low - mpf(2) ** -20, mpf(0)), low + mp.ldexp(1, exponent - 2)


def centre(f, low: mpf, high: mpf, bits: int, middle: mpf) -> mpf:
    """A number near this part of the interval where f is nearly a number of that many bits."""
    step = (high - low) / 2**12
    tried = [rounded(low + (high - low) * middle + k * step, 20) for k in range(-100, 101)]
    return min(tried, key=lambda c: abs(f(c) / rounded(f(c), bits) - 1))


def erf_rows(bits: int, count: int) -> tuple[list[list[mpf]], mpf]:
    """For each interval: its centre c, erf(c), and the coefficients of (erf(c + t) - erf(c)) / t;
    for the first one, with c = 0, those of erf(t) / t - 1. And the largest relative error.
    """
    rows, worst = [], mpf(0)
    for index in range(16):
        low, high = interval(index, ERF_SHIFT)
        if low == 0:
            found = fit(
                lambda z: erf(mp.sqrt(z)) / mp.sqrt(z) - 1,
                mpf(2) ** -40,
                high**2,
                [bits] * (count // 2),
                weight=lambda z: mp.sqrt(z) / erf(mp.sqrt(z)),
            )
            odd = [[c, mpf(0)] for c in found.coefficients]
            rows.append([mpf(0), mpf(0), *sum(odd, [])])
        else:
            # Where erf is small, its smallest values shall be nearest to the centre.
            c = centre(erf, low, high, bits, mpf("0.42" if low < 0.5 else "0.5"))
            start = rounded(erf(c), bits)
            found = fit(
                lambda t, c=c, start=start: (erf(c + t) - start) / t,
                low - c,
                high - c,
                [bits] * count,
                weight=lambda t, c=c: t / erf(c + t),
                rounds=2,
                in_turn=3,
            )
            rows.append([c, start, *found.coefficients])
        worst = max(worst, found.bound)
    return rows, worst


@cache
def scaled_erfc(x):
    """e^(x^2) erfc(x)"""
    return mp.exp(x * x) * mp.erfc(x)


def erfc_rows(count: int) -> tuple[list[list[mpf]], mpf]:
    """For each interval: its centre c and the coefficients of e^(x^2) erfc(x) for x = c + t."""
    rows, worst = [], mpf(0)
    for index in range(16):
        low, high = interval(index, ERFC_SHIFT)
        c = centre(scaled_erfc, low, high, F64, mpf("0.5"))
        found = fit(
            lambda t, c=c: scaled_erfc(c + t),
            low - c,
            high - c,
            [F64] * count,
            weight=lambda t, c=c: 1 / scaled_erfc(c + t),
            rounds=2,
            in_turn=3,
        )
        rows.append([c, *found.coefficients])
        worst = max(worst, found.bound)
    return rows, worst


def derive() -> Header:
    header = Header("erf")
    tables = [
        ("Erf", "F32", F32, lambda: erf_rows(F32, 6)),
        ("Erf", "F64", F64, lambda: erf_rows(F64, 14)),
        ("Erfc", "F32", F64, lambda: erfc_rows(9)),
        ("Erfc", "F64", F64, lambda: erfc_rows(15)),
    ]
    for name, suffix, bits, make in tables:
        rows, worst = make()
        header.comment(
            f"{name.lower()} of float{suffix[1:]} numbers on 16 intervals: a table of their centres"
            f" and one of each\ncoefficient. Relative error 2^{float(mp.log(worst, 2)) + 0.05:.1f}."
        )
        columns = [bits_of(x, bits) for column in zip(*rows, strict=True) for x in column]
        header.bits(f"k{name}{suffix}", columns, bits)
    return header


if __name__ == "__main__":
    main(derive)
