"""What several commands share: finding functions, example arguments, JSON."""

import importlib
import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import lanewise as lw
from lanewise import _core


class Failure(Exception):
    """Ends a command; the message is for the user."""


def add_json(parser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON for programs")


def print_json(value) -> None:
    print(json.dumps(value, indent=2))


def load_function(target: str) -> Callable:
    """The function of "module:function" or "path/to/file.py:function"."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise Failure(f"'{target}' is not of the form module:function or file.py:function")
    value = _load_file(place) if place.endswith(".py") else _load_module(place)
    for part in name.split("."):
        try:
            value = getattr(value, part)
        except AttributeError:
            raise Failure(f"{place} has no '{name}'") from None
    if not callable(value):
        raise Failure(f"{target} is no function but of type {type(value).__name__}")
    return value


def _load_module(name: str):
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module is there, but lacks something itself
        raise Failure(f"no module '{name}' here or on Python's path") from None


def _load_file(file: str):
    path = Path(file).resolve()
    if not path.is_file():
        raise Failure(f"{file}: no such file")
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def jitted(function: Callable):
    return function if isinstance(function, lw.Function) else lw.jit(function)


def add_arguments(parser) -> None:
    parser.add_argument(
        "--args",
        nargs="+",
        default=None,
        metavar="ARG",
        help="arguments: .npy files, or Python expressions in which all of lanewise and np "
        "(NumPy) are known",
    )


def evaluate_arguments(texts: list[str]) -> list:
    """Arrays and numbers for the texts after --args."""
    names = {**vars(lw), "lw": lw, "np": np}
    values = []
    for text in texts:
        if text.endswith(".npy"):
            try:
                values.append(np.load(text, allow_pickle=False))
            except (OSError, ValueError) as error:
                raise Failure(f"{text}: {error}") from None
            continue
        try:
            values.append(eval(text, dict(names)))
        except Exception as error:
            raise Failure(f"argument '{text}': {type(error).__name__}: {error}") from None
    return values


def examples(text: str) -> list:
    """An argument of the dtype and shape of each parameter of a signature."""
    values = []
    for dtype, shape, is_number, is_python_number in _core._parse_signature(text):
        names = [size for size in shape if isinstance(size, str)]
        if names:
            raise Failure(f"signature: '{names[0]}' in '{text}' must be a number here")
        if is_python_number:
            values.append({"bool": True, "int64": 1, "float64": 1.0}[dtype])
        elif is_number:
            values.append(np.dtype(dtype).type(1))
        else:
            values.append(lw.ones(tuple(shape), dtype=getattr(lw, dtype)))
    return values


def example_arguments(options) -> list:
    """What --signature or --args say; one of them must be given."""
    if (options.signature is None) == (options.args is None):
        raise Failure("give the arguments with one of --signature and --args")
    if options.args is not None:
        return evaluate_arguments(options.args)
    return examples(options.signature)
