"""Writing through views, and what expressions written before then show."""

import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import lanewise as lw
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule
from lanewise import errors

from support import assert_same


def flipped(n: np.ndarray) -> np.ndarray:
    """A view also for 0 axes, where np.flip gives a scalar."""
    return n[(*[slice(None, None, -1)] * n.ndim, ...)]


@lw.jit
def plus_reversed(x):
    return x * 2 + lw.flip(x)


class Writing(RuleBasedStateMachine):
    """The same views, writes and expressions on lanewise and NumPy at once.

    NumPy computes expressions at once, so that what lanewise shows later must be those values.
    """

    arrays = Bundle("arrays")
    expressions = Bundle("expressions")

    def __init__(self):
        super().__init__()
        self.pairs = []
        self.pending = []
        self.counter = 0

    def number(self) -> int:
        self.counter += 1
        return self.counter

    def keep(self, a, n):
        self.pairs.append((a, n))
        return a, n

    @initialize(target=arrays, shape=hnp.array_shapes(min_dims=1, max_dims=3, max_side=5))
    def start(self, shape):
        n = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
        return self.keep(lw.asarray(n), n.copy())

    @rule(target=arrays, pair=arrays, data=st.data())
    def slice(self, pair, data):
        a, n = pair
        index = data.draw(hnp.basic_indices(n.shape, allow_newaxis=True))
        view = n[index]
        if not isinstance(view, np.ndarray):
            self.keep(a[index], np.asarray(view))  # a value: it changes with nothing else
            index = (*index, ...) if isinstance(index, tuple) else (index, ...)
            view = n[index]
        return self.keep(a[index], view)

    @rule(target=arrays, pair=arrays)
    def transpose(self, pair):
        return self.keep(pair[0].T, pair[1].T)

    @rule(target=arrays, pair=arrays)
    def flip(self, pair):
        return self.keep(lw.flip(pair[0]), flipped(pair[1]))

    @rule(target=arrays, pair=arrays)
    def reshape(self, pair):
        a, n = pair
        return self.keep(a.reshape(-1), n.reshape(-1))

    @rule(target=arrays, pair=arrays)
    def expand(self, pair):
        a, n = pair
        return self.keep(lw.expand_dims(a, axis=0), np.expand_dims(n, 0))

    @rule(target=arrays, pair=arrays)
    def copy(self, pair):
        return self.keep(pair[0].copy(), pair[1].copy())

    @rule(target=expressions, x=arrays, factor=st.integers(-3, 3))
    def expression(self, x, factor):
        a, n = x
        pair = (a * factor + a[...], np.asarray(n * factor + n))
        self.pending.append(pair)
        return pair

    @rule(target=arrays, pair=expressions)
    def adopt(self, pair):
        a, n = pair
        return self.keep(a, n)

    @rule(pair=arrays)
    def fill(self, pair):
        a, n = pair
        value = self.number()
        a[...] = value
        n[...] = value

    @rule(pair=arrays, data=st.data())
    def assign(self, pair, data):
        a, n = pair
        index = data.draw(hnp.basic_indices(n.shape))
        value = self.number()
        a[index] = value
        n[index] = value

    @rule(pair=arrays, operand=st.sampled_from(["add", "multiply", "shift"]))
    def in_place(self, pair, operand):
        a, n = pair
        if operand == "add":
            value = self.number()
            a += value
            n += value
        elif operand == "multiply":
            a *= 3
            n *= 3
        else:
            a >>= 1
            n >>= 1

    @rule(pair=arrays)
    def add_itself_reversed(self, pair):
        a, n = pair
        a += lw.flip(a)
        n += flipped(n).copy()

    @rule(pair=arrays)
    def copy_from_reversed(self, pair):
        a, n = pair
        a[...] = lw.flip(a)
        n[...] = flipped(n).copy()

    @rule(target=arrays, x=arrays, y=arrays)
    def out(self, x, y):
        (a, n), (b, m) = x, y
        if n.shape == m.shape:
            assert lw.add(a, 1, out=b) is b
            np.add(n, 1, out=m)
        return y

    @rule(target=arrays, x=arrays, y=arrays)
    def out_of_jit(self, x, y):
        (a, n), (b, m) = x, y
        if n.shape == m.shape:
            assert plus_reversed(a, out=b) is b
            m[...] = n * 2 + flipped(n)
        return y

    @rule(pair=arrays)
    def evaluate(self, pair):
        lw.eval(pair[0])

    @rule()
    def look(self):
        for a, n in self.pairs + self.pending:
            assert_same(a, n)

    @invariant()
    def shapes_agree(self):
        for a, n in self.pairs:
            assert a.shape == n.shape

    def teardown(self):
        self.look()


