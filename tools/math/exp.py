"""Tables and coefficients of exp, exp2 and expm1."""

import fit
from fit import F32, F64
from mpmath import mp, mpf

STEPS = 8  # table entries: powers of two in steps of 1/8


def exp_tail(x: mpf) -> mpf:
    """(exp(x) - 1 - x) / x^2."""
    if abs(x) < mpf(2) ** -60:
        return mpf(1) / 2 + x / 6
    return (mp.exp(x) - 1 - x) / x**2


def exp2_tail(x: mpf) -> mpf:
    """(2^x - 1) / x."""
    if abs(x) < mpf(2) ** -100:
        return mp.log(2)
    return mp.expm1(x * mp.log(2)) / x


def tables(header: fit.Header, suffix: str, precision: int) -> None:
    fraction = precision - 1
    high = [fit.rounded(mpf(2) ** (mpf(j) / STEPS), precision) for j in range(STEPS)]
    low = [mpf(2) ** (mpf(j) / STEPS) / t - 1 for j, t in enumerate(high)]
    header.comment(
        f"2^(j/{STEPS}) as bits, less j where the exponent's fraction bits are added, and what\n"
        "each rounded power is short of, relative to it."
    )
    shift = fraction - STEPS.bit_length() + 1
    bits = [fit.bits_of(t, precision) - (j << shift) for j, t in enumerate(high)]
    header.bits(f"kPower{suffix}", bits, precision)
    # 21 bits are plenty, and leave the low half of a float64 zero, which saves shuffles.
    low = [fit.rounded(t, 21) for t in low]
    header.bits(f"kPowerLow{suffix}", [fit.bits_of(t, precision) for t in low], precision)


def derive() -> fit.Header:
    header = fit.Header("exp")
    for suffix, precision, exp_terms, expm1_terms, exp2_terms in (
        ("F32", F32, 3, 3, 4),
        ("F64", F64, 6, 7, 7),
    ):
        tables(header, suffix, precision)
        # The integer multiplied has at most 14 bits in float64, 11 in float32.
        step = mp.log(2) / STEPS
        high = fit.rounded(step, precision - (14 if precision == F64 else 11))
        header.comment(f"ln(2)/{STEPS} in two parts; products of the first are exact.")
        header.constant(f"kStepHigh{suffix}", high)
        header.constant(f"kStepLow{suffix}", fit.rounded(step - high, precision))
        limit = step / 2 * (1 + mpf(2) ** -12)
        p = fit.fit(exp_tail, -limit, limit, [precision] * exp_terms, weight=lambda x: x**2)
        header.comment(f"e^r = 1 + r + r^2 P(r) with an error below {p.bits} for |r| <= ln(2)/16.")
        header.array(f"kExp{suffix}", p.coefficients)
        p = fit.fit(exp_tail, -limit, limit, [precision] * expm1_terms, weight=lambda x: x)
        header.comment(f"The same with an error below {p.bits} |r|.")
        header.array(f"kExpm1{suffix}", p.coefficients)
        limit = mpf(1) / (2 * STEPS)
        p = fit.fit(exp2_tail, -limit, limit, [precision] * exp2_terms, weight=lambda x: x)
        header.comment(f"2^r = 1 + r P(r) with an error below {p.bits} for |r| <= 1/16.")
        header.array(f"kExp2{suffix}", p.coefficients)
    header.comment(f"{STEPS}/ln(2)")
    header.constant("kStepsPerUnit", fit.rounded(STEPS / mp.log(2), F64))
    return header


if __name__ == "__main__":
    fit.main(derive)
