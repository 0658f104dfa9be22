"""What stands for NumPy's functions when they are called with arrays of lanewise."""

from collections.abc import Callable
from typing import Any

import numpy as np

from lanewise import _core

# Functions of one name and meaning.
_SAME = [
    "all",
    "any",
    "broadcast_arrays",
    "broadcast_to",
    "empty_like",
    "expand_dims",
    "flip",
    "full_like",
    "matrix_transpose",
    "max",
    "mean",
    "min",
    "moveaxis",
    "ones_like",
    "permute_dims",
    "prod",
    "reshape",
    "squeeze",
    "sum",
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
        np.amax: _core.max,
        np.amin: _core.min,
        np.astype: _astype,
        np.clip: _clip,
        np.copy: lambda a, **_: a.copy(),
        np.ndim: lambda a: a.ndim,
        np.round: _round,
        np.shape: lambda a: a.shape,
        np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    }
    return functions
