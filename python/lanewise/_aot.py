"""Functions compiled ahead of time into libraries for C, and such libraries loaded again."""

import dataclasses
import inspect
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lanewise import _aot_files, _core
from lanewise.errors import DTypeError, ShapeError, UnsupportedError, ValueError

_ERRORS = {4: DTypeError, 5: ShapeError, 6: ShapeError, 7: ValueError, 9: ValueError}
_ERRORS |= {1: UnsupportedError, 10: ShapeError, 11: MemoryError, 12: ValueError}

# In the order in which they are tried, with the arguments that they need to make a shared library.
_LINKERS = (
    ("cc", ["-shared", "-nostartfiles", "-Wl,-z,noexecstack", "-Wl,-soname,{soname}"]),
    ("gcc", ["-shared", "-nostartfiles", "-Wl,-z,noexecstack", "-Wl,-soname,{soname}"]),
    ("clang", ["-shared", "-nostartfiles", "-Wl,-z,noexecstack", "-Wl,-soname,{soname}"]),
    ("ld.lld", ["-shared", "-z", "noexecstack", "-soname", "{soname}"]),
    ("ld", ["-shared", "-z", "noexecstack", "-soname", "{soname}"]),
)


@dataclasses.dataclass(frozen=True)
class CompiledLibrary:
    """What compile_aot wrote. `shared` and `linker` are None where no linker was found."""

    name: str
    object: Path
    archive: Path
    header: Path
    pkg_config: Path
    cmake_config: Path
    shared: Path | None
    linker: str | None
    functions: tuple[str, ...]

    def __str__(self) -> str:
        files = [self.object, self.archive, self.header, self.pkg_config, self.cmake_config]
        lines = [str(file) for file in files]
        if self.shared is None:
            lines.append("no shared library: none of cc, gcc, clang, ld.lld, ld was found")
        else:
            lines.append(f"{self.shared} (linked by {self.linker})")
        return "\n".join(lines)


# ---- compiling ------------------------------------------------------------------------------


def compile_aot(
    function: Callable | Mapping[str, Callable | tuple[Callable, Any]],
    signatures: Any = None,
    path: str | os.PathLike = "",
) -> CompiledLibrary:
    """Compiles functions into a library that C programs can use, without lanewise or a compiler.

    A signature says what arguments are: "f32[n,2], f64" is an array of float32 with two columns,
    and a Python float. Names stand for any size; one name is one size. f64, i64 and bool without
    brackets are Python's numbers; other dtypes without brackets are numbers of that dtype. Instead
    of a string, a tuple of example arguments can be given. Several signatures are a list; each
    becomes a C function, with the dtypes in its name.

    For several functions, `function` is a dict of names and functions, or of names and pairs
    (function, signatures).

    path is "build/libseed": object file, static archive, C header, pkg-config and CMake files are
    written, and a shared library where a linker is found. Results have the bits that lanewise.jit
    gives. Raises ValueError for a signature that does not parse, and whatever the function raises
    when it is traced; TracingError where Python needs the value of a size.

    >>> import tempfile
    >>> def seed(x):
    ...     return x[:, 0]**2 + x[:, 1]**3
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     library = lw.compile_aot(seed, "f32[n,2]", f"{folder}/libseed")
    ...     lw.load(library.object).seed(lw.asarray([[1, 2], [3, 4]], dtype=lw.float32))
    array([ 9., 73.], dtype=float32)
    """
    base, name = _library_path(path)
    builder = _core._AotBuilder(name)
    functions = []
    for python_name, one, its_signatures in _functions(function, signatures):
        names, required = _parameter_names(one)
        texts = [_signature_text(signature) for signature in _as_list(its_signatures)]
        for symbol, text in zip(_symbols(python_name, texts), texts, strict=True):
            interface = builder.add(one, symbol, text, names, required)
            interface |= {"name": python_name, "signature": text, "doc": one.__doc__}
            interface["tree"] = _tree_to_json(interface["tree"])
            functions.append(interface)
    manifest = {"name": name, "version": _core.__version__, "functions": functions}
    data = builder.compile(json.dumps(manifest))
    return _write(base, name, data, functions)


