"""Compiles and runs a function, or a graph written as IR text, on arguments, and prints the result.

Arguments are .npy files or Python expressions in which all of lanewise, lw and np are known; random
numbers begin at --seed."""

import time
from pathlib import Path

import numpy as np

import lanewise as lw
from lanewise import _core
from lanewise.cli.common import (
    Failure,
    add_arguments,
    add_json,
    evaluate_arguments,
    jitted,
    load_function,
    print_json,
)

NAME = "run"
HELP = "run a function or an IR file on arguments"
EXAMPLES = """\
  lanewise run file.py:function --args "randn(10000, 2)"
  lanewise run module:function --args x.npy 0.5 --time
  lanewise run seed.ir --args "np.loadtxt('x.csv', delimiter=',', dtype='f4')" -o y.npy"""

# Results of more elements are not written out in JSON.
JSON_LIMIT = 10000


def add_options(parser) -> None:
    parser.add_argument("target", metavar="TARGET", help="module:function, file.py:function, x.ir")
    add_arguments(parser)
    parser.add_argument("--seed", type=int, default=0, help="for random numbers (default: 0)")
    parser.add_argument("--time", action="store_true", help="time the first call and later ones")
    parser.add_argument("-o", "--output", metavar="FILE.npy", help="save the result")
    add_json(parser)


def command(options) -> None:
    lw.manual_seed(options.seed)
    arguments = evaluate_arguments(options.args or [])
    call = runner(options.target, arguments)
    start = time.perf_counter()
    result = call()
    times = {"first_call": time.perf_counter() - start}
    if options.time:
        times["best_call"] = best_time(call)
    arrays = leaves(result)
    if options.output:
        if len(arrays) != 1:
            raise Failure(f"--output: the result is {len(arrays)} arrays, one can be saved")
        np.save(options.output, np.asarray(arrays[0]))
    if options.json:
        print_json({"results": [described(array) for array in arrays], "seconds": times})
        return
    for array in arrays:
        print(array)
    if options.time:
        print(f"first call {1e3 * times['first_call']:.2f} ms", end=", ")
        print(f"best of later ones {1e6 * times['best_call']:.1f} us")


def runner(target: str, arguments: list):
    """A function without arguments that does the work."""
    if not target.endswith(".ir"):
        function = jitted(load_function(target))
        return lambda: function(*arguments)
    try:
        text = Path(target).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{target}: {error}") from None
    return lambda: _core._run_text(text, *arguments)


def best_time(call, seconds: float = 0.5) -> float:
    best = float("inf")
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def leaves(result) -> list[lw.Array]:
    """The arrays of a structure of tuples, lists and dicts."""
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [array for item in result for array in leaves(item)]
    return [result]


def described(array: lw.Array) -> dict:
    shown = {"dtype": str(np.asarray(array).dtype), "shape": list(array.shape)}
    if array.size <= JSON_LIMIT:
        shown["values"] = np.asarray(array).tolist()
    return shown
