"""How each engine is used.

`prepare(row, arrays, out, threads)` gives a call without arguments that does the row's work once
and returns the result: into `out`, an ndarray of the result's shape and dtype, where the engine has
a way to do that (a call that returns None has filled it). Several calls in a list are ways of doing
the work of which the fastest counts. The call may compile when it is first
made. Arrays may be taken out of the list `arrays` when they have been copied, so that they take no
memory.
"""

from __future__ import annotations

import importlib

import numpy as np

from . import limits
from .rows import Row


class Unsupported(Exception):
    """The engine has no way of doing the row, or the row no text for the engine."""


def calling(function, arguments, **named):
    """A call as a program writes it, since taking arguments from a list has its cost too."""
    names = {f"a{i}": argument for i, argument in enumerate(arguments)}
    text = ", ".join([*names, *(f"{name}={name}" for name in named)])
    return eval(f"lambda: function({text})", {"function": function, **names, **named})


class Engine:
    name: str
    module: str  # loaded before the processes of the rows are made
    is_peer = True
    compiles = True

    def version(self) -> str:
        return self.load().__version__

    def load(self):
        return importlib.import_module(self.module)

    def start(self) -> None:
        """Does what can be done once, before the process is forked for the rows."""
        self.load()

    def does(self, row: Row) -> bool:
        if row.special:
            return self.name in row.special
        return self.compiles or not row.once


class NumPy(Engine):
    name, module, compiles = "NumPy", "numpy", False

    def prepare(self, row: Row, arrays, out, threads):
        if row.ufunc:
            ufunc = getattr(np, row.ufunc, None)
            if ufunc:
                return calling(ufunc, arrays, out=out)
        return calling(row.for_engine("numpy"), [np, *arrays])


class Numexpr(Engine):
    name, module = "numexpr", "numexpr"

    def prepare(self, row: Row, arrays, out, threads):
        if row.numexpr is None:
            raise Unsupported
        numexpr = self.load()
        numexpr.set_num_threads(threads)
        names = row.numexpr_names(arrays)
        into = {} if row.numexpr.startswith("sum(") else {"out": out}
        state = {"compiled": False}

        def call():
            if state["compiled"]:
                return numexpr.re_evaluate(names)
            state["compiled"] = True
            return numexpr.evaluate(row.numexpr, names, **into)

        return call


class Numba(Engine):
    name, module = "Numba", "numba"

    def start(self):
        self.load().njit(lambda x: x + 1)(1)

    def prepare(self, row: Row, arrays, out, threads):
        import math
        import textwrap

        if row.numba is None:
            raise Unsupported
        numba = self.load()
        numba.set_num_threads(threads)
        parameters = ", ".join("abcd"[: len(arrays)])
        source = f"def kernel({parameters}, out):\n" + textwrap.indent(row.numba.strip(), "    ")
        scope = {"prange": numba.prange, "math": math, "np": np}
        if row.function:
            scope["f"] = numba.njit(row.function, error_model="numpy")
        exec(source, scope)  # from bench/rows
        kernel = numba.njit(
            scope["kernel"],
            parallel=threads > 1 and "prange" in row.numba,
            fastmath=row.numba_fastmath,
            error_model="numpy",
        )

        return calling(kernel, [*arrays, out])


class Torch(Engine):
    name, module, compiles = "torch", "torch", False

    def tensors(self, arrays, threads):
        torch = self.load()
        torch.set_num_threads(threads)
        return [torch.from_numpy(array) for array in arrays]

    def prepare(self, row: Row, arrays, out, threads):
        torch = self.load()
        tensors = self.tensors(arrays, threads)
        ufunc = row.ufunc and getattr(torch, row.ufunc, None)
        if ufunc:
            return calling(ufunc, tensors, out=torch.from_numpy(out))
        return calling(row.for_engine("torch"), [torch, *tensors])


class TorchCompile(Torch):
    name, compiles = "torch.compile", True

    def start(self):
        # Its imports, its look at the compiler and precompiled headers take many seconds.
        torch = self.load()
        torch.set_num_threads(1)
        torch.compile(lambda x: x + 1)(torch.ones(1))

    def prepare(self, row: Row, arrays, out, threads):
        torch = self.load()
        import torch._inductor.config as settings

        settings.force_disable_caches = row.once
        tensors = self.tensors(arrays, threads)
        function = row.for_engine("torch")
        compiled = torch.compile(lambda *tensors: function(torch, *tensors), dynamic=False)
        return calling(compiled, tensors)


class Jax(Engine):
    name, module = "JAX", "jax"

    def prepare(self, row: Row, arrays, out, threads):
        # Its number of threads follows the process's affinity: see worker.py.
        jax = self.load()
        import jax.numpy as jnp

        jax.config.update("jax_enable_x64", True)
        compiled = jax.jit(lambda *arrays: row.function(jnp, *arrays))
        own = [jax.device_put(array) for array in arrays]
        arrays.clear()
        start = calling(compiled, own)
        return lambda: start().block_until_ready()


class Lanewise(Engine):
    """With Arrays as arguments, into an Array."""

    name, module, is_peer = "lanewise", "lanewise", False

    def arguments(self, lw, arrays):
        own = [lw.asarray(array) for array in arrays]
        arrays.clear()
        return own

    def target(self, lw, out):
        return lw.empty(out.shape, dtype=str(out.dtype))

    def prepare(self, row: Row, arrays, out, threads):
        lw = self.load()
        lw.set_num_threads(threads)
        function = row.for_engine("lanewise")
        compiled = lw.jit(lambda *arrays: function(lw, *arrays))
        own = self.arguments(lw, arrays)
        target = self.target(lw, out)
        return calling(compiled, own, **({} if target is None else {"out": target}))


class LanewiseNdarray(Lanewise):
    """With ndarrays as arguments and for the result, used in place."""

    name = "lanewise, ndarrays"

    def arguments(self, lw, arrays):
        return arrays

    def target(self, lw, out):
        return out


class LanewiseResult(Lanewise):
    """With Arrays as arguments, giving a new Array: where what a call costs is the subject."""

    name = "lanewise, new result"

    def does(self, row: Row) -> bool:
        return row.group == "overhead"

    def target(self, lw, out):
        return None


class LanewiseNewNdarray(LanewiseResult):
    """With ndarrays as arguments, giving a new Array."""

    name = "lanewise, ndarrays, new result"

    def arguments(self, lw, arrays):
        return arrays


class Limit(Engine):
    """The best of several tuned loops (limits.cpp) with the memory traffic of the row."""

    name, module, is_peer = "limit", "numpy", False

    def does(self, row: Row) -> bool:
        return row.limit is not None

    def prepare(self, row: Row, arrays, out, threads):
        return limits.variants(row.limit, arrays, threads)


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        NumPy(),
        Numexpr(),
        Numba(),
        Torch(),
        TorchCompile(),
        Jax(),
        Lanewise(),
        LanewiseNdarray(),
        LanewiseResult(),
        LanewiseNewNdarray(),
        Limit(),
    )
}
PEERS = [name for name, engine in ENGINES.items() if engine.is_peer]