def _library_path(path: str | os.PathLike) -> tuple[Path, str]:
    base = Path(path)
    if base.suffix in (".so", ".o", ".a", ".h"):
        base = base.with_suffix("")
    name = base.name.removeprefix("lib")
    if not name.isidentifier() or not name.isascii():
        raise ValueError(f"compile_aot: '{path}' gives no name for a library: 'build/libseed' does")
    return base.with_name("lib" + name), name


def _functions(function: Any, signatures: Any) -> list[tuple[str, Callable, Any]]:
    if not isinstance(function, Mapping):
        name = getattr(function, "__name__", "")
        if not name.isidentifier() or name in _aot_files.C_KEYWORDS:
            raise ValueError(
                f"compile_aot: {function!r} has no name for C: pass a dict of names and functions"
            )
        return [(name, function, signatures)]
    result = []
    for name, value in function.items():
        one, its = value if isinstance(value, tuple) else (value, signatures)
        if not name.isidentifier() or not name.isascii() or name in _aot_files.C_KEYWORDS:
            raise ValueError(f"compile_aot: '{name}' is no name for a C function")
        result.append((name, one, its))
    return result


def _as_list(signatures: Any) -> list:
    result = list(signatures) if isinstance(signatures, list) else [signatures]
    if not result or result == [None]:
        raise ValueError("compile_aot: no signature given: 'f32[n,2], f64', for instance")
    return result


def _signature_text(signature: Any) -> str:
    if isinstance(signature, str):
        return signature
    if not isinstance(signature, tuple):
        raise TypeError(
            f"compile_aot: a signature is a string or a tuple of example arguments, "
            f"not of type {type(signature).__name__}"
        )
    return ", ".join(_core._aot_describe_example(example) for example in signature)


def _parameter_names(function: Callable) -> tuple[list[str], int]:
    """Names of parameters, and how many have no default: the others may be left out."""
    names = []
    required = 0
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ValueError(
                f"compile_aot: parameter '{parameter}' of {function.__name__} has no fixed number"
            )
        if parameter.kind is parameter.KEYWORD_ONLY:
            if parameter.default is parameter.empty:
                raise ValueError(
                    f"compile_aot: '{parameter.name}' of {function.__name__} is keyword-only"
                )
            continue
        names.append(parameter.name)
        required += parameter.default is parameter.empty
    return names, required


def _symbols(name: str, signatures: Sequence[str]) -> list[str]:
    """C names: the function's own for one signature, else with dtypes, and ranks if need be."""
    if len(signatures) == 1:
        return [name]
    short = [_suffix(text, ranks=False) for text in signatures]
    if len(set(short)) != len(short):
        short = [_suffix(text, ranks=True) for text in signatures]
    if len(set(short)) != len(short):
        short = [str(i) for i in range(len(signatures))]
    return [f"{name}_{suffix}" for suffix in short]


def _suffix(signature: str, ranks: bool) -> str:
    parts = []
    for dtype, shape in re.findall(r"(\w+)\s*(\[[^\]]*\])?\s*(?:,|$)", signature):
        rank = shape.count(",") + 1 if shape.strip("[] ") else 0
        parts.append(f"{dtype}x{rank}" if ranks and shape else dtype)
    return "_".join(parts)


