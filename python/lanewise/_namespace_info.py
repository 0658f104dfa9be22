"""What the array API standard lets a library say about itself."""

from typing import Any

import numpy as np

from lanewise import _dtypes

_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64"
_DTYPES = {name: getattr(_dtypes, name) for name in _NAMES.split()}


class _NamespaceInfo:
    """Answers of __array_namespace_info__."""

    def capabilities(self) -> dict[str, Any]:
        """Which optional features there are."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> str:
        """The device of new arrays."""
        return "cpu"

    def devices(self) -> list[str]:
        """All devices."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """Dtypes of new arrays by kind."""
        return {
            "real floating": _dtypes.float64,
            "integral": _dtypes.int64,
            "indexing": _dtypes.int64,
        }

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """Dtypes, all of them or those of a kind."""
        if kind is None:
            return dict(_DTYPES)
        return {name: dtype for name, dtype in _DTYPES.items() if np.isdtype(dtype, kind)}


def __array_namespace_info__() -> _NamespaceInfo:
    """Devices, dtypes and capabilities, as the array API standard asks for them.

    >>> lw.__array_namespace_info__().devices()
    ['cpu']
    """
    return _NamespaceInfo()
