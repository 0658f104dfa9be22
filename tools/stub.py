"""Writes python/lanewise/_core.pyi, the types of the compiled part, for checkers and editors.

Names, order, parameters, defaults and first lines of docstrings come from the extension; what only
people know, the types, stands here. Run it (or ./dev stub) when the extension changed; a test
compares the file with what it would write.
"""

import inspect
import textwrap
from pathlib import Path

from lanewise import _core

TARGET = Path(__file__).resolve().parent.parent / "python" / "lanewise" / "_core.pyi"
WIDTH = 100

HEADER = '''\
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
'''

# Types of parameters: of one function's ("function.parameter"), else of all with that name. Where
# the default is None, so may be the argument.
PARAMETERS = {
    "__contains__.key": "object",
    "__deepcopy__.memo": "Any",
    "__eq__.value": "object",
    "__getitem__.key": "_Index",
    "__ne__.value": "object",
    "__setitem__.key": "_Index | npt.NDArray[np.bool_]",
    "__setitem__.value": "Any",
    "api_version": "str",
    "args": "Any",
    "argmax.axis": "int",
    "argmin.axis": "int",
    "arrays": "Any",
    "axes": "_Axes",
    "axis": "_Axes",
    "axis1": "int",
    "axis2": "int",
    "bounds": "Any",
    "broadcast_arrays.arrays": "_Operand",
    "cache_limit": "int",
    "condition": "_Operand",
    "copy": "bool",
    "correction": "float",
    "count": "int",
    "cumprod.axis": "int",
    "cumsum.axis": "int",
    "cumulative_prod.axis": "int",
    "cumulative_sum.axis": "int",
    "decimals": "int",
    "destination": "_Axes",
    "device": 'Literal["cpu"]',
    "dl_device": "tuple[int, int]",
    "dtype": "npt.DTypeLike",
    "endpoint": "bool",
    "expression": "Any",
    "fill_value": "_Operand",
    "format": "str",
    "func": "Callable[..., Any]",
    "include_initial": "bool",
    "index": "int",
    "instance": "Any",
    "k": "int",
    "keepdims": "bool",
    "kwargs": "Any",
    "limit": "int",
    "max": "_Operand",
    "max_version": "tuple[int, int]",
    "method": "str",
    "min": "_Operand",
    "mod": "None",
    "n_cols": "int",
    "n_rows": "int",
    "ndigits": "int",
    "num": "int",
    "obj": "Any",
    "ord": "float",
    "out": "_Out",
    "owner": "Any",
    "seed": "int",
    "shape": "_Sizes",
    "source": "_Axes",
    "stage": 'Literal["graph", "optimized", "llvm", "asm"]',
    "start": "float",
    "step": "float",
    "stop": "float",
    "stream": "None",
    "types": "Any",
    "ufunc": "np.ufunc",
    "inputs": "Any",
    "value": "_Operand",
    "vecdot.axis": "int",
    "where": "_Operand",
    "x": "_Operand",
    "x1": "_Operand",
    "x2": "_Operand",
    "x3": "_Operand",
    "from_dlpack.x": "Any",
}

# Types of results and properties that are no Array.
RESULTS = {
    "Size.*": "Any",  # with arrays it gives arrays
    "Size.__eq__": "Any",
    "Size.__hash__": "int",
    "Size.__ne__": "Any",
    "__array__": "npt.NDArray[Any]",
    "__array_function__": "Any",
    "__array_namespace__": "ModuleType",
    "__array_priority__": "float",
    "__array_ufunc__": "Any",
    "__bool__": "bool",
    "__call__": "Any",
    "__contains__": "bool",
    "__divmod__": "tuple[Array, Array]",
    "__dlpack__": "Any",
    "__dlpack_device__": "tuple[int, int]",
    "__float__": "float",
    "__format__": "str",
    "__get__": "Any",
    "__index__": "int",
    "__int__": "int",
    "__iter__": "Iterator[Array]",
    "__len__": "int",
    "__rdivmod__": "tuple[Array, Array]",
    "__round__": "int | float",
    "__setitem__": "None",
    "broadcast_arrays": "list[Array]",
    "cache_stats": "dict[str, Any]",
    "clear_cache": "None",
    "device": "str",
    "dtype": "np.dtype[Any]",
    "dump": "str",
    "eval": "None",
    "fill": "None",
    "free_cached_memory": "None",
    "get_num_threads": "int",
    "item": "bool | int | float",
    "itemsize": "int",
    "manual_seed": "None",
    "memory_stats": "dict[str, int]",
    "nbytes": "int",
    "ndim": "int",
    "op_table": "list[dict[str, Any]]",
    "set_memory_limit": "None",
    "set_num_threads": "None",
    "shape": "tuple[int, ...]",
    "size": "int",
    "tolist": "Any",
    "trace_count": "int",
}

# What objects have anyway, and __delitem__, which only raises.
LEFT_OUT = {
    "__delitem__",
    "__dict__",
    "__doc__",
    "__module__",
    "__new__",
    "__reduce__",
    "__repr__",
    "__str__",
    "__vectorcalloffset__",
    "__weaklistoffset__",
}

# Complaints of checkers: object has comparisons give a bool, pow() has a modulus.
IGNORED = {"__eq__": "override", "__ne__": "override", "__ipow__": "misc"}

OVERLOADS = {
    "jit": [
        f"{first}, /, *, static_argnames: str | Iterable[str] = (), fast: bool = False"
        for first in ("function: Callable[..., Any]", "function: None = None")
    ]
}
OVERLOAD_RESULTS = {"jit": ["Function", "Callable[[Callable[..., Any]], Function]"]}


