"""Arrays whose expressions become one machine-code loop.

>>> import lanewise as lw
>>> x = lw.asarray([[1.0, 2.0], [3.0, 4.0]])
>>> x[:, 0]**2 + x[:, 1]**3
array([ 9., 73.])

Names, dtypes and rules are those of the Python array API standard, with NumPy's names beside them.
"""

try:
    from lanewise import _core
except ImportError as error:
    if "libtbb" not in str(error):
        raise
    from lanewise import _libraries

    _libraries.preload_tbb()
    from lanewise import _core

from lanewise import _numpy_functions, errors
from lanewise._aot import compile_aot, load
from lanewise._config import show_config
from lanewise._core import *  # noqa: F403  (all functions: many come from the op table)
from lanewise._core import Array, Function, __version__
from lanewise._dtypes import (
    bool,  # noqa: A004
    can_cast,
    finfo,
    float32,
    float64,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    isdtype,
    result_type,
    uint8,
    uint16,
    uint32,
    uint64,
)
from lanewise._namespace_info import __array_namespace_info__

__array_api_version__ = "2025.12"

e = 2.718281828459045
pi = 3.141592653589793
inf = float("inf")
nan = float("nan")
newaxis = None

_core._set_numpy_functions(_numpy_functions.table())
