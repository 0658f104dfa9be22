"""Coefficients for sin, cos and tan: the reduction by pi/2 and polynomials around 0."""

from fit import F32, F64, Header, bits_of, fit, main, on_grid, rounded, words
from mpmath import mp, mpf


def sine_tail(z):
    """(r - sin r) / r^3 for z = r^2."""
    r = mp.sqrt(z)
    return (r - mp.sin(r)) / r**3


def cosine_tail(z):
    """(cos r - 1 + r^2 / 2) / r^4 for z = r^2."""
    r = mp.sqrt(z)
    return (mp.cos(r) - 1 + z / 2) / z**2


def tangent_tail(z):
    """(2 tan(r / 2) - r) / r^3 for z = r^2."""
    r = mp.sqrt(z)
    return (2 * mp.tan(r / 2) - r) / r**3


def whole_tangent_tail(z):
    """(tan r - r) / r^3 for z = r^2."""
    r = mp.sqrt(z)
    return (mp.tan(r) - r) / r**3


def far_words() -> list[int]:
    """64 zero bits, then the bits of 2 / pi, in words of 64 bits."""
    with mp.workprec(32 * 64):
        integer = int(mp.floor(mp.ldexp(2 / mp.pi, 31 * 64)))
    return [integer >> 64 * (31 - i) & 2**64 - 1 for i in range(32)]


def far_parts() -> list[list[mpf]]:
    """For j in 0..15: 2 / pi 2^8j modulo 2^9 as sums of three numbers of 29, 29 and 53 bits."""
    parts = [[], [], []]
    for j in range(16):
        with mp.workprec(400):
            rest = mp.fmod(mp.ldexp(2 / mp.pi, 8 * j), 512)
        for part, lowest in zip(parts, (-20, -49, None), strict=True):
            chunk = rounded(rest, F64) if lowest is None else on_grid(rest, lowest)
            part.append(chunk)
            rest -= chunk
    return parts


def half_pi(bits: int) -> list[mpf]:
    """pi / 2 in three words, all but the last rounded down: what they leave is positive."""
    out, rest = [], mp.pi / 2
    for _ in range(2):
        lowest = mp.frexp(rest)[1] - bits
        out.append(mp.ldexp(mp.floor(mp.ldexp(rest, -lowest)), lowest))
        rest -= out[-1]
    return [*out, rounded(rest, bits)]


def derive() -> Header:
    header = Header("trigonometric")
    # The quotient by pi/2 that is rounded to an integer is slightly wrong, so r may exceed pi/4.
    largest = {F32: (mp.pi / 4 * mpf("1.003")) ** 2, F64: (mp.pi / 4 * mpf("1.000001")) ** 2}
    counts = {F32: (3, 3, 7), F64: (6, 6, 9)}
    # float32 does without halving the angle.
    tangent = {
        F32: (whole_tangent_tail, lambda z: z * mp.sqrt(z) / mp.tan(mp.sqrt(z))),
        F64: (tangent_tail, lambda z: z * mp.sqrt(z) / mp.tan(mp.sqrt(z) / 2) / 2),
    }
    for bits, suffix in (F32, "F32"), (F64, "F64"):
        header.comment("pi / 2 in three words and its reciprocal.")
        header.array(f"kHalfPi{suffix}", half_pi(bits))
        header.constant(f"kTwoOverPi{suffix}", words(2 / mp.pi, bits)[0])
        sines, cosines, tangents = counts[bits]
        polynomials = [
            ("Sine", sine_tail, sines, lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z))),
            ("Cosine", cosine_tail, cosines, lambda z: z**2 / mp.cos(mp.sqrt(z))),
            ("Tangent", tangent[bits][0], tangents, tangent[bits][1]),
        ]
        for name, f, count, weight in polynomials:
            found = fit(f, mpf(2) ** -20, largest[bits], [bits] * count, weight=weight)
            header.comment(
                f"{f.__doc__.splitlines()[0]} Relative error of the function {found.bits}."
            )
            header.array(f"k{name}{suffix}", found.coefficients)
    header.comment("64 zero bits, then the bits of 2 / pi.")
    header.bits("kFarWords", far_words(), F64)
    header.comment("For j in 0..15: 2 / pi 2^8j modulo 2^9, as sums of three numbers.")
    for index, part in enumerate(far_parts()):
        header.bits(f"kFarPart{index}", [bits_of(x, F64) for x in part], F64)
    return header


if __name__ == "__main__":
    main(derive)