def summary(doc: str | None, indent: str) -> list[str]:
    """The first paragraph of a docstring, as lines of a docstring."""
    paragraph = " ".join(inspect.cleandoc(doc or "").split("\n\n")[0].split())
    if not paragraph:
        return []
    lines = textwrap.wrap(
        f'"""{paragraph}"""', WIDTH, initial_indent=indent, subsequent_indent=indent
    )
    return lines


def is_internal(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def parameter_text(function: str, parameter: inspect.Parameter) -> str:
    if parameter.name == "self":
        return "self"
    types = [PARAMETERS.get(f"{function}.{parameter.name}"), PARAMETERS.get(parameter.name)]
    if is_internal(function):
        types.append("Any")
    if not any(types):
        raise SystemExit(
            f"stub: what is the type of {parameter.name} of {function}? PARAMETERS in "
            "tools/stub.py needs to know"
        )
    kind = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    text = f"{kind}{parameter.name}: {next(filter(None, types))}"
    if parameter.default is parameter.empty:
        return text
    if parameter.default is None and not text.endswith("None"):
        text += " | None"
    return f"{text} = {parameter.default!r}"


def parameter_list(name: str, function) -> list[str]:
    try:
        signature = inspect.signature(function)
    except ValueError:  # internal ones, of pybind11
        return ["*args: Any", "**kwargs: Any"]
    items: list[str] = []
    previous = None
    for parameter in signature.parameters.values():
        kind = parameter.kind
        if previous is parameter.POSITIONAL_ONLY and kind is not previous:
            items.append("/")
        if kind is parameter.KEYWORD_ONLY and previous not in (kind, parameter.VAR_POSITIONAL):
            items.append("*")
        items.append(parameter_text(name, parameter))
        previous = kind
    if previous is inspect.Parameter.POSITIONAL_ONLY and items != ["self"]:
        items.append("/")
    return items


def definition(name: str, items: list[str], result: str, doc: str | None, indent: str) -> list[str]:
    head = f"{indent}def {name}({', '.join(items)}) -> {result}:"
    lines = [head]
    if len(head) + len(" ...") > WIDTH:
        one = f"{indent}    {', '.join(items)}"
        many = [f"{indent}    {item}," for item in items]
        lines = [f"{indent}def {name}(", *([one] if len(one) <= WIDTH else many)]
        lines.append(f"{indent}) -> {result}:")
    body = summary(doc, indent + "    ")
    if not body:
        lines[-1] += " ..."
    if name in IGNORED:
        lines[0] += f"  # type: ignore[{IGNORED[name]}]" if result != "Any" else ""
    return lines + body


def function_lines(name: str, function) -> list[str]:
    items = parameter_list(name, function)
    doc = None if name.startswith("_") else function.__doc__
    result = RESULTS.get(name, "Any" if is_internal(name) else "Array")
    return definition(name, items, result, doc, "")


def overload_lines(name: str, function) -> list[str]:
    lines = []
    for i, (items, result) in enumerate(zip(OVERLOADS[name], OVERLOAD_RESULTS[name], strict=True)):
        doc = function.__doc__ if i == 0 else None
        lines += ["@overload", *definition(name, items.split(", "), result, doc, "")]
    return lines


def class_lines(name: str, cls: type) -> list[str]:
    if name.startswith("_"):
        return [f"{name}: Any"]
    lines = [f"class {name}:", *summary(cls.__doc__, "    "), ""]
    for member, value in vars(cls).items():
        default = RESULTS.get(f"{name}.*", name)
        result = RESULTS.get(f"{name}.{member}") or RESULTS.get(member, default)
        if member in LEFT_OUT:
            continue
        if value is None:
            lines.append(f"    {member}: ClassVar[None]  # type: ignore[assignment]")
        elif inspect.isgetsetdescriptor(value):
            doc = None if member.startswith("_") else value.__doc__
            lines += ["    @property", *definition(member, ["self"], result, doc, "    ")]
        else:
            lines += definition(
                member,
                parameter_list(member, value),
                result,
                None if member.startswith("_") else value.__doc__,
                "    ",
            )
    return lines


def exception_lines(name: str, cls: type) -> list[str]:
    ours = [base for base in cls.__bases__ if base.__module__ != "builtins"]
    bases = [
        base.__name__ if base in ours else f"builtins.{base.__name__}" for base in cls.__bases__
    ]
    return [f"class {name}({', '.join(bases)}):", *summary(cls.__doc__, "    ")]


def module_lines() -> list[str]:
    lines: list[str] = []
    first_names: dict[int, str] = {}  # of functions that go by several
    for name, value in vars(_core).items():
        if name.startswith("__"):
            continue
        if inspect.isclass(value):
            is_exception = issubclass(value, BaseException)
            lines += exception_lines(name, value) if is_exception else class_lines(name, value)
        elif first_names.setdefault(id(value), name) != name:
            lines.append(f"{name} = {first_names[id(value)]}")
        elif name in OVERLOADS:
            lines += overload_lines(name, value)
        else:
            lines += function_lines(name, value)
        lines.append("")
    return lines


def stub() -> str:
    names = [f"    {name!r},".replace("'", '"') for name in _core.__all__]
    return HEADER + "\n".join(["__all__ = [", *names, "]", "", *module_lines()]).rstrip() + "\n"


if __name__ == "__main__":
    TARGET.write_text(stub())