def _tree_to_json(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {"dict": {key: _tree_to_json(value) for key, value in tree.items()}}
    if isinstance(tree, (tuple, list)):
        kind = "tuple" if isinstance(tree, tuple) else "list"
        return {kind: [_tree_to_json(value) for value in tree]}
    return tree


def _write(base: Path, name: str, data: bytes, functions: list[dict]) -> CompiledLibrary:
    base.parent.mkdir(parents=True, exist_ok=True)
    files = {
        "object": base.with_suffix(".o"),
        "archive": base.with_suffix(".a"),
        "header": base.with_name(f"{name}.h"),
        "pkg_config": base.with_name(f"{name}.pc"),
        "cmake_config": base.with_name(f"{name}Config.cmake"),
    }
    files["object"].write_bytes(data)
    files["archive"].write_bytes(_core._aot_archive(data, f"{name}.o"))
    files["header"].write_text(_aot_files.header(name, _core.__version__, functions))
    files["pkg_config"].write_text(_aot_files.pkg_config(name, _core.__version__))
    shared, linker = _link(files["object"], base.with_suffix(".so"))
    files["cmake_config"].write_text(_aot_files.cmake_config(name))
    symbols = tuple(function["symbol"] for function in functions)
    return CompiledLibrary(name=name, **files, shared=shared, linker=linker, functions=symbols)


def _link(source: Path, target: Path) -> tuple[Path | None, str | None]:
    target.unlink(missing_ok=True)
    failures = []
    for linker, arguments in _LINKERS:
        program = shutil.which(linker)
        if program is None:
            continue
        filled = [argument.format(soname=target.name) for argument in arguments]
        command = [program, *filled, "-o", str(target), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return target, program
        failures.append(f"{program}: {done.stderr.strip()}")
    if failures:
        raise _core.CompileError("compile_aot: no linker made a shared library: " + failures[0])
    return None, None


# ---- loading --------------------------------------------------------------------------------


def load(path: str | os.PathLike) -> "Library":
    """A library made by compile_aot, with its functions as attributes.

    path is the shared library, the object file or the archive (these two need no linker), or what
    was given to compile_aot. Arguments are checked as the prototype says; results are new arrays,
    or what out= gives: Arrays or ndarrays, in the structure of the results. Raises
    UnsupportedError for a library of a version of lanewise with another interface, CompileError
    for a file that is no such library.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lw.compile_aot({"twice": lambda x: 2 * x}, "f64[n]", f"{folder}/libtwice").object
    ...     lw.load(f"{folder}/libtwice.o").twice(np.ones(2))  # doctest: +ELLIPSIS
    PosixPath('...libtwice.o')
    array([2., 2.])
    """
    file = _library_file(Path(path))
    if file.suffix == ".so":
        return Library(_load_shared(file.resolve()), file)
    return Library(_core._aot_load_object(file.read_bytes(), file.name), file)


_loaded_files: dict[str, tuple] = {}


def _load_shared(file: Path) -> Any:
    """The system's loader takes a path that it knows for the file that was there before."""
    status = file.stat()
    identity = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    if _loaded_files.setdefault(str(file), identity) == identity:
        return _core._aot_load_shared_library(str(file))
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(file, folder)
        return _core._aot_load_shared_library(str(copy))


def _library_file(path: Path) -> Path:
    if path.suffix in (".so", ".o", ".a"):
        candidates = [path]
    else:
        candidates = [path.with_name(path.name + suffix) for suffix in (".so", ".o", ".a")]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(f"load: no file {' or '.join(map(str, candidates))}")


class Library:
    """Functions compiled ahead of time, as attributes and in the dict `functions`."""

    def __init__(self, library: Any, path: Path) -> None:
        manifest = json.loads(library.manifest)
        self.name = manifest["name"]
        self.version = library.version
        self.path = path
        variants: dict[str, list] = {}
        for index, description in enumerate(manifest["functions"]):
            variant = _Variant(library, index, description)
            variants.setdefault(description["name"], []).append(variant)
        self.functions = {name: LoadedFunction(name, all_) for name, all_ in variants.items()}

    def __getattr__(self, name: str) -> "LoadedFunction":
        try:
            return self.__dict__["functions"][name]
        except KeyError:
            raise AttributeError(f"library {self.name} has no function '{name}'") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.functions]

    def __repr__(self) -> str:
        return f"<lanewise library {self.name}: {', '.join(self.functions)}>"


class LoadedFunction:
    """A function of a library: called like the function that was compiled."""

    def __init__(self, name: str, variants: "list[_Variant]") -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = variants[0].doc
        self._variants = variants
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = [parameter["name"] for parameter in variants[0].parameters]
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])

    @property
    def signatures(self) -> list[str]:
        """The signatures that it was compiled for."""
        return [variant.signature for variant in self._variants]

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        arguments = self.__signature__.bind(*args, **kwargs).args
        arguments = [_as_argument(argument) for argument in arguments]
        if len(self._variants) == 1:
            return self._variants[0](arguments, out)
        for variant in self._variants:
            if variant.takes(arguments):
                return variant(arguments, out)
        given = ", ".join(_describe(argument) for argument in arguments)
        raise DTypeError(
            f"{self.__name__}: no code for {given}: compiled for {' and '.join(self.signatures)}"
        )

    def __repr__(self) -> str:
        return f"<lanewise function {self.__name__}: {' and '.join(self.signatures)}>"


