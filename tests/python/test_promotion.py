"""Dtypes of results, against NumPy."""

import operator

import lanewise as lw
import numpy as np
import pytest

from support import DTYPES

OPERATORS = {
    name: getattr(operator, name)
    for name in [
        "add",
        "sub",
        "mul",
        "truediv",
        "floordiv",
        "mod",
        "pow",
        "and_",
        "or_",
        "xor",
        "lshift",
        "rshift",
        "eq",
        "lt",
    ]
}


def result_or_error(function):
    try:
        return function().dtype
    except TypeError:
        return "TypeError"


@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
def test_arrays(left, right, symbol):
    apply = OPERATORS[symbol]
    ours = result_or_error(lambda: apply(lw.ones(2, dtype=left), lw.ones(2, dtype=right)))
    numpys = result_or_error(lambda: apply(np.ones(2, left), np.ones(2, right)))
    if left == right == "bool" and symbol in ("floordiv", "mod", "pow", "lshift", "rshift"):
        assert ours == "TypeError"  # NumPy gives int8
    else:
        assert ours == numpys


@pytest.mark.parametrize("symbol", ["add", "mul", "truediv", "floordiv", "eq", "lt", "and_"])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [True, 1, 1.0])
def test_python_numbers_are_weak(dtype, number, symbol):
    apply = OPERATORS[symbol]
    for swapped in (False, True):

        def both(array, swapped=swapped):
            return apply(number, array) if swapped else apply(array, number)

        ours = result_or_error(lambda: both(lw.ones(2, dtype=dtype)))
        numpys = result_or_error(lambda: both(np.ones(2, dtype)))
        if symbol == "floordiv" and dtype == "bool" and number is True:
            assert ours == "TypeError"
        else:
            assert ours == numpys, both


@pytest.mark.parametrize("scalar", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_scalars_are_strong(dtype, scalar):
    value = np.dtype(scalar).type(1)
    expected = np.result_type(dtype, scalar)
    a = lw.ones(2, dtype=dtype)
    for result in (
        a * value,
        value * a,
        a * np.ones(2, scalar),
        np.ones(2, scalar) * a,
        lw.multiply(a, np.array(value)),
    ):
        assert isinstance(result, lw.Array)
        assert result.dtype == expected


def test_subclasses_of_numbers():
    import enum

    class Small(enum.IntEnum):
        TWO = 2

    class Half(float):
        pass

    assert (lw.ones(1, dtype=lw.int8) * Small.TWO).dtype == "int8"
    assert (lw.ones(1, dtype=lw.float32) * Half(0.5)).dtype == "float32"


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", DTYPES)
def test_result_type_says_what_happens(left, right):
    a, b = lw.ones(1, dtype=left), lw.ones(1, dtype=right)
    assert lw.result_type(a, b) == (a * b).dtype
    assert lw.where(lw.asarray(True), a, b).dtype == lw.result_type(left, right)


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_in_place_casts_are_those_of_numpy(dtype, to):
    allowed = np.can_cast(dtype, to, "same_kind")
    out = lw.zeros(2, dtype=to)
    if allowed:
        lw.positive(lw.ones(2, dtype=dtype), out=out)
        assert out.tolist() == [1, 1]
    else:
        message = f"positive: cannot store {dtype} in out of dtype {to}"
        with pytest.raises(lw.errors.DTypeError, match=message):
            lw.positive(lw.ones(2, dtype=dtype), out=out)
        assert out.tolist() == [0, 0]


def test_functions_about_dtypes():
    assert lw.isdtype(lw.float32, "real floating")
    assert not lw.isdtype(lw.float32, lw.float64)
    assert lw.can_cast(lw.int8, lw.int16) and not lw.can_cast(lw.float64, lw.float32)
    assert lw.finfo(lw.zeros(1, dtype=lw.float32)).bits == 32
    assert lw.iinfo("int16").min == -(2**15)
    info = lw.__array_namespace_info__()
    assert set(info.dtypes()) == set(DTYPES)
    assert list(info.dtypes(kind="real floating")) == ["float32", "float64"]


@pytest.mark.parametrize("name", [*DTYPES, "bool_", "float", "int", "<f4"])
def test_ways_to_name_a_dtype(name):
    expected = np.dtype(name)
    for way in (name, expected, expected.type):
        assert lw.zeros(1, dtype=way).dtype == expected
    assert lw.zeros(1, dtype=float).dtype == "float64"
    assert lw.zeros(1, dtype=bool).dtype == "bool"


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 2**70 + 1, -(2**1000)])
def test_integers_beyond_64_bits(number):
    """Floating-point arrays take the nearest number; comparisons have one answer."""
    for dtype in DTYPES:
        n = np.ones(2, dtype)
        a = lw.asarray(n)
        comparisons = ["eq", "ne", "lt", "le", "gt", "ge"]
        for name in comparisons:
            compare = getattr(operator, name)
            assert compare(a, number).tolist() == [compare(1, number)] * 2
            assert compare(number, a).tolist() == [compare(number, 1)] * 2
        if (a / 1).dtype == "float64":
            assert (a / number).tolist() == [1 / number] * 2
        if a.dtype.kind == "f":
            with np.errstate(over="ignore"):
                expected = n * n.dtype.type(float(number))
            assert (a * number).tolist() == expected.tolist()
            assert lw.where(a > 0, number, a).tolist() == expected.tolist()
            a[0] = number
            assert a[0].item() == expected[0]
        else:
            with pytest.raises((ValueError, OverflowError)):
                a + number
            if dtype != "bool":
                with pytest.raises((ValueError, OverflowError)):
                    a[0] = number
    with pytest.raises((ValueError, OverflowError)):
        lw.full(2, number)
    with pytest.raises((ValueError, OverflowError)):
        lw.asarray(number)
    with pytest.raises(OverflowError):
        lw.ones(2) * 10**400
