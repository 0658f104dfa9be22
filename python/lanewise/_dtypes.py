"""Dtypes: they are NumPy's, and so are the functions about them."""

import builtins
from typing import Any

import numpy as np

from lanewise._core import Array

bool = np.dtype(np.bool_)
int8 = np.dtype(np.int8)
int16 = np.dtype(np.int16)
int32 = np.dtype(np.int32)
int64 = np.dtype(np.int64)
uint8 = np.dtype(np.uint8)
uint16 = np.dtype(np.uint16)
uint32 = np.dtype(np.uint32)
uint64 = np.dtype(np.uint64)
float32 = np.dtype(np.float32)
float64 = np.dtype(np.float64)


def _dtype_of(x: Any) -> Any:
    return x.dtype if isinstance(x, Array) else x


def finfo(type: Any, /) -> np.finfo:
    """Limits of a floating-point dtype, or of that of an array.

    Raises ValueError for any other dtype.

    >>> lw.finfo(lw.float32).eps
    np.float32(1.1920929e-07)
    """
    return np.finfo(_dtype_of(type))


def iinfo(type: Any, /) -> np.iinfo:
    """Limits of an integer dtype, or of that of an array.

    Raises ValueError for any other dtype.

    >>> lw.iinfo(lw.int8).max
    127
    """
    return np.iinfo(_dtype_of(type))


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a dtype is of a kind, as the array API names them, or equals a dtype.

    Raises ValueError or TypeError for an unknown kind.

    >>> lw.isdtype(lw.int32, "integral")
    True
    """
    return np.isdtype(np.dtype(dtype), kind)


def result_type(*arrays_and_dtypes: Any) -> np.dtype:
    """The dtype that an operation on these arrays, dtypes and numbers has.

    >>> lw.result_type(lw.int32, lw.float32)
    dtype('float64')
    """
    return np.result_type(*map(_dtype_of, arrays_and_dtypes))


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether NumPy casts a dtype, or that of an array, to another without asking.

    >>> lw.can_cast(lw.int32, lw.float64), lw.can_cast(lw.float64, lw.int32)
    (True, False)
    """
    return np.can_cast(_dtype_of(from_), to)
