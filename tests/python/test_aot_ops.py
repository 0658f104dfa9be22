"""All ops of the table in one library: the bits of the JIT, with AVX2 and with AVX-512 code."""

import os
import subprocess
import sys
from pathlib import Path

import lanewise as lw
import numpy as np
import pytest
from lanewise import _core

from support import random_values

DTYPES = {"float32": "f32", "float64": "f64", "int32": "i32", "uint8": "u8", "bool": "bool"}
COUNT = 301

RUN_ALL = """
import sys
import lanewise as lw
import numpy as np
library = lw.load(sys.argv[1])
inputs = np.load(sys.argv[2])
results = {}
for name, function in library.functions.items():
    count = len(function.signatures[0].split(","))
    arguments = [inputs[f"{name}.{i}"] for i in range(count)]
    results[name] = np.asarray(function(*arguments))
    results[name + ".strided"] = np.asarray(function(*[np.repeat(a, 2)[::2] for a in arguments]))
np.savez(sys.argv[3], **results)
"""


def elementwise():
    """Name, function, number of arguments and dtype of everything that the table has."""
    for row in _core.op_table():
        function = getattr(lw, row["name"])
        for dtype in DTYPES:
            arguments = [lw.ones(2, dtype=dtype)] * row["arity"]
            try:
                function(*arguments)
            except lw.errors.DTypeError:
                continue
            yield f"{row['name']}_{DTYPES[dtype]}", function, row["arity"], dtype
    for dtype in ("float32", "float64"):
        for exponent in (3, 2.5, -2, 0.5, 7):
            name = f"pow_const_{str(exponent).replace('.', '_').replace('-', 'm')}_{DTYPES[dtype]}"
            yield name, (lambda x, e=exponent: x**e), 1, dtype


def named(function, count):
    """With a signature, which functions of C do not always have."""
    functions = [
        lambda x: function(x),
        lambda x, y: function(x, y),
        lambda x, y, z: function(x, y, z),
    ]
    return functions[count - 1]


def arguments_of(name, count, dtype, rng):
    values = [random_values(dtype, COUNT, rng) for _ in range(count)]
    if name.startswith("pow_i"):
        values[1] = np.abs(values[1]) % 20  # negative ones are refused
    return values


def assert_same(actual, expected, name):
    """Equal bits; the sign and payload of NaN are left open."""
    assert actual.dtype == expected.dtype, name
    if actual.dtype.kind == "f":
        nan = np.isnan(expected)
        assert (np.isnan(actual) == nan).all(), name
        actual, expected = actual[~nan], expected[~nan]
    assert actual.tobytes() == expected.tobytes(), name


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ops")
    rng = np.random.default_rng(7)
    functions, inputs, expected = {}, {}, {}
    for name, function, count, dtype in elementwise():
        functions[name] = (named(function, count), ", ".join([f"{DTYPES[dtype]}[n]"] * count))
        arguments = arguments_of(name, count, dtype, rng)
        inputs |= {f"{name}.{i}": value for i, value in enumerate(arguments)}
        expected[name] = np.asarray(lw.jit(functions[name][0])(*arguments))
    library = lw.compile_aot(functions, path=folder / "libops")
    np.savez(folder / "inputs.npz", **inputs)
    return library, folder, expected


def test_every_function_of_the_table_is_there(compiled):
    _, _, expected = compiled
    assert {row["name"] for row in _core.op_table()} <= {
        name.rsplit("_", 1)[0] for name in expected
    }


@pytest.mark.parametrize("target", ["host", "x86-64-v3"])
def test_bits_of_all_ops(compiled, target):
    library, folder, expected = compiled
    environment = {**os.environ, "PYTHONPATH": str(Path(lw.__file__).parents[1])}
    environment["LANEWISE_TARGET"] = target
    command = [sys.executable, "-c", RUN_ALL, library.object]
    command += [folder / "inputs.npz", folder / f"{target}.npz"]
    subprocess.run(command, env=environment, check=True)
    results = np.load(folder / f"{target}.npz")
    for name, values in expected.items():
        assert_same(results[name], values, name)
        assert_same(results[name + ".strided"], values, name)
