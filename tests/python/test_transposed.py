"""Operands that lie across the way a kernel walks: copied in tiles."""

import lanewise as lw
import numpy as np
import pytest

from support import assert_same

SIZES = [(16, 4), (17, 5), (64, 64), (65, 300), (300, 65), (1, 100), (33, 3), (1000, 7)]
DTYPES = ["float32", "float64", "int8", "int16", "int32", "uint64", "bool"]


def values(shape, dtype):
    return np.random.default_rng(1).integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SIZES)
def test_with_row_major_operand(shape, dtype):
    a, b = values(shape, dtype), values(shape[::-1], dtype)
    function = lw.jit(lambda a, b: lw.maximum(a, b.T))
    assert_same(function(a, b), np.maximum(a, b.T))
    assert_same(function(lw.asarray(a), lw.asarray(b)), np.maximum(a, b.T))


@pytest.mark.parametrize("shape", SIZES)
def test_copy_and_write(shape):
    a = values(shape, np.float32)
    x = lw.asarray(a)
    assert_same(lw.jit(lambda a: a.T + 0)(x), a.T + 0)
    target = lw.zeros(shape[::-1], dtype=lw.float32)
    lw.jit(lambda a: a.T * 2)(x, out=target)
    assert_same(target, a.T * 2)
    lw.jit(lambda a: a * 3)(x, out=target.T)
    assert_same(target, a.T * 3)


def test_several_and_flipped():
    a, b, c = (values(shape, np.float64) for shape in ((70, 90), (90, 70), (90, 140)))
    function = lw.jit(lambda a, b, c: a + b.T * c[::-1, ::2].T - lw.flip(b).T)
    assert_same(function(a, b, c), a + b.T * c[::-1, ::2].T - b[::-1, ::-1].T)


@pytest.mark.parametrize("axes", [(2, 1, 0), (0, 2, 1), (1, 0, 2), (2, 0, 1), (1, 2, 0)])
def test_three_axes(axes):
    a = values((20, 33, 70), np.float32)
    b = values(np.transpose(a, axes).shape, np.float32)
    function = lw.jit(lambda a, b: lw.permute_dims(a, axes) - b)
    assert_same(function(a, b), np.transpose(a, axes) - b)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads(threads):
    before = lw.get_num_threads()
    lw.set_num_threads(threads)
    try:
        a, b = values((1000, 1100), np.float32), values((1100, 1000), np.float32)
        assert_same(lw.jit(lambda a, b: a + b.T)(a, b), a + b.T)
    finally:
        lw.set_num_threads(before)


def test_updated_in_place():
    a = values((200, 200), np.float64)
    x = lw.asarray(a)
    x += x.T
    assert_same(x, a + a.T)
    function = lw.jit(lambda a: a + a.T)
    y = lw.asarray(a)
    function(y, out=y)
    assert_same(y, a + a.T)
