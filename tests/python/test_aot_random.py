"""Random functions of symbolic sizes: compiled ahead of time they give the bits of the JIT."""

import random

import lanewise as lw
import numpy as np
import pytest

UNARY = (lw.sin, lw.exp, lw.tanh, lw.abs, lw.negative, lw.square, lw.sqrt, lw.floor, lw.isnan)
BINARY = (lw.add, lw.subtract, lw.multiply, lw.maximum, lw.hypot, lw.less, lw.divide)
REDUCTIONS = (lw.sum, lw.max, lw.min, lw.mean)


class RandomFunction:
    """Steps on a list of arrays: of shape (n, m), (n, 1), (1, m) and (1, 1)."""

    def __init__(self, seed):
        self.seed = seed

    def __call__(self, x, y, a):
        choose = random.Random(self.seed)
        arrays = [x, y[None, :], x[:, :1] * a, x]
        for _ in range(choose.randint(3, 25)):
            arrays.append(self.step(choose, arrays))
        return tuple(choose.sample(arrays[4:], min(3, len(arrays) - 4)))

    def step(self, choose, arrays):
        one, other = (
            lw.where(each, 1.5, 0) if each.dtype == lw.bool else each
            for each in (choose.choice(arrays), choose.choice(arrays))
        )
        kind = choose.randrange(9)
        if kind < 2:
            return choose.choice(UNARY)(one)
        if kind < 5:
            return choose.choice(BINARY)(one, other)
        if kind == 5:
            axis = choose.choice((0, 1, (0, 1)))
            return choose.choice(REDUCTIONS)(one, axis=axis, keepdims=True)
        if kind == 6:
            return self.view(choose, one)
        if kind == 7:
            return lw.where(one > other, one, a_number(choose))
        return one * a_number(choose) + one.shape[0]

    def view(self, choose, one):
        """Another order of the same elements."""
        views = (
            lambda: one[::-1],
            lambda: one[:, ::-1],
            lambda: one.T.reshape(one.shape),
            lambda: one[::-1, ::-1],
            lambda: one.reshape(-1).reshape(one.shape),
            lambda: one[:1] + one[-1:],
        )
        return choose.choice(views)()


def a_number(choose):
    return choose.choice((0, 1, 2, -1, 0.5, 0.3, 3, 1e-3))


def layouts(x):
    yield x
    yield np.asfortranarray(x)
    yield np.repeat(x[::-1], 2, axis=1)[::-1, ::2]


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind == "f":
        if not (np.isnan(a) == np.isnan(b)).all():
            return False
        a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    return a.tobytes() == b.tobytes()


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("block", range(4))
def test_random_functions(tmp_path, dtype, block):
    functions = {f"f{seed}": RandomFunction(seed) for seed in range(8 * block, 8 * block + 8)}
    wrapped = {name: (lambda x, y, a, f=f: f(x, y, a)) for name, f in functions.items()}
    made = lw.compile_aot(wrapped, f"{dtype}[n,m], {dtype}[m], f64", tmp_path / "librandom")
    loaded = lw.load(made.object)
    kind = {"f32": np.float32, "f64": np.float64}[dtype]
    rng = np.random.default_rng(block)
    for shape in ((1, 1), (5, 3), (2, 130), (67, 33)):
        x, y = rng.standard_normal(shape).astype(kind), rng.standard_normal(shape[1]).astype(kind)
        for name, function in functions.items():
            expected = lw.jit(wrapped[name])(x, y, 0.7)
            for layout in layouts(x):
                actual = getattr(loaded, name)(layout, y, 0.7)
                for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
                    assert same(a, b), (function.seed, shape, i)