TestWriting = Writing.TestCase
TestWriting.settings = settings(max_examples=60, stateful_step_count=25)


def test_row_is_a_view():
    x = lw.ones((2, 3))
    row = x[0]
    row[...] = 0
    x[:, 0] += 1
    assert x.tolist() == [[1, 0, 0], [2, 1, 1]]
    assert row.tolist() == [1, 0, 0]


def test_elements_are_values():
    x = lw.arange(4)
    first, last, view = x[0], x[3], x[0, ...]
    for element in x:
        element += 100
    x[0], x[3] = x[3], x[0]
    assert x.tolist() == [3, 1, 2, 0]
    assert (first.item(), last.item(), view.item()) == (0, 3, 3)
    first += 5
    assert x[0].item() == 3
    view[...] = 7
    assert x[0].item() == 7
    zero = lw.asarray(1)
    value, view = zero[()], zero[...]
    zero += 1
    assert (value.item(), view.item()) == (1, 2)


MASKS = [(5, 4), (5,), (5, 4, 3)]


@pytest.mark.parametrize("shape", MASKS)
@pytest.mark.parametrize("dtype", ["float32", "int16", "bool"])
@pytest.mark.parametrize("kind", ["Array", "ndarray"])
@pytest.mark.parametrize("value", [0, 2.5, True, np.float64(7), "row"])
def test_assignment_by_mask(shape, dtype, kind, value):
    rng = np.random.default_rng(3)
    n = rng.integers(0, 9, (5, 4, 3)).astype(dtype)
    mask = rng.random(shape) < 0.5
    x = lw.asarray(n)
    before, view = x + x, x[::-1, 1]
    expected = n + n
    if isinstance(value, str):
        value = rng.integers(0, 9, (5, 4, 3)[len(shape) :])
    n[mask] = value
    x[mask if kind == "ndarray" else lw.asarray(mask)] = value
    assert_same(x, n)
    assert_same(view, n[::-1, 1])
    assert_same(before, expected)
    n.T[rng.random(3) < 2] = 1
    x.T[lw.ones(3, dtype=bool)] = 1
    assert_same(x, n)


@pytest.mark.parametrize("shape", [(4,), (5, 3), (5, 4, 3, 1)])
def test_masks_that_do_not_fit(shape):
    x = lw.zeros((5, 4, 3))
    with pytest.raises(errors.IndexError, match="a mask of shape"):
        x[lw.ones(shape, dtype=bool)] = 1
    assert not x.any()


def test_mask_with_a_value_for_each_element():
    x = lw.zeros((5, 4))
    with pytest.raises(errors.UnsupportedError, match=r"lanewise\.where"):
        x[x == 0] = lw.ones(20)
    with pytest.raises(errors.ShapeError):
        x[lw.ones(5, dtype=bool)] = lw.ones(3)


def test_expressions_keep_old_values():
    x = lw.arange(4)
    before = x + 1
    later = x[::2] * 10
    x[...] = 100
    x += 1
    after = x + 1
    assert before.tolist() == [1, 2, 3, 4]
    assert later.tolist() == [0, 20]
    assert after.tolist() == [102] * 4


def test_ndarrays_keep_old_values():
    x = lw.arange(4)
    view = np.asarray(x)
    memory = memoryview(x)
    x[0] = 50
    lw.eval(x)
    x += 1
    lw.eval(x)
    assert view.tolist() == memory.tolist() == [0, 1, 2, 3]
    assert x.tolist() == [51, 2, 3, 4]


