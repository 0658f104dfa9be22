"""The compiled part of lanewise. Written by tools/stub.py."""

# What checkers are told to ignore: comparisons of arrays give arrays, where those of object give a
# bool; arrays have no hash, as NumPy's; **= has no modulus, which pow() has.

import builtins
from collections.abc import Callable, Iterable, Iterator
from types import EllipsisType, ModuleType
from typing import Any, ClassVar, Literal, TypeAlias, overload

import numpy as np
import numpy.typing as npt

_Operand: TypeAlias = Array | npt.NDArray[Any] | np.generic | float
_Out: TypeAlias = Array | npt.NDArray[Any]
_Sizes: TypeAlias = int | tuple[int, ...] | list[int]
_Axes: TypeAlias = int | tuple[int, ...] | list[int]
_Item: TypeAlias = int | np.integer | Array | slice | EllipsisType | None
_Index: TypeAlias = _Item | tuple[_Item, ...]

__version__: str
__all__ = [
    "Array",
    "Size",
    "Function",
    "jit",
    "add",
    "subtract",
    "multiply",
    "divide",
    "negative",
    "abs",
    "sqrt",
    "fma",
    "minimum",
    "maximum",
    "floor",
    "ceil",
    "trunc",
    "round",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_right_shift",
    "square",
    "reciprocal",
    "sign",
    "signbit",
    "copysign",
    "nextafter",
    "isnan",
    "isinf",
    "isfinite",
    "logical_and",
    "logical_or",
    "logical_xor",
    "logical_not",
    "floor_divide",
    "remainder",
    "fmod",
    "exp",
    "exp2",
    "expm1",
    "log",
    "log2",
    "log10",
    "log1p",
    "logaddexp",
    "pow",
    "cbrt",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
    "expit",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "hypot",
    "erf",
    "erfc",
    "true_divide",
    "absolute",
    "invert",
    "bitwise_not",
    "left_shift",
    "right_shift",
    "mod",
    "power",
    "arcsinh",
    "arccosh",
    "arctanh",
    "arcsin",
    "arccos",
    "arctan",
    "arctan2",
    "where",
    "clip",
    "astype",
    "positive",
    "sum",
    "prod",
    "min",
    "max",
    "any",
    "all",
    "mean",
    "var",
    "std",
    "argmin",
    "argmax",
    "count_nonzero",
    "logsumexp",
    "vecdot",
    "vector_norm",
    "cumulative_sum",
    "cumulative_prod",
    "cumsum",
    "cumprod",
    "amin",
    "amax",
    "reshape",
    "broadcast_to",
    "broadcast_arrays",
    "permute_dims",
    "transpose",
    "matrix_transpose",
    "moveaxis",
    "flip",
    "squeeze",
    "expand_dims",
    "asarray",
    "from_dlpack",
    "zeros",
    "ones",
    "zeros_like",
    "ones_like",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "arange",
    "linspace",
    "eye",
    "manual_seed",
    "rand",
    "randn",
    "eval",
    "dump",
    "set_num_threads",
    "get_num_threads",
    "memory_stats",
    "free_cached_memory",
    "set_memory_limit",
    "cache_stats",
]

class Error(builtins.Exception):
    """Base of all errors of lanewise."""

class ShapeError(Error, builtins.ValueError):
    """Shapes that do not go together."""

class DTypeError(Error, builtins.TypeError):
    """A dtype that is unknown, or that an operation does not take."""

class IndexError(Error, builtins.IndexError):
    """An index out of range, or too many of them."""

class ValueError(Error, builtins.ValueError):
    """A value that an operation cannot take."""

class TracingError(Error, builtins.TypeError):
    """Python needs a value that is not known while lanewise.jit traces a function."""

class UnsupportedError(Error, builtins.NotImplementedError):
    """Something that lanewise does not do."""

class CompileError(Error, builtins.RuntimeError):
    """A kernel could not be compiled."""

class MemoryError(Error, builtins.MemoryError):
    """No memory, from the system or within the limit of set_memory_limit."""

class InternalError(Error, builtins.RuntimeError):
    """A broken invariant of lanewise: please report it. `ir` holds what was worked on."""

