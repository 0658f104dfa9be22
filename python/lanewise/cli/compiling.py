"""Compiles functions ahead of time into a library that C programs use without lanewise or Python.

Signatures say what arguments are, as in "f32[n,2], f64": arrays with their shapes, in which names
stand for any size, and numbers. With several, each function is compiled for each. Written are an
object file, a static archive, a C header, files for pkg-config and CMake, and a shared library
where a linker is found (docs/aot.md)."""

import functools
import sys
import threading
import time
from pathlib import Path

import lanewise as lw
from lanewise.cli.common import Failure, add_json, load_function, print_json

NAME = "compile"
HELP = "make a library for C of functions"
EXAMPLES = """\
  lanewise compile module:function --signature "f32[n,2], f64" -o build/libseed
  lanewise compile file.py:f file.py:g --signature "f32[n]" --signature "f64[n]" -o libfg"""


def add_options(parser) -> None:
    parser.add_argument(
        "functions", nargs="+", metavar="module:function", help="or file.py:function"
    )
    parser.add_argument(
        "--signature", action="append", required=True, help="of the arguments; may be repeated"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="PATH", help="build/libseed, without an ending"
    )
    add_json(parser)


def command(options) -> None:
    functions = {}
    for target in options.functions:
        function = load_function(target)
        name = getattr(function, "__name__", target.rpartition(":")[2])
        if name in functions:
            raise Failure(f"two functions are called '{name}'")
        functions[name] = function
    with Progress(len(functions) * len(options.signature)) as progress:
        functions = {name: progress.counting(each) for name, each in functions.items()}
        library = lw.compile_aot(functions, options.signature, options.output)
    if options.json:
        print_json(
            {
                name: str(value) if isinstance(value, Path) else value
                for name, value in vars(library).items()
            }
        )
    else:
        print(library)


class Progress:
    """A bar on standard error while a terminal waits: functions traced, then time compiling."""

    WIDTH = 30
    PATIENCE = 0.3  # seconds; shorter work needs no bar

    def __init__(self, total: int):
        self.total = total
        self.traced = 0
        self.start = time.monotonic()
        self.ended = threading.Event()
        self.drawer = threading.Thread(target=self._draw, daemon=True)

    def counting(self, function):
        """The function; that it was traced once more is counted."""

        @functools.wraps(function)
        def traced(*args, **kwargs):
            result = function(*args, **kwargs)
            self.traced += 1
            return result

        return traced

    def text(self) -> str:
        filled = self.WIDTH * self.traced // self.total
        bar = "#" * filled + "-" * (self.WIDTH - filled)
        seconds = time.monotonic() - self.start
        what = "compiling" if self.traced == self.total else "tracing"
        return f"[{bar}] {self.traced}/{self.total} functions, {what}, {seconds:.1f} s"

    def _draw(self) -> None:
        drawn = False
        while not self.ended.wait(0.1 if drawn else self.PATIENCE):
            drawn = True
            print(f"\r{self.text()}", end="", file=sys.stderr, flush=True)
        if drawn:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> "Progress":
        if sys.stderr.isatty():
            self.drawer.start()
        return self

    def __exit__(self, *_) -> None:
        self.ended.set()
        if self.drawer.is_alive():
            self.drawer.join()