def _as_argument(value: Any) -> Any:
    if isinstance(value, (bool, int, float, _core.Array, np.ndarray, np.generic)):
        return value
    return _core.from_dlpack(value) if hasattr(value, "__dlpack__") else _core.asarray(value)


def _describe(value: Any) -> str:
    if isinstance(value, (bool, int, float)):
        return type(value).__name__
    return f"{value.dtype}{list(value.shape)}"


class _Variant:
    """A function for one signature."""

    def __init__(self, library: Any, index: int, description: dict) -> None:
        self.library = library
        self.index = index
        self.name = description["name"]
        self.doc = description["doc"]
        self.signature = description["signature"]
        self.parameters = description["parameters"]
        self.results = description["results"]
        self.constraints = description["constraints"]
        self.tree = description["tree"]

    def takes(self, arguments: list) -> bool:
        try:
            self.bind(arguments)
        except (DTypeError, ShapeError):
            return False
        return True

    def bind(self, arguments: list) -> dict[str, int]:
        """The values of the named sizes; DTypeError or ShapeError for what does not fit."""
        sizes: dict[str, int] = {}
        for parameter, value in zip(self.parameters, arguments, strict=True):
            if parameter["number"]:
                self._check_number(parameter, value)
            else:
                self._check_array(parameter, value, sizes)
        for constraint in self.constraints:
            left, relation, right = re.split(r" (==|>=) ", constraint)
            a, b = _evaluate(left, sizes), _evaluate(right, sizes)
            if a != b if relation == "==" else a < b:
                raise ShapeError(f"{self.name}: {constraint} does not hold: {a} and {b}")
        return sizes

    def _check_number(self, parameter: dict, value: Any) -> None:
        if getattr(value, "shape", ()) != ():
            raise DTypeError(
                f"{self.name}: {parameter['name']} is a number of dtype {parameter['dtype']}, "
                f"not an array of shape {tuple(value.shape)}"
            )
        integral = isinstance(value, int) or "int" in str(getattr(value, "dtype", ""))
        if "int" in parameter["dtype"] and not integral:
            raise DTypeError(f"{self.name}: {parameter['name']} is an integer, not {value!r}")

    def _check_array(self, parameter: dict, value: Any, sizes: dict[str, int]) -> None:
        name, expected = parameter["name"], parameter["shape"]
        if not hasattr(value, "shape"):
            raise DTypeError(f"{self.name}: {name} is an array, not {value!r}")
        if str(value.dtype) != parameter["dtype"]:
            raise DTypeError(
                f"{self.name}: {name} has dtype {value.dtype}, not {parameter['dtype']}"
            )
        shape = tuple(value.shape)
        fits = len(shape) == len(expected)
        for text, size in zip(expected, shape, strict=False):
            known = int(text) if text.isdigit() else sizes.setdefault(text, size)
            fits = fits and known == size
        if not fits:
            wanted = ", ".join(
                f"{text}={sizes[text]}" if text in sizes else text for text in expected
            )
            raise ShapeError(f"{self.name}: {name} has shape {shape}, not ({wanted})")

    def __call__(self, arguments: list, out: Any) -> Any:
        sizes = self.bind(arguments)
        arrays, numbers = [], []
        for parameter, value in zip(self.parameters, arguments, strict=True):
            if parameter["number"]:
                value = value.item() if hasattr(value, "item") else value
                numbers.append((value, parameter["dtype"], parameter["name"]))
            else:
                arrays.append(value)
        targets: list = [None] * len(self.results)
        if out is not None:
            _match(self.tree, out, targets)
        results = [self._result(*pair, sizes) for pair in zip(self.results, targets, strict=True)]
        code, outputs = self.library.call(self.index, arrays, numbers, results)
        if code:
            self._fail(code)
        for i, target in enumerate(targets):
            if isinstance(target, _core.Array):
                target[...] = outputs[i]
                outputs[i] = target
        return _fill(self.tree, outputs)

    def _result(self, result: dict, target: Any, sizes: dict[str, int]) -> Any:
        """An ndarray that the library writes to, or dtype and shape of a new array. What an Array
        gets is a new array first: other arrays may see its memory, the arguments among them."""
        if isinstance(target, np.ndarray):
            return target
        shape = [_evaluate(text, sizes) for text in result["shape"]]
        if target is not None and tuple(target.shape) != tuple(shape):
            raise ShapeError(
                f"{self.name}: out: shape {target.shape}, but the result has {tuple(shape)}"
            )
        if target is not None and str(target.dtype) != result["dtype"]:
            raise DTypeError(
                f"{self.name}: out: dtype {target.dtype}, but the result has {result['dtype']}"
            )
        return result["dtype"], shape

    def _fail(self, code: int) -> None:
        message = self.library.message(code)
        place = code >> 8
        names = [parameter["name"] for parameter in self.parameters]
        names += [result["name"] for result in self.results]
        about = f"{names[place - 1]}: " if place else ""
        raise _ERRORS.get(code & 0xFF, ValueError)(f"{self.name}: {about}{message}")


