"""Indexing and views, with NumPy as the oracle."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import lanewise as lw
import numpy as np
import pytest
from hypothesis import given

from support import assert_same

SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)


def ramp(shape) -> np.ndarray:
    return np.arange(np.prod(shape, dtype=int)).reshape(shape)


@given(
    SHAPES.flatmap(
        lambda shape: st.tuples(
            st.just(shape), hnp.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)
        )
    )
)
def test_basic_indexing(case):
    shape, index = case
    n = ramp(shape)
    assert_same(lw.asarray(n)[index], n[index])


@given(
    SHAPES.flatmap(
        lambda shape: st.tuples(
            st.just(shape), st.lists(hnp.basic_indices(shape), min_size=1, max_size=1), st.data()
        )
    )
)
def test_indexing_of_views(case):
    shape, indices, data = case
    n, a = ramp(shape), lw.asarray(ramp(shape))
    n, a = n[indices[0]], a[indices[0]]
    for _ in range(2):
        n = np.asarray(n)
        index = data.draw(hnp.basic_indices(n.shape))
        n, a = n[index], a[index]
    assert_same(a, n)


@pytest.mark.parametrize(
    "index",
    [
        np.s_[10**30 :],
        np.s_[: 10**30],
        np.s_[:: 10**30],
        np.s_[:: -(10**30)],
        np.s_[-(10**30) :: 2],
        np.s_[5:1],
        np.s_[1:5:-1],
        np.s_[-1],
        np.s_[np.int8(2)],
        np.s_[lw.asarray(2)],
        np.s_[None, ..., None],
        np.s_[...],
        np.s_[()],
    ],
)
def test_odd_indices(index):
    for n in (np.arange(8), np.arange(48).reshape(8, 2, 3), np.arange(16).reshape(8, 2).T[::-1].T):
        assert_same(lw.asarray(n)[index], n[index if not isinstance(index, lw.Array) else 2])


@given(SHAPES, st.data())
def test_axes(shape, data):
    n, a = ramp(shape), lw.asarray(ramp(shape))
    axes = data.draw(st.permutations(range(n.ndim)))
    signed = [axis - data.draw(st.sampled_from([0, n.ndim])) for axis in axes]
    assert_same(lw.permute_dims(a, tuple(signed)), n.transpose(axes))
    assert_same(lw.transpose(a), n.T)
    assert_same(a.T, n.T)
    assert_same(a.transpose(tuple(axes)), n.transpose(axes))
    some = axes[: data.draw(st.integers(0, n.ndim))]
    assert_same(lw.flip(a, axis=tuple(some)), np.flip(n, tuple(some)))
    assert_same(lw.flip(a), np.flip(n))
    targets = data.draw(st.permutations(range(n.ndim)))[: len(some)]
    assert_same(lw.moveaxis(a, tuple(some), tuple(targets)), np.moveaxis(n, some, targets))
    if n.ndim >= 2:
        assert_same(a.mT, n.mT)
        assert_same(lw.matrix_transpose(a), n.mT)


@given(hnp.array_shapes(min_dims=0, max_dims=4, min_side=1, max_side=2), st.data())
def test_axes_of_size_one(shape, data):
    n, a = ramp(shape), lw.asarray(ramp(shape))
    ones = [axis for axis, size in enumerate(shape) if size == 1]
    chosen = tuple(data.draw(st.lists(st.sampled_from(ones), unique=True))) if ones else ()
    assert_same(lw.squeeze(a, axis=chosen), n.squeeze(chosen))
    assert_same(lw.squeeze(a), n.squeeze())
    count = data.draw(st.integers(1, 2))
    rank = n.ndim + count
    new = tuple(data.draw(st.permutations(range(rank)))[:count])
    assert_same(lw.expand_dims(a, axis=new), np.expand_dims(n, new))


@given(hnp.mutually_broadcastable_shapes(num_shapes=3, max_dims=4, max_side=4))
def test_broadcasting(shapes):
    arrays = [ramp(shape) for shape in shapes.input_shapes]
    for array in arrays:
        assert_same(
            lw.broadcast_to(lw.asarray(array), shapes.result_shape),
            np.broadcast_to(array, shapes.result_shape),
        )
    results = lw.broadcast_arrays(*map(lw.asarray, arrays))
    for result, expected in zip(results, np.broadcast_arrays(*arrays), strict=True):
        assert_same(result, expected)


def layouts(n: np.ndarray, a: lw.Array):
    yield n, a
    yield n.T, a.T
    yield n[::2], a[::2]
    yield n[..., ::-1], a[..., ::-1]
    yield n[1:, :-1], a[1:, :-1]
    yield np.broadcast_to(n[:, :1], n.shape), lw.broadcast_to(a[:, :1], a.shape)


@pytest.mark.parametrize("shape", [(4, 6), (6, 1, 4), (12, 3), (2, 2, 4, 6)])
def test_reshape_views_where_numpy_does(shape):
    for n, a in layouts(ramp(shape), lw.asarray(ramp(shape))):
        for target in [
            (-1,),
            (2, -1),
            (-1, 2),
            (1, -1, 1),
            n.shape,
            (*n.shape, 1),
            (3, -1),
            (n.shape[0], -1),
        ]:
            size = -int(np.prod(target))
            if n.size % size if -1 in target else False:
                continue
            expected = n.reshape(target)
            result = a.reshape(target)
            assert_same(result, expected)
            shares = n.size == 0 or np.shares_memory(expected, n)
            if shares:
                lw.reshape(a, target, copy=False)
            else:
                with pytest.raises(ValueError, match="reshape: copy=False"):
                    lw.reshape(a, target, copy=False)
            assert_same(lw.reshape(a, target, copy=True), expected)


def test_reshape_shares_memory():
    a = lw.zeros((2, 3))
    a.reshape(6)[4] = 1
    assert a.tolist() == [[0, 0, 0], [0, 1, 0]]
    lw.reshape(a, (6,), copy=True)[0] = 9
    a.T.reshape(6)[0] = 9  # NumPy copies here too
    assert a.tolist() == [[0, 0, 0], [0, 1, 0]]


def test_reshape_method_takes_sizes_one_by_one():
    assert lw.arange(6).reshape(2, 3).shape == (2, 3)
    assert lw.arange(6).reshape((2, 3)).shape == (2, 3)
    assert lw.arange(6).reshape(-1).shape == (6,)
    assert lw.arange(1).reshape().shape == ()


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0, 2)])
def test_empty(shape):
    n, a = np.zeros(shape), lw.zeros(shape)
    assert_same(a + 1, n + 1)
    assert_same(a.reshape(0, 5), n.reshape(0, 5))
    assert_same(lw.flip(a), np.flip(n))
    assert_same(a[..., ::2], n[..., ::2])
    a[...] = 5
    assert list(a.reshape(-1)) == []


def test_views_of_expressions_share_them():
    a = lw.arange(6) * 2
    view = a[::2]
    view[...] = 0
    assert a.tolist() == [0, 2, 0, 6, 0, 10]


def test_methods_of_ndarrays():
    host = np.arange(24.0).reshape(2, 1, 3, 4) / 7
    x = lw.asarray(host)
    for view in (lambda a: a, lambda a: a.T, lambda a: a[..., ::-2]):
        ours, theirs = view(x), view(host)
        for method, arguments in (
            ("ravel", ()),
            ("flatten", ()),
            ("round", ()),
            ("squeeze", ()),
            ("clip", (0.5, 1)),
            ("clip", (None, 1)),
            ("swapaxes", (0, -1)),
            ("swapaxes", (-3, 2)),
        ):
            expected = getattr(theirs, method)(*arguments)
            result = getattr(ours, method)(*arguments)
            assert result.shape == expected.shape and result.dtype == expected.dtype
            assert np.array_equal(np.asarray(result), expected)
    assert x.squeeze(1).shape == (2, 3, 4) and x.squeeze(axis=-3).shape == (2, 3, 4)
    out = lw.zeros(x.shape)
    assert x.round(out=out) is out and np.array_equal(np.asarray(out), host.round())
    assert x.clip(max=1, out=out) is out and np.array_equal(np.asarray(out), host.clip(max=1))
    with pytest.raises(IndexError, match="swapaxes: axis 4 is out of range for 4 axes"):
        x.swapaxes(0, 4)
    with pytest.raises(NotImplementedError, match="round: decimals=1"):
        x.round(1)


def test_flatten_copies_and_ravel_and_swapaxes_do_not():
    x = lw.zeros((2, 3))
    x.flatten().fill(1)
    assert not np.asarray(x).any()
    x.ravel()[1] = 1
    x.swapaxes(0, 1)[2].fill(2)
    assert x.tolist() == [[0, 1, 2], [0, 0, 2]]


def test_fill():
    x = lw.zeros((2, 3), dtype=lw.int32)
    assert x.fill(7) is None
    x[0].fill(np.int64(3))
    x[:, 1].fill(lw.asarray(5, dtype=lw.int32))
    assert x.tolist() == [[3, 5, 3], [7, 5, 7]]
    with pytest.raises(ValueError, match=r"fill: value has shape \(3,\)"):
        x.fill(np.ones(3))
    with pytest.raises(ValueError, match="read-only"):
        lw.broadcast_to(lw.zeros(1), (3,)).fill(1)

    @lw.jit
    def filled(x):
        y = x + 0
        y[1:].fill(4)
        return y, y.ravel().clip(0, 2).round()

    first, second = filled(lw.zeros(3))
    assert first.tolist() == [0, 4, 4] and second.tolist() == [0, 2, 2]