class Array:
    """An array whose operations are recorded and computed when needed."""

    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __lt__(self, value: _Operand, /) -> Array: ...
    def __le__(self, value: _Operand, /) -> Array: ...
    def __eq__(self, value: object, /) -> Array: ...  # type: ignore[override]
    def __ne__(self, value: object, /) -> Array: ...  # type: ignore[override]
    def __gt__(self, value: _Operand, /) -> Array: ...
    def __ge__(self, value: _Operand, /) -> Array: ...
    def __iter__(self) -> Iterator[Array]: ...
    def __add__(self, value: _Operand, /) -> Array: ...
    def __radd__(self, value: _Operand, /) -> Array: ...
    def __sub__(self, value: _Operand, /) -> Array: ...
    def __rsub__(self, value: _Operand, /) -> Array: ...
    def __mul__(self, value: _Operand, /) -> Array: ...
    def __rmul__(self, value: _Operand, /) -> Array: ...
    def __mod__(self, value: _Operand, /) -> Array: ...
    def __rmod__(self, value: _Operand, /) -> Array: ...
    def __divmod__(self, value: _Operand, /) -> tuple[Array, Array]: ...
    def __rdivmod__(self, value: _Operand, /) -> tuple[Array, Array]: ...
    def __pow__(self, value: _Operand, mod: None = None, /) -> Array: ...
    def __rpow__(self, value: _Operand, mod: None = None, /) -> Array: ...
    def __neg__(self) -> Array: ...
    def __pos__(self) -> Array: ...
    def __abs__(self) -> Array: ...
    def __bool__(self) -> bool: ...
    def __invert__(self) -> Array: ...
    def __lshift__(self, value: _Operand, /) -> Array: ...
    def __rlshift__(self, value: _Operand, /) -> Array: ...
    def __rshift__(self, value: _Operand, /) -> Array: ...
    def __rrshift__(self, value: _Operand, /) -> Array: ...
    def __and__(self, value: _Operand, /) -> Array: ...
    def __rand__(self, value: _Operand, /) -> Array: ...
    def __xor__(self, value: _Operand, /) -> Array: ...
    def __rxor__(self, value: _Operand, /) -> Array: ...
    def __or__(self, value: _Operand, /) -> Array: ...
    def __ror__(self, value: _Operand, /) -> Array: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __iadd__(self, value: _Operand, /) -> Array: ...
    def __isub__(self, value: _Operand, /) -> Array: ...
    def __imul__(self, value: _Operand, /) -> Array: ...
    def __imod__(self, value: _Operand, /) -> Array: ...
    def __ipow__(self, value: _Operand, /) -> Array: ...  # type: ignore[misc]
    def __ilshift__(self, value: _Operand, /) -> Array: ...
    def __irshift__(self, value: _Operand, /) -> Array: ...
    def __iand__(self, value: _Operand, /) -> Array: ...
    def __ixor__(self, value: _Operand, /) -> Array: ...
    def __ior__(self, value: _Operand, /) -> Array: ...
    def __floordiv__(self, value: _Operand, /) -> Array: ...
    def __rfloordiv__(self, value: _Operand, /) -> Array: ...
    def __truediv__(self, value: _Operand, /) -> Array: ...
    def __rtruediv__(self, value: _Operand, /) -> Array: ...
    def __ifloordiv__(self, value: _Operand, /) -> Array: ...
    def __itruediv__(self, value: _Operand, /) -> Array: ...
    def __index__(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: _Index, /) -> Array: ...
    def __setitem__(self, key: _Index | npt.NDArray[np.bool_], value: Any, /) -> None: ...
    def __contains__(self, key: object, /) -> bool: ...
    def item(self, /, *index: int) -> bool | int | float:
        """One element as Python number: the only one, or that at an index."""
    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
    def __format__(self, format: str, /) -> str: ...
    def __round__(self, ndigits: int | None = None, /) -> int | float: ...
    def to_device(self, device: Literal["cpu"], /, *, stream: None = None) -> Array:
        """The array itself: "cpu" is the only device."""
    def round(self, /, decimals: int = 0, out: _Out | None = None) -> Array:
        """The nearest integers, ties to even, in the same dtype."""
    def fill(self, value: _Operand, /) -> None:
        """Sets all elements to a number."""
    def astype(
        self, dtype: npt.DTypeLike, /, *, copy: bool = True, device: Literal["cpu"] | None = None
    ) -> Array:
        """The values in another dtype."""
    def clip(
        self, /, min: _Operand | None = None, max: _Operand | None = None, out: _Out | None = None
    ) -> Array:
        """minimum(maximum(x, min), max); None is no bound."""
    def reshape(self, /, *shape: _Sizes, copy: bool | None = None) -> Array:
        """The elements in another shape."""
    def transpose(self, /, *axes: _Axes) -> Array:
        """A view with the axes in another order: reversed, if none is given."""
    def squeeze(self, /, axis: _Axes | None = None) -> Array:
        """A view without axes of size 1, None for all of them."""
    def ravel(self) -> Array:
        """The elements along one axis: a view where NumPy would give one."""
    def flatten(self) -> Array:
        """A copy of the elements along one axis."""
    def swapaxes(self, axis1: int, axis2: int, /) -> Array:
        """A view with two axes swapped."""
    def sum(
        self,
        /,
        axis: _Axes | None = None,
        *,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        where: _Operand | None = None,
    ) -> Array:
        """Sum over axes."""
    def prod(
        self,
        /,
        axis: _Axes | None = None,
        *,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        where: _Operand | None = None,
    ) -> Array:
        """Product over axes."""
    def min(
        self, /, axis: _Axes | None = None, *, keepdims: bool = False, where: _Operand | None = None
    ) -> Array:
        """Smallest element over axes; NaN wins, -0 < +0."""
    def max(
        self, /, axis: _Axes | None = None, *, keepdims: bool = False, where: _Operand | None = None
    ) -> Array:
        """Largest element over axes; NaN wins, -0 < +0."""
    def any(self, /, axis: _Axes | None = None, *, keepdims: bool = False) -> Array:
        """True where some element over axes is not 0."""
    def all(self, /, axis: _Axes | None = None, *, keepdims: bool = False) -> Array:
        """True where all elements over axes are not 0."""
    def mean(
        self,
        /,
        axis: _Axes | None = None,
        *,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        where: _Operand | None = None,
    ) -> Array:
        """Mean over axes; integers give float64."""
    def var(
        self,
        /,
        axis: _Axes | None = None,
        *,
        correction: float = 0.0,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        where: _Operand | None = None,
    ) -> Array:
        """Variance over axes; integers give float64."""
    def std(
        self,
        /,
        axis: _Axes | None = None,
        *,
        correction: float = 0.0,
        dtype: npt.DTypeLike | None = None,
        keepdims: bool = False,
        where: _Operand | None = None,
    ) -> Array:
        """Standard deviation over axes: the square root of var."""
    def argmin(self, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
        """Position of the first smallest element; int64."""
    def argmax(self, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
        """Position of the first largest element; int64."""
    def cumsum(
        self, /, axis: int | None = None, *, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """Sums of the first 1, 2, ... elements along an axis: NumPy's cumulative_sum."""
    def cumprod(
        self, /, axis: int | None = None, *, dtype: npt.DTypeLike | None = None
    ) -> Array:
        """Products of the first 1, 2, ... elements along an axis: NumPy's cumulative_prod."""
    def __array__(
        self, /, dtype: npt.DTypeLike | None = None, *, copy: bool | None = None
    ) -> npt.NDArray[Any]: ...
    def copy(self) -> Array:
        """An array of its own with the same values; made when one of the two is written to."""
    def __copy__(self) -> Array: ...
    def __deepcopy__(self, memo: Any, /) -> Array: ...
    def __dlpack__(
        self,
        /,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, /, *inputs: Any, **kwargs: Any
    ) -> Any: ...
    def __array_function__(
        self, func: Callable[..., Any], types: Any, args: Any, kwargs: Any, /
    ) -> Any: ...
    def __array_namespace__(self, /, *, api_version: str | None = None) -> ModuleType: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes: a tuple of integers."""
    @property
    def dtype(self) -> np.dtype[Any]:
        """What the elements are: a NumPy dtype."""
    @property
    def ndim(self) -> int:
        """Number of axes."""
    @property
    def size(self) -> int:
        """Number of elements."""
    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
    @property
    def device(self) -> str:
        """Where the elements are: always "cpu", as the array API has it."""
    @property
    def T(self) -> Array:
        """A view with the axes in reverse order."""
    @property
    def mT(self) -> Array:
        """A view with the last two axes swapped."""
    @property
    def __array_priority__(self) -> float: ...

class Size:
    """A size without a value: a name in the shapes of arguments of compile_aot, or arithmetic on
    such names."""

    def __hash__(self) -> int: ...
    def __lt__(self, value: _Operand, /) -> Any: ...
    def __le__(self, value: _Operand, /) -> Any: ...
    def __eq__(self, value: object, /) -> Any: ...
    def __ne__(self, value: object, /) -> Any: ...
    def __gt__(self, value: _Operand, /) -> Any: ...
    def __ge__(self, value: _Operand, /) -> Any: ...
    def __add__(self, value: _Operand, /) -> Any: ...
    def __radd__(self, value: _Operand, /) -> Any: ...
    def __sub__(self, value: _Operand, /) -> Any: ...
    def __rsub__(self, value: _Operand, /) -> Any: ...
    def __mul__(self, value: _Operand, /) -> Any: ...
    def __rmul__(self, value: _Operand, /) -> Any: ...
    def __mod__(self, value: _Operand, /) -> Any: ...
    def __rmod__(self, value: _Operand, /) -> Any: ...
    def __pow__(self, value: _Operand, mod: None = None, /) -> Any: ...
    def __rpow__(self, value: _Operand, mod: None = None, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __pos__(self) -> Any: ...
    def __bool__(self) -> bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __floordiv__(self, value: _Operand, /) -> Any: ...
    def __rfloordiv__(self, value: _Operand, /) -> Any: ...
    def __truediv__(self, value: _Operand, /) -> Any: ...
    def __rtruediv__(self, value: _Operand, /) -> Any: ...
    def __index__(self) -> int: ...

class Function:
    """A compiled function: what lanewise.jit returns."""

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any: ...
    def __get__(self, instance: Any, owner: Any | None = None, /) -> Any: ...
    def clear_cache(self) -> None:
        """Forgets all traces of the function."""
    @property
    def trace_count(self) -> int:
        """How often the function was traced."""

@overload
def jit(
    function: Callable[...,
    Any],
    /,
    *,
    static_argnames: str | Iterable[str] = (),
    fast: bool = False,
) -> Function:
    """The function, compiled: traced once for each structure, dtypes and shapes of its arguments,
    then called straight into machine code."""
@overload
def jit(
    function: None = None, /, *, static_argnames: str | Iterable[str] = (), fast: bool = False
) -> Callable[[Callable[..., Any]], Function]: ...

def add(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 + x2; integers wrap."""

def subtract(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 - x2; integers wrap."""

def multiply(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 * x2; integers wrap."""

def divide(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 / x2."""

def negative(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """-x; integers wrap."""

def abs(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Absolute value; that of the smallest signed integer is itself."""

def sqrt(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Square root."""

def fma(x1: _Operand, x2: _Operand, x3: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 * x2 + x3 with one rounding."""

def minimum(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """Smaller of x1 and x2; NaN wins, -0 < +0."""

def maximum(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """Larger of x1 and x2; NaN wins, -0 < +0."""

def floor(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Round down."""

def ceil(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Round up."""

def trunc(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Round towards 0."""

def round(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Round to nearest, ties to even."""

def equal(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 == x2."""

def not_equal(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 != x2."""

def less(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 < x2."""

def less_equal(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 <= x2."""

def greater(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 > x2."""

def greater_equal(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 >= x2."""

def bitwise_and(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """Bitwise and."""

def bitwise_or(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """Bitwise or."""

def bitwise_xor(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """Bitwise exclusive or."""

def bitwise_invert(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Bitwise not."""

def bitwise_left_shift(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 << x2; 0 for counts outside the width."""

def bitwise_right_shift(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 >> x2; the sign for counts outside the width."""

def square(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """x * x."""

def reciprocal(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """1 / x."""

def sign(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """-1, 0 or 1 by the sign of x; NaN for NaN."""

def signbit(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """True where the sign bit of x is set, as for -0."""

def copysign(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """The magnitude of x1 with the sign bit of x2."""

def nextafter(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """The number next to x1 in the direction of x2; x2 where they are equal."""

def isnan(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """True where x is NaN."""

def isinf(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """True where x is an infinity."""

def isfinite(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """True where x is neither infinite nor NaN."""

def logical_and(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """True where x1 and x2 are not 0."""

def logical_or(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """True where x1 or x2 is not 0."""

def logical_xor(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """True where just one of x1 and x2 is not 0."""

def logical_not(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """True where x is 0."""

def floor_divide(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 / x2 rounded down; integers by 0 give 0."""

def remainder(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 - x2 * floor(x1 / x2), with the sign of x2; integers by 0 give 0, floats NaN."""

def fmod(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 - x2 * trunc(x1 / x2), exactly, with the sign of x1; integers by 0 give 0, floats NaN."""

def exp(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """e ** x; exp(-inf) = 0."""

def exp2(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """2 ** x, exact for integers; exp2(-inf) = 0."""

def expm1(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """e ** x - 1, accurate near 0; expm1(-inf) = -1."""

def log(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Natural logarithm; log(0) = -inf, NaN below 0."""

def log2(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Logarithm to the base 2, exact for powers of 2; log2(0) = -inf, NaN below 0."""

def log10(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Logarithm to the base 10, exact for powers of 10; log10(0) = -inf, NaN below 0."""

def log1p(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """log(1 + x), accurate near 0; log1p(-1) = -inf, NaN below -1."""

def logaddexp(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """log(e ** x1 + e ** x2) without overflow."""

def pow(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """x1 ** x2; NaN for a negative x1 and an x2 that is no integer; integers wrap."""

def cbrt(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Cube root, exact where it is a number; of negative numbers too."""

def sinh(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Hyperbolic sine."""

def cosh(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Hyperbolic cosine."""

def tanh(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Hyperbolic tangent."""

def asinh(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Inverse hyperbolic sine."""

def acosh(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Inverse hyperbolic cosine; NaN below 1."""

def atanh(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Inverse hyperbolic tangent; atanh(1) = inf, NaN beyond 1."""

def expit(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """1 / (1 + e ** -x), the logistic function."""

def sin(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Sine of x, in radians; NaN for infinities."""

def cos(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Cosine of x, in radians; NaN for infinities."""

def tan(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Tangent of x, in radians; NaN for infinities."""

def asin(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Inverse sine, from -pi/2 to pi/2; NaN beyond -1 and 1."""

def acos(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Inverse cosine, from 0 to pi; NaN beyond -1 and 1."""

def atan(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """Inverse tangent, from -pi/2 to pi/2."""

def atan2(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """The angle of the point (x2, x1), from -pi to pi; signed zeros and infinities as in C."""

def hypot(x1: _Operand, x2: _Operand, /, *, out: _Out | None = None) -> Array:
    """The square root of x1^2 + x2^2, exact where that is representable; nothing overflows
    early."""

def erf(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """The error function: 2 / sqrt(pi) times the integral of exp(-t**2) from 0 to x."""

def erfc(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """1 - erf(x), with full relative accuracy where that is small."""

true_divide = divide

absolute = abs

invert = bitwise_invert

bitwise_not = bitwise_invert

left_shift = bitwise_left_shift

right_shift = bitwise_right_shift

mod = remainder

power = pow

arcsinh = asinh

arccosh = acosh

arctanh = atanh

arcsin = asin

arccos = acos

arctan = atan

arctan2 = atan2

def where(
    condition: _Operand, x1: _Operand, x2: _Operand, /, *, out: _Out | None = None
) -> Array:
    """x1 where the condition is not 0, x2 elsewhere."""

def clip(
    x: _Operand,
    /,
    min: _Operand | None = None,
    max: _Operand | None = None,
    *,
    out: _Out | None = None,
) -> Array:
    """minimum(maximum(x, min), max); None is no bound."""

def astype(
    x: _Operand, dtype: npt.DTypeLike, /, *, copy: bool = True, device: Literal["cpu"] | None = None
) -> Array:
    """The values in another dtype."""

def positive(x: _Operand, /, *, out: _Out | None = None) -> Array:
    """+x: the same values."""

def sum(
    x: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    where: _Operand | None = None,
) -> Array:
    """Sum over axes."""

def prod(
    x: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    where: _Operand | None = None,
) -> Array:
    """Product over axes."""

def min(
    x: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    keepdims: bool = False,
    where: _Operand | None = None,
) -> Array:
    """Smallest element over axes; NaN wins, -0 < +0."""

def max(
    x: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    keepdims: bool = False,
    where: _Operand | None = None,
) -> Array:
    """Largest element over axes; NaN wins, -0 < +0."""

def any(x: _Operand, /, axis: _Axes | None = None, *, keepdims: bool = False) -> Array:
    """True where some element over axes is not 0."""

def all(x: _Operand, /, axis: _Axes | None = None, *, keepdims: bool = False) -> Array:
    """True where all elements over axes are not 0."""

def mean(
    x: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    where: _Operand | None = None,
) -> Array:
    """Mean over axes; integers give float64."""

def var(
    x: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    correction: float = 0.0,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    where: _Operand | None = None,
) -> Array:
    """Variance over axes; integers give float64."""

def std(
    x: _Operand,
    /,
    axis: _Axes | None = None,
    *,
    correction: float = 0.0,
    dtype: npt.DTypeLike | None = None,
    keepdims: bool = False,
    where: _Operand | None = None,
) -> Array:
    """Standard deviation over axes: the square root of var."""

def argmin(x: _Operand, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Position of the first smallest element; int64."""

def argmax(x: _Operand, /, axis: int | None = None, *, keepdims: bool = False) -> Array:
    """Position of the first largest element; int64."""

def count_nonzero(
    x: _Operand, /, axis: _Axes | None = None, *, keepdims: bool = False
) -> Array:
    """Number of elements over axes that are not 0; int64."""

def logsumexp(x: _Operand, /, axis: _Axes | None = None, *, keepdims: bool = False) -> Array:
    """log(sum(exp(x))) over axes; integers give float64."""

def vecdot(x1: _Operand, x2: _Operand, /, *, axis: int = -1) -> Array:
    """Sum of products along an axis."""

def vector_norm(
    x: _Operand, /, *, axis: _Axes | None = None, keepdims: bool = False, ord: float = 2
) -> Array:
    """Norm of vectors along axes; integers give float64."""

def cumulative_sum(
    x: _Operand,
    /,
    axis: int | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Sums of the first 1, 2, ... elements along an axis."""

def cumulative_prod(
    x: _Operand,
    /,
    axis: int | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    include_initial: bool = False,
) -> Array:
    """Products of the first 1, 2, ... elements along an axis."""

def cumsum(
    x: _Operand, /, axis: int | None = None, *, dtype: npt.DTypeLike | None = None
) -> Array:
    """Sums of the first 1, 2, ... elements along an axis: NumPy's cumulative_sum."""

def cumprod(
    x: _Operand, /, axis: int | None = None, *, dtype: npt.DTypeLike | None = None
) -> Array:
    """Products of the first 1, 2, ... elements along an axis: NumPy's cumulative_prod."""

amin = min

amax = max

def reshape(x: _Operand, /, shape: _Sizes, *, copy: bool | None = None) -> Array:
    """The elements in another shape."""

def broadcast_to(x: _Operand, /, shape: _Sizes) -> Array:
    """A view that repeats elements to fill a shape; it is read-only."""

def broadcast_arrays(*arrays: _Operand) -> list[Array]:
    """Views of all arrays in the shape that they broadcast to."""

def permute_dims(x: _Operand, /, axes: _Axes) -> Array:
    """A view with the axes in another order."""

def transpose(x: _Operand, /, axes: _Axes | None = None) -> Array:
    """A view with the axes in another order: reversed, if none is given."""

def matrix_transpose(x: _Operand, /) -> Array:
    """A view with the last two axes swapped."""

def moveaxis(x: _Operand, source: _Axes, destination: _Axes, /) -> Array:
    """A view with some axes moved to other places."""

def flip(x: _Operand, /, axis: _Axes | None = None) -> Array:
    """A view with the elements in reverse along axes, None for all."""

def squeeze(x: _Operand, /, axis: _Axes | None = None) -> Array:
    """A view without axes of size 1, None for all of them."""

def expand_dims(x: _Operand, /, axis: _Axes = 0) -> Array:
    """A view with new axes of size 1, at these places of the result."""

def asarray(
    obj: Any,
    /,
    dtype: npt.DTypeLike | None = None,
    *,
    device: Literal["cpu"] | None = None,
    copy: bool | None = None,
) -> Array:
    """An array of the values of an array, a number, or nested sequences of numbers."""

def from_dlpack(
    x: Any, /, *, device: Literal["cpu"] | None = None, copy: bool | None = None
) -> Array:
    """An array on the memory of another library's array."""

def zeros(
    shape: _Sizes, *, dtype: npt.DTypeLike | None = None, device: Literal["cpu"] | None = None
) -> Array:
    """An array of zeros, float64 unless dtype says otherwise."""

def ones(
    shape: _Sizes, *, dtype: npt.DTypeLike | None = None, device: Literal["cpu"] | None = None
) -> Array:
    """An array of ones, float64 unless dtype says otherwise."""

def zeros_like(
    x: _Operand, /, *, dtype: npt.DTypeLike | None = None, device: Literal["cpu"] | None = None
) -> Array:
    """An array of zeros in the shape and dtype of x."""

def ones_like(
    x: _Operand, /, *, dtype: npt.DTypeLike | None = None, device: Literal["cpu"] | None = None
) -> Array:
    """An array of ones in the shape and dtype of x."""

def empty(
    shape: _Sizes, *, dtype: npt.DTypeLike | None = None, device: Literal["cpu"] | None = None
) -> Array:
    """An array of any values, float64 unless dtype says otherwise."""

def empty_like(
    x: _Operand, /, *, dtype: npt.DTypeLike | None = None, device: Literal["cpu"] | None = None
) -> Array:
    """An array of any values in the shape and dtype of x."""

def full(
    shape: _Sizes,
    fill_value: _Operand,
    *,
    dtype: npt.DTypeLike | None = None,
    device: Literal["cpu"] | None = None,
) -> Array:
    """An array of one number, in the number's dtype unless dtype is given."""

def full_like(
    x: _Operand,
    /,
    fill_value: _Operand,
    *,
    dtype: npt.DTypeLike | None = None,
    device: Literal["cpu"] | None = None,
) -> Array:
    """An array of one number in the shape and dtype of x."""

def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: npt.DTypeLike | None = None,
    device: Literal["cpu"] | None = None,
) -> Array:
    """start, start + step, and so on, as far as stop, which is left out."""

def linspace(
    start: float,
    stop: float,
    /,
    num: int = 50,
    endpoint: bool = True,
    *,
    dtype: npt.DTypeLike | None = None,
    device: Literal["cpu"] | None = None,
) -> Array:
    """Evenly spaced numbers from start to stop, which endpoint=False leaves out."""

def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: npt.DTypeLike | None = None,
    device: Literal["cpu"] | None = None,
) -> Array:
    """Ones on a diagonal, k above the main one, and zeros elsewhere."""

def manual_seed(seed: int, /) -> None:
    """Starts the random stream anew; the values are those of PyTorch on a CPU."""

def rand(*shape: _Sizes) -> Array:
    """Uniform random numbers in [0, 1), float32."""

def randn(*shape: _Sizes) -> Array:
    """Normal random numbers of mean 0 and variance 1, float32."""

def eval(*arrays: Any) -> None:
    """Computes arrays now, sharing work between them."""

def dump(
    expression: Any,
    /,
    *args: Any,
    stage: Literal["graph", "optimized", "llvm", "asm"] = 'optimized',
) -> str:
    """What becomes of an expression, or of a jitted function for these arguments, as text."""

def set_num_threads(count: int, /) -> None:
    """Sets how many threads one evaluation uses at most."""

def get_num_threads() -> int:
    """Threads that one evaluation uses at most."""

def memory_stats() -> dict[str, int]:
    """Bytes in use by arrays, kept for reuse, and more, as a dict."""

def free_cached_memory() -> None:
    """Gives memory of dead arrays, kept for reuse, back to the system."""

def set_memory_limit(limit: int | None = None, cache_limit: int | None = None) -> None:
    """Sets the bytes beyond which arrays raise MemoryError, and the bytes kept for reuse."""

def cache_stats() -> dict[str, Any]:
    """Kernels compiled, found in the cache, kept, evicted, as a dict."""

def _disk_cache_stats() -> Any: ...

def _disk_cache_size() -> Any: ...

def _disk_cache_entries() -> Any: ...

def _clear_disk_cache() -> Any: ...

def _configuration() -> Any: ...

def op_table() -> list[dict[str, Any]]:
    """Rows of the op table that are functions of Python, as dicts."""

def _optimize_text(text: Any, passes: Any, /) -> Any: ...

def _pass_names() -> Any: ...

def _run_text(text: Any, /, *arguments: Any) -> Any: ...

def _set_numpy_functions(functions: Any, /) -> Any: ...

_AotBuilder: Any

_AotLibrary: Any

def _parse_signature(*args: Any, **kwargs: Any) -> Any: ...

def _aot_archive(*args: Any, **kwargs: Any) -> Any: ...

def _aot_load_object(*args: Any, **kwargs: Any) -> Any: ...

def _aot_load_shared_library(*args: Any, **kwargs: Any) -> Any: ...

def _aot_describe_example(*args: Any, **kwargs: Any) -> Any: ...