def _evaluate(polynomial: str, sizes: dict[str, int]) -> int:
    """The value of "2*n*m + n - 1"."""
    total = 0
    for sign, term in re.findall(r"([+-]?) ?([\w*]+)", polynomial):
        product = -1 if sign == "-" else 1
        for factor in term.split("*"):
            product *= int(factor) if factor.isdigit() else sizes[factor]
        total += product
    return total


def _match(tree: Any, out: Any, targets: list) -> None:
    """Fills `targets`, by the numbers of the results, from an out= of the structure of these."""
    if isinstance(tree, int):
        if isinstance(out, (tuple, list)) and len(out) == 1:
            (out,) = out
        if out is not None and not isinstance(out, (_core.Array, np.ndarray)):
            raise TypeError(f"out: {type(out).__name__} where an Array or ndarray is needed")
        targets[tree] = out
        return
    if tree is None or out is None:
        if out is not None:
            raise TypeError(f"out: {type(out).__name__} where the result is None")
        return
    ((kind, items),) = tree.items()
    if not isinstance(out, dict if kind == "dict" else (tuple, list)):
        raise TypeError(f"out: {type(out).__name__} where the result is a {kind}")
    if kind == "dict" and out.keys() != items.keys():
        raise ValueError(f"out: keys {list(out)}, but the result has {list(items)}")
    if len(out) != len(items):
        raise ValueError(f"out: {kind} of {len(out)}, but the result has {len(items)}")
    for key in items if kind == "dict" else range(len(items)):
        _match(items[key], out[key], targets)


def _fill(tree: Any, leaves: list) -> Any:
    if isinstance(tree, int):
        return leaves[tree]
    if tree is None:
        return None
    ((kind, items),) = tree.items()
    if kind == "dict":
        return {key: _fill(value, leaves) for key, value in items.items()}
    filled = [_fill(value, leaves) for value in items]
    return tuple(filled) if kind == "tuple" else filled