def test_assigned_values():
    x = lw.zeros((2, 3))
    x[0] = [1, 2, 3]
    x[1] = np.array([4, 5, 6], np.int8)
    assert x.tolist() == [[1, 2, 3], [4, 5, 6]]
    x[:, 1] = lw.asarray([7, 8])
    x[0, 0] = True
    x[1, 2] = np.float32(0.5)
    assert x.tolist() == [[1, 7, 3], [4, 8, 0.5]]
    x[...] = lw.asarray([[[1.0, 2.0, 3.0]]])  # as in NumPy, leading axes of size 1 go
    assert x.tolist() == [[1, 2, 3], [1, 2, 3]]


def test_assignment_casts():
    x = lw.zeros(3, dtype=lw.int32)
    x[...] = lw.asarray([1.9, -1.9, 3.0])
    assert x.tolist() == [1, -1, 3]
    x[0] = 7.7
    assert x.tolist() == [7, -1, 3]


def test_value_may_be_the_array_itself():
    x = lw.arange(5)
    x[1:] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3]
    x[::-1] = x
    assert x.tolist() == [3, 2, 1, 0, 0]


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "floor_divide", "remainder"])
def test_in_place_operators(name):
    import operator

    symbol = {"subtract": "sub", "multiply": "mul", "floor_divide": "floordiv", "remainder": "mod"}
    in_place = getattr(operator, "i" + symbol.get(name, name))
    x, n = lw.asarray([7, -9, 30]), np.array([7, -9, 30])
    same = in_place(x, 4)
    assert same is x
    assert_same(x, in_place(n, 4))
    assert_same(in_place(x[1:], lw.asarray([2, 5])), in_place(n[1:], np.array([2, 5])))
    assert_same(x, n)


def test_more_in_place_operators():
    x = lw.asarray([1.5, 2.5])
    x /= 2
    x **= 2
    assert x.tolist() == [0.5625, 1.5625]
    y = lw.asarray([6, 3])
    y &= 5
    y |= 8
    y ^= 1
    y <<= 2
    assert y.tolist() == [((6 & 5 | 8) ^ 1) << 2, ((3 & 5 | 8) ^ 1) << 2]


def test_in_place_with_ndarray():
    x = lw.asarray([1.0, 2.0])
    x += np.array([1, 2])
    assert x.tolist() == [2, 4]
    n = np.array([1.0, 2.0])
    n += lw.asarray([10.0, 20.0])
    assert isinstance(n, np.ndarray) and n.tolist() == [11, 22]


def test_out_is_returned():
    x, out = lw.asarray([1.0, 4.0]), lw.zeros((2, 2))
    column = out[:, 1]
    assert lw.sqrt(x, out=column) is column
    assert out.tolist() == [[0, 1], [0, 2]]
    ndarray = np.zeros(2)
    assert lw.add(x, 1, out=ndarray) is ndarray
    assert ndarray.tolist() == [2, 5]
    assert lw.where(x > 2, x, 0, out=ndarray) is ndarray
    assert lw.clip(x, 2, out=ndarray) is ndarray
    assert ndarray.tolist() == [2, 4]


def test_out_may_overlap():
    x = lw.arange(6)
    lw.add(x[:-1], 0, out=x[1:])
    assert x.tolist() == [0, 0, 1, 2, 3, 4]
    lw.multiply(x[::-1], 2, out=x)
    assert x.tolist() == [8, 6, 4, 2, 0, 0]


def test_long_loop_of_updates_is_linear():
    x = lw.zeros(100)
    for i in range(2000):
        x[i % 100] += i
    n = np.zeros(100)
    np.add.at(n, np.arange(2000) % 100, np.arange(2000))
    assert_same(x, n)


def test_foreign_memory_is_written_at_once():
    n = np.zeros((3, 4))
    a = lw.asarray(n, copy=False)
    a[1, ::2] = 5
    a[:, 3] += 1
    assert n.tolist() == [[0, 0, 0, 1], [5, 0, 5, 1], [0, 0, 0, 1]]
    column = lw.asarray(n[::-1, ::2], copy=False)
    column[0] = 7
    assert n[2].tolist() == [7, 0, 7, 1]
    n[0, 0] = 3
    assert column.tolist()[2] == [3, 0]
