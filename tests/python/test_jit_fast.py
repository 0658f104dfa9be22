"""lanewise.jit(fast=True): what it changes, and that it changes nothing else."""

import lanewise as lw
import numpy as np
import pytest

from support import assert_same, same_bits

DTYPES = [np.float32, np.float64]


def squaring(x, n):
    """x**n as products, from the highest bit of n down."""
    result = x
    for bit in bin(n)[3:]:
        result = result * result
        if bit == "1":
            result = result * x
    return result


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [3, 4, 7, 10, 33, 64])
def test_whole_powers_are_plain_products(dtype, n, rng):
    x = rng.normal(size=1000).astype(dtype)
    fast = lw.jit(lambda x: x**n, fast=True)
    assert_same(fast(x), squaring(x, n))
    with np.errstate(all="ignore"):
        assert_same(lw.jit(lambda x: x**-n, fast=True)(x), 1 / squaring(x, n))
    assert_same(fast(x[::-3]), squaring(x, n)[::-3])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("c", [3.0, 10.0, 64.0, -3.0, -64.0, 2.5, 0.5, -0.5, -7.5])
def test_error_is_as_documented(dtype, c, rng):
    x = rng.uniform(0.3, 3, size=20000).astype(dtype)
    exact = x.astype(np.longdouble) ** np.longdouble(c)
    result = np.asarray(lw.jit(lambda x: x**c, fast=True)(x))
    ulp = np.spacing(exact.astype(dtype)).astype(np.longdouble)
    assert np.max(np.abs(result - exact) / ulp) <= abs(c) + 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_root_is_sqrt(dtype):
    x = np.array([-np.inf, -0.0, 0.0, 4.0, np.inf, -1.0], dtype)
    result = np.asarray(lw.jit(lambda x: x**0.5, fast=True)(x))
    expected = np.array([np.nan, -0.0, 0.0, 2.0, np.inf, np.nan], dtype)
    assert same_bits(result, expected)
    strict = np.asarray(lw.jit(lambda x: x**0.5)(x))
    assert strict[0] == np.inf and not np.signbit(strict[1])


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_of_products_round_once(dtype):
    low = np.finfo(dtype).eps
    a = np.array([1 + low] * 40, dtype)
    rounding = dtype(low) * dtype(low)

    def functions(a, c):
        return a * a + c, c + a * a, a * a - -c, -c - a * a, lw.square(a) + c

    c = -(a * a)
    assert rounding > 0
    for result in functions(lw.asarray(a), lw.asarray(c)):
        assert_same(result, np.zeros_like(a))
    fast = lw.jit(functions, fast=True)
    for result, sign in zip(fast(a, c), (1, 1, 1, -1, 1), strict=True):
        assert_same(result, np.full_like(a, sign * rounding))
    # A product that something else needs has its rounding already.

    @lw.jit(fast=True)
    def f(a, c):
        product = a * a
        return product + c, product

    shared, product = f(a, c)
    assert_same(shared, np.zeros_like(a))
    assert_same(product, a * a)


def test_integers_are_as_ever():
    x = np.arange(-5, 6)
    f = lw.jit(lambda x: x**3 * 2 + x, fast=True)
    assert_same(f(x), x**3 * 2 + x)


@pytest.mark.parametrize("fast_first", [True, False])
def test_strict_and_fast_share_nothing(fast_first, rng):
    x = rng.normal(size=999).astype(np.float32)
    c = float(rng.integers(3, 9))

    def f(x):
        return x**c

    order = [True, False] if fast_first else [False, True]
    results = {fast: np.asarray(lw.jit(f, fast=fast)(x)) for fast in order}
    assert not same_bits(results[True], results[False])
    assert same_bits(results[False], np.asarray(lw.asarray(x) ** c))


def test_as_decorator_and_inside_others(rng):
    x = rng.normal(size=100)

    @lw.jit(fast=True)
    def cube(x):
        return x**3

    assert_same(cube(x), x * x * x)
    outer = lw.jit(lambda x: cube(x))
    assert_same(outer(x), np.asarray(lw.asarray(x) ** 3))


def test_other_functions_keep_their_bits(rng):
    x = rng.normal(size=100)

    def f(x):
        return lw.exp(x), lw.sin(x), lw.log(lw.abs(x)), lw.abs(x) ** 1.7, lw.erf(x)

    for fast, strict in zip(lw.jit(f, fast=True)(x), lw.jit(f)(x), strict=True):
        assert_same(fast, strict)
