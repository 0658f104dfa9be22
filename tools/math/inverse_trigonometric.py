"""Coefficients and tables for asin, acos, atan and atan2."""

from fit import F32, F64, Header, bits_of, fit, main, on_grid, rounded
from mpmath import mp, mpf


def arc_sine_tail(z):
    """(asin s - s) / s^3 for z = s^2."""
    s = mp.sqrt(z)
    return (mp.asin(s) - s) / s**3


def arc_tangent_tail(z):
    """(atan t - t) / t^3 for z = t^2."""
    t = mp.sqrt(z)
    return (mp.atan(t) - t) / t**3


# Centres of the intervals of atan, by the last exponent bit but one, the last one and the first bit
# of the fraction: from 2, 3 and up (infinity), not used, below .5, from .5, .75, 1, 1.5.
CENTRES = [mpf("2.5"), None, None, mpf(0), mpf(".5625"), mpf(".875"), mpf("1.25"), mpf("1.75")]


def centre_tables(header: Header) -> None:
    angles = [mp.pi / 2 if c is None else mp.atan(c) for c in CENTRES]
    centres = [c or mpf(0) for c in CENTRES]
    for bits, suffix, grid in (F32, "F32", -22), (F64, "F64", -50):
        high = [on_grid(a, grid) for a in angles]
        low = [rounded(a - h, bits) for a, h in zip(angles, high, strict=True)]
        header.comment(f"Centres, their arc tangents as multiples of 2^{grid}, and what is left.")
        for name, values in ("Centre", centres), ("Angle", high), ("AngleLow", low):
            header.bits(f"k{name}{suffix}", [bits_of(x, bits) for x in values], bits)


def derive() -> Header:
    header = Header("inverse_trigonometric")
    for bits, suffix, sines, tangents in (F32, "F32", 5, 5), (F64, "F64", 12, 12):
        polynomials = [
            ("ArcSine", arc_sine_tail, sines, mp.asin),
            ("ArcTangent", arc_tangent_tail, tangents, mp.atan),
        ]
        for name, f, count, function in polynomials:
            found = fit(
                f,
                mpf(2) ** -20,
                mpf("0.25"),
                [bits] * count,
                weight=lambda z, function=function: z * mp.sqrt(z) / function(mp.sqrt(z)),
            )
            header.comment(f"{f.__doc__} Relative error of the function {found.bits}.")
            header.array(f"k{name}{suffix}", found.coefficients)
    header.comment("pi, pi / 2 in two words; the first ones of multiples of 2^-50 and 2^-22.")
    for bits, suffix, grid in (F32, "F32", -22), (F64, "F64", -50):
        high = on_grid(mp.pi, grid)
        header.array(f"kPi{suffix}", [high, rounded(mp.pi - high, bits)])
    centre_tables(header)
    return header


if __name__ == "__main__":
    main(derive)
