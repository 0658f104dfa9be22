"""The installed C++ libraries: a program of their own gives the bits that Python gives."""

import re
import shutil
import subprocess
from pathlib import Path

import lanewise as lw
import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(lw.__file__).parents[2]

pytestmark = [
    pytest.mark.skipif(not (BUILD / "CMakeCache.txt").is_file(), reason="not a build folder"),
    pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake"),
]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cpp")
    prefix, build = folder / "prefix", folder / "build"
    run("cmake", "--install", BUILD, "--component", "cpp", "--prefix", prefix)
    source = shutil.copytree(ROOT / "examples" / "cpp", folder / "source")
    run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", build)
    return build / "seed"


def test_results_are_those_of_python(program):
    lines = run(program).splitlines()
    lw.manual_seed(0)
    x = lw.randn(10000, 2)
    expected = np.asarray(x[:, 0] ** 2 + x[:, 1] ** 3)
    values = np.array([float.fromhex(line) for line in lines[:10000]], np.float32)
    assert values.tobytes() == expected.tobytes()
    assert lines[10000:] == [
        "140",
        "add: cannot broadcast (2, 3) with (10000, 2): axis 0 is 2 and 10000",
    ]


def test_every_function_of_the_table_is_there():
    header = (ROOT / "frontend" / "functions.h").read_text()
    names = set(re.findall(r"F\(\w+, (\w+)\)", header))
    assert names == {row["name"] for row in lw._core.op_table()} - {"where"}


def test_installed_files_are_all_that_is_needed(program):
    includes = program.parents[1] / "prefix" / "include" / "lanewise"
    folders = {path.name for path in includes.iterdir()}
    assert folders == {"lanewise.h", "support", "ir", "runtime", "frontend", "jit"}
    missing = [
        f"{header.relative_to(includes)}: {name}"
        for header in includes.rglob("*.h")
        for name in re.findall(r'^#include "(.*)"', header.read_text(), re.M)
        if not (includes / name).is_file()
    ]
    assert not missing
    assert not list(includes.rglob("detail"))
