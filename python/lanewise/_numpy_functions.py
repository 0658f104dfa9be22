"""What stands for NumPy's functions when they are called with arrays of lanewise."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lanewise import _core

# Functions of one name and meaning.
_SAME = [
    "broadcast_arrays",
    "broadcast_to",
    "empty_like",
    "expand_dims",
    "flip",
    "full_like",
    "matrix_transpose",
    "moveaxis",
    "ones_like",
    "permute_dims",
    "reshape",
    "squeeze",
    "transpose",
    "where",
    "zeros_like",
]

# Functions about values, which NumPy computes from ndarrays.
_BY_NUMPY = [
    "allclose",
    "array2string",
    "array_equal",
    "array_equiv",
    "array_repr",
    "array_str",
    "isclose",
    "save",
    "savetxt",
    "savez",
    "savez_compressed",
]


# Reductions and scans: NumPy's parameters after (a, axis), in its order.
_REDUCTIONS = {
    "all": ("out", "keepdims"),
    "any": ("out", "keepdims"),
    "argmax": ("out", "keepdims"),
    "argmin": ("out", "keepdims"),
    "count_nonzero": ("keepdims",),
    "cumprod": ("dtype", "out"),
    "cumsum": ("dtype", "out"),
    "cumulative_prod": (),
    "cumulative_sum": (),
    "max": ("out", "keepdims"),
    "mean": ("dtype", "out", "keepdims"),
    "min": ("out", "keepdims"),
    "prod": ("dtype", "out", "keepdims"),
    "std": ("dtype", "out", "ddof", "keepdims"),
    "sum": ("dtype", "out", "keepdims"),
    "var": ("dtype", "out", "ddof", "keepdims"),
}


def _reduction(name: str, parameters: tuple[str, ...]) -> Callable:
    """What NumPy's function of that name does; `out` gets a copy of the result."""
    function = getattr(_core, name)

    def call(a: Any, axis: Any = None, *positional: Any, **keywords: Any) -> Any:
        if len(positional) > len(parameters):
            raise TypeError(f"{name}: {len(positional) + 2} positional arguments are too many")
        keywords |= zip(parameters, positional, strict=False)
        out = keywords.pop("out", None)
        if "ddof" in keywords:
            ddof = keywords.pop("ddof")
            keywords.setdefault("correction", ddof)
        if keywords.get("keepdims") is np._NoValue:
            del keywords["keepdims"]
        if keywords.get("where") is True:
            del keywords["where"]
        result = function(a, axis, **keywords)
        if out is None:
            return result
        out[...] = result
        return out

    return call


def _ndarrays(value: Any) -> Any:
    if isinstance(value, _core.Array):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_ndarrays, value))
    return value


def _by_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **keywords: Any) -> Any:
        named = {name: _ndarrays(value) for name, value in keywords.items()}
        return function(*map(_ndarrays, args), **named)

    return call


def _round(a: _core.Array, decimals: int = 0, out: Any = None) -> _core.Array:
    if decimals != 0:
        raise _core.UnsupportedError(f"round: decimals={decimals}, only 0 is supported")
    return _core.round(a, out=out)


def _clip(
    a: _core.Array, a_min: Any = None, a_max: Any = None, out: Any = None, **bounds: Any
) -> _core.Array:
    low = bounds.pop("min", a_min)
    high = bounds.pop("max", a_max)
    if bounds:
        raise TypeError(f"clip() got an unexpected keyword argument '{next(iter(bounds))}'")
    return _core.clip(a, low, high, out=out)


def _astype(x: _core.Array, dtype: Any, /, *, copy: bool = True, device: Any = None) -> _core.Array:
    return _core.astype(x, dtype, copy=copy, device=device)


def table() -> dict[Callable[..., Any], Callable[..., Any]]:
    """NumPy's function -> ours."""
    functions = {getattr(np, name): getattr(_core, name) for name in _SAME if hasattr(np, name)}
    functions |= {getattr(np, name): _by_numpy(getattr(np, name)) for name in _BY_NUMPY}
    functions |= {
        getattr(np, name): _reduction(name, parameters)
        for name, parameters in _REDUCTIONS.items()
        if hasattr(np, name)
    }
    functions |= {
        np.amax: functions[np.max],
        np.amin: functions[np.min],
        np.linalg.vector_norm: _core.vector_norm,
        np.astype: _astype,
        np.clip: _clip,
        np.copy: lambda a, **_: a.copy(),
        np.ndim: lambda a: a.ndim,
        np.round: _round,
        np.shape: lambda a: a.shape,
        np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    }
    return functions
