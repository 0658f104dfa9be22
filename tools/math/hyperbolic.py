"""Coefficients of sinh and cosh, and the piecewise polynomials of tanh in float32."""

import fit
from fit import F32, F64
from mpmath import mp, mpf

TANH_DEGREE = 7
TANH_START = mpf(1) / 8  # two intervals an octave from here
TANH_END = mpf(73) / 8  # tanh rounds to 1 before


def sinh_tail(z: mpf) -> mpf:
    """(sinh(r) - r) / r^3 for z = r^2."""
    if z < mpf(2) ** -60:
        return mpf(1) / 6 + z / 120
    r = mp.sqrt(z)
    return (mp.sinh(r) - r) / (r * z)


def cosh_tail(z: mpf) -> mpf:
    """(cosh(r) - 1) / r^2 for z = r^2."""
    if z < mpf(2) ** -60:
        return mpf(1) / 2 + z / 24
    return (mp.cosh(mp.sqrt(z)) - 1) / z


def intervals() -> list[tuple[mpf, mpf]]:
    found, start = [(mpf(0), TANH_START)], TANH_START
    while start < TANH_END:
        middle = start * 3 / 2
        found += [(start, middle), (middle, 2 * start)]
        start *= 2
    return [(low, min(high, TANH_END)) for low, high in found if low < TANH_END]


def good_centre(low: mpf, high: mpf) -> mpf:
    """A float32 at or below the middle whose tanh is nearly a float32 too."""
    if low == 0:
        return mpf(0)
    middle = fit.rounded(mp.tanh((low + high) / 2), F32)
    unit = mp.ldexp(1, mp.frexp(middle)[1] - F32)
    for step in range(10000):
        value = middle - step * unit
        centre = fit.rounded(mp.atanh(value), F32)
        if abs(mp.tanh(centre) - value) < value * mpf(2) ** -34:
            return centre
    raise ArithmeticError("no good centre")


def piece(low: mpf, high: mpf) -> tuple[mpf, fit.Fit]:
    """The centre and coefficients; of the first interval those of tanh(x) - x."""
    centre = good_centre(low, high)
    first = [0, 0] if low == 0 else [fit.rounded(mp.tanh(centre), F32)]
    p = fit.fit(
        lambda t: mp.tanh(centre + t) - (t if low == 0 else 0),
        low - centre,
        high - centre,
        [F32] * (TANH_DEGREE + 1),
        weight=lambda t: 1 / mp.tanh(centre + t),
        fixed=first,
    )
    return centre, p


def tanh_tables(header: fit.Header) -> None:
    # The index is the exponent and the first bit of the fraction, modulo 16.
    entries: list = [None] * 16
    for low, high in intervals():
        # The first interval has the index of the interval below TANH_START.
        representative = low if low > 0 else TANH_START * 3 / 4
        entries[fit.bits_of(representative, F32) >> 22 & 15] = piece(low, high)
    filler = next(entry for entry in entries if entry)
    entries = [entry or filler for entry in entries]
    bound = max((p for _, p in entries), key=lambda p: p.bound).bits
    header.comment(
        f"tanh(centre + t) = P(t), two intervals an octave, and tanh(t) = t + P(t) below\n"
        f"{mp.nstr(TANH_START, 5)}, with a relative error below {bound}.\n"
        "The index is the exponent and the first bit of the fraction, modulo 16; unused entries\n"
        "repeat others."
    )
    header.constant("kTanhFirst", TANH_START * 3 / 4)
    header.constant("kTanhStart", TANH_START)
    header.constant("kTanhEnd", TANH_END)
    header.bits("kTanhCentreF32", [fit.bits_of(c, F32) for c, _ in entries], F32)
    for power in range(TANH_DEGREE + 1):
        column = [fit.bits_of(p.coefficients[power], F32) for _, p in entries]
        header.bits(f"kTanh{power}F32", column, F32)


def derive() -> fit.Header:
    header = fit.Header("hyperbolic")
    limit = (mp.log(2) / 16 * (1 + mpf(2) ** -12)) ** 2
    for suffix, precision, terms in (("F32", F32, 2), ("F64", F64, 4)):
        p = fit.fit(sinh_tail, mpf(0), limit, [precision] * terms, weight=lambda z: z)
        header.comment(
            f"For |r| <= ln(2)/16:\nsinh(r) = r + r^3 P(r^2) with an error below {p.bits} |r|,"
        )
        header.array(f"kSinh{suffix}", p.coefficients)
        p = fit.fit(cosh_tail, mpf(0), limit, [precision] * terms, weight=lambda z: z)
        header.comment(f"cosh(r) = 1 + r^2 P(r^2) with an error below {p.bits}.")
        header.array(f"kCosh{suffix}", p.coefficients)
    tanh_tables(header)
    return header


if __name__ == "__main__":
    fit.main(derive)
