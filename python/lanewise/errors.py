"""The exceptions that lanewise raises. Each is also the built-in exception of that meaning.

>>> import lanewise as lw
>>> try:
...     lw.zeros(3) + lw.zeros(4)
... except ValueError as error:
...     print(type(error).__name__, error)
ShapeError add: cannot broadcast (3,) with (4,): axis 0 is 3 and 4
"""

from lanewise._core import (
    CompileError,
    DTypeError,
    Error,
    IndexError,
    InternalError,
    MemoryError,
    ShapeError,
    TracingError,
    UnsupportedError,
    ValueError,
)

__all__ = [
    "CompileError",
    "DTypeError",
    "Error",
    "IndexError",
    "InternalError",
    "MemoryError",
    "ShapeError",
    "TracingError",
    "UnsupportedError",
    "ValueError",
]
