"""One class an engine: `prepare(row, arrays, threads)` gives a call without arguments that does
the row's work once, into preallocated memory where the engine has that, and returns the result.
"""

from __future__ import annotations

import os
import textwrap

import numpy as np

from . import limits
from .rows import Row


class Unsupported(Exception):
    """This engine has no way of doing the row."""


class NumPy:
    name = "NumPy"

    @staticmethod
    def version():
        return np.__version__

    @staticmethod
    def prepare(row: Row, arrays, threads):
        with np.errstate(all="ignore"):
            row.function(np, *arrays)
        return lambda: row.function(np, *arrays)


class Numexpr:
    name = "numexpr"

    @staticmethod
    def version():
        import numexpr

        return numexpr.__version__

    @staticmethod
    def prepare(row: Row, arrays, threads):
        import numexpr

        if row.numexpr is None and row.group != "seed":
            raise Unsupported
        numexpr.set_num_threads(threads)
        if row.group == "seed":
            names, expression = {"x0": arrays[0][:, 0], "x1": arrays[0][:, 1]}, "x0**2 + x1**3"
        else:
            names = dict(zip(row.argument_names(len(arrays)), arrays))
            expression = row.numexpr
        out = numexpr.evaluate(expression, names)
        if expression.startswith("sum("):
            return lambda: numexpr.re_evaluate(names)
        numexpr.evaluate(expression, names, out=out)
        return lambda: numexpr.re_evaluate(names)


class Numba:
    name = "Numba"

    @staticmethod
    def version():
        import numba

        return numba.__version__

    @staticmethod
    def prepare(row: Row, arrays, threads):
        import math

        import numba

        if row.numba is None:
            raise Unsupported
        names = ["a", "b", "c", "d"][: len(arrays)]
        body = textwrap.indent(row.numba.strip(), "    ")
        source = f"def kernel({', '.join(names)}, out):\n{body}\n"
        scope = {"prange": numba.prange, "math": math, "np": np,
                 "f": numba.njit(row.function, error_model="numpy")}
        exec(source, scope)  # the text is ours, from rows.py
        numba.set_num_threads(threads)
        kernel = numba.njit(scope["kernel"], parallel=threads > 1, error_model="numpy")
        out = np.empty_like(np.asarray(row.function(np, *arrays)))

        def call():
            kernel(*arrays, out)
            return out

        return call


class Torch:
    name = "torch"

    @staticmethod
    def version():
        import torch

        return torch.__version__

    @staticmethod
    def tensors(arrays, threads):
        import torch

        torch.set_num_threads(threads)
        return [torch.from_numpy(a) for a in arrays]

    @classmethod
    def prepare(cls, row: Row, arrays, threads):
        import torch

        tensors = cls.tensors(arrays, threads)
        if row.name.startswith("softmax"):
            return lambda: torch.softmax(tensors[0], -1)
        if row.name.startswith("layer norm"):
            width = tensors[0].shape[-1:]
            return lambda: torch.nn.functional.layer_norm(tensors[0], width)
        return lambda: row.function(torch, *tensors)


class TorchCompile(Torch):
    name = "torch.compile"

    @classmethod
    def prepare(cls, row: Row, arrays, threads):
        import torch

        tensors = cls.tensors(arrays, threads)
        compiled = torch.compile(lambda *a: row.function(torch, *a), dynamic=False)
        compiled(*tensors)
        return lambda: compiled(*tensors)


class Jax:
    name = "JAX"

    @staticmethod
    def version():
        import jax

        return jax.__version__

    @staticmethod
    def prepare(row: Row, arrays, threads):
        # The number of threads is fixed by the process's CPU affinity: see worker.py.
        import jax
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        compiled = jax.jit(lambda *a: row.function(jnp, *a))
        device_arrays = [jax.device_put(a) for a in arrays]
        return lambda: compiled(*device_arrays).block_until_ready()


class Lanewise:
    name = "lanewise"

    @staticmethod
    def version():
        import lanewise as lw

        return lw.__version__

    @classmethod
    def prepare(cls, row: Row, arrays, threads):
        import lanewise as lw

        lw.set_num_threads(threads)
        compiled = lw.jit(lambda *a: row.function(lw, *a))
        own = cls.arguments(lw, arrays)
        out = compiled(*own)
        return lambda: compiled(*own, out=out)

    @staticmethod
    def arguments(lw, arrays):
        return [lw.asarray(a) for a in arrays]


class LanewiseNdarray(Lanewise):
    """The same with ndarray arguments, read in place."""

    name = "lanewise (ndarray)"

    @staticmethod
    def arguments(lw, arrays):
        return arrays


class Limit:
    """The best of several tuned loops (limits.cpp) for the memory traffic of the row."""

    name = "limit"

    @staticmethod
    def version():
        return os.environ.get("CXX", "c++")

    @staticmethod
    def prepare(row: Row, arrays, threads):
        if row.limit is None:
            raise Unsupported
        return limits.best(row.limit, arrays, threads)


ENGINES = {e.name: e for e in (NumPy, Numexpr, Numba, Torch, TorchCompile, Jax, Lanewise,
                               LanewiseNdarray, Limit)}
PEERS = ["NumPy", "numexpr", "Numba", "torch", "torch.compile", "JAX"]
