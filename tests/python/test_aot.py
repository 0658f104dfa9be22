"""compile_aot and load: compiled libraries give the bits that lanewise.jit gives."""

import inspect
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import lanewise as lw
import numpy as np
import pytest
from lanewise.errors import (
    CompileError,
    DTypeError,
    ShapeError,
    TracingError,
    UnsupportedError,
    ValueError,
)

EXAMPLES = Path(__file__).parents[2] / "examples" / "aot"
CC = shutil.which("cc")
needs_compiler = pytest.mark.skipif(CC is None, reason="no C compiler")


def seed(x):
    """Square of the first column plus cube of the second."""
    return x[:, 0] ** 2 + x[:, 1] ** 3


def bits(array):
    return np.ascontiguousarray(np.asarray(array)).tobytes()


def random(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def layouts(x):
    """The same values at other strides."""
    yield x
    yield np.asfortranarray(x)
    yield np.flip(np.flip(x).copy())
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1] + 1), x.dtype)
    wide[..., ::2][..., : x.shape[-1]] = x
    yield wide[..., ::2][..., : x.shape[-1]]
    tall = np.zeros((3 * x.shape[0], *x.shape[1:]), x.dtype)
    tall[::3] = x
    yield tall[::3]


@pytest.fixture(scope="module")
def seed_library(tmp_path_factory):
    return lw.compile_aot(seed, "f32[n,2]", tmp_path_factory.mktemp("seed") / "libseed")


@pytest.mark.parametrize("kind", ["shared", "object", "archive"])
def test_seed_has_the_bits_of_the_jit(seed_library, kind):
    file = getattr(seed_library, kind)
    if file is None:
        pytest.skip("no linker")
    function = lw.load(file).seed
    jitted = lw.jit(seed)
    for count in (0, 1, 2, 15, 16, 17, 100, 1023, 4097):
        x = random(count, 2, seed=count)
        expected = bits(jitted(x))
        for layout in layouts(x):
            assert bits(function(layout)) == expected


def test_fast_functions_stay_fast(tmp_path):
    def power(x):
        return x**7

    fast = lw.jit(power, fast=True)
    library = lw.compile_aot(fast, "f32[n]", tmp_path / "libpower")
    loaded = lw.load(library.object).power
    x = random(100)
    assert bits(loaded(x)) == bits(fast(x)) != bits(lw.jit(power)(x))


def test_load_finds_the_file_by_the_name_that_compile_aot_got(seed_library):
    library = lw.load(seed_library.object.with_suffix(""))
    x = random(5, 2)
    assert bits(library.seed(x)) == bits(lw.jit(seed)(x))
    assert list(inspect.signature(library.seed).parameters) == ["x"]
    assert library.seed.__name__ == "seed"
    assert library.seed.__doc__ == seed.__doc__
    assert library.seed.signatures == ["f32[n,2]"]
    assert library.version == lw.__version__
    with pytest.raises(AttributeError, match="no function 'other'"):
        library.other  # noqa: B018


def test_arguments_of_loaded_functions_are_checked(seed_library):
    function = lw.load(seed_library.object).seed
    with pytest.raises(DTypeError, match=r"seed: x has dtype float64, not float32"):
        function(random(4, 2, dtype=np.float64))
    with pytest.raises(ShapeError, match=r"seed: x has shape \(4, 3\), not \(n=4, 2\)"):
        function(random(4, 3))
    with pytest.raises(ShapeError, match=r"seed: x has shape \(4,\), not "):
        function(random(4))
    with pytest.raises(DTypeError, match="x is an array, not 3"):
        function(3)
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        function()


def test_out_is_written_and_must_not_overlap(seed_library):
    function = lw.load(seed_library.object).seed
    x = random(50, 2)
    memory = np.zeros(100, np.float32)
    out = memory[::2]
    assert function(x, out=out) is out
    assert bits(out) == bits(lw.jit(seed)(x))
    assert not memory[1::2].any()
    with pytest.raises(ValueError, match="out: an output overlaps an input"):
        function(x, out=x[:, 0])
    with pytest.raises(ValueError, match="out: strides that overflow, or an output"):
        function(x, out=np.lib.stride_tricks.as_strided(out, (50,), (0,)))
    with pytest.raises(ShapeError, match="out: the shape is not"):
        function(x, out=memory)
    out.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        function(x, out=out)


def test_out_is_an_array_of_lanewise(seed_library):
    function = lw.load(seed_library.object).seed
    x = random(50, 2)
    expected = bits(lw.jit(seed)(x))
    out = lw.zeros(50, dtype=lw.float32)
    assert function(x, out=out) is out
    assert bits(out) == expected
    whole = lw.zeros((50, 3), dtype=lw.float32)
    before = whole + 1
    assert bits(function(x, out=whole[:, 1])) == expected == bits(whole[:, 1])
    assert not np.asarray(whole)[:, ::2].any() and (np.asarray(before) == 1).all()
    memory = np.zeros(50, np.float32)
    function(x, out=lw.asarray(memory, copy=False))
    assert bits(memory) == expected
    both = lw.asarray(x)
    function(both, out=both[:, 0])
    assert bits(both[:, 0]) == expected and bits(both[:, 1]) == bits(x[:, 1])
    with pytest.raises(ShapeError, match=r"seed: out: shape \(49,\), but the result has \(50,\)"):
        function(x, out=out[1:])
    with pytest.raises(DTypeError, match="out: dtype float64, but the result has float32"):
        function(x, out=lw.zeros(50))
    with pytest.raises(ValueError, match="read-only|broadcast"):
        function(x, out=lw.broadcast_to(lw.zeros(1, dtype=lw.float32), (50,)))
    for wrong, name in ((3, "int"), ([1.0, 2.0], "list"), ("x", "str"), ((), "tuple")):
        with pytest.raises(TypeError, match=f"out: {name} where an Array or ndarray is needed"):
            function(x, out=wrong)


def test_out_has_the_structure_of_the_results(tmp_path):
    def parts(x):
        return x + 1, {"sum": x.sum(), "twice": [x * 2]}

    function = lw.load(lw.compile_aot(parts, "f64[n]", tmp_path / "libparts").object).parts
    x = random(20, dtype=np.float64)
    first, total, twice = lw.zeros(20), np.zeros(()), np.zeros(20)
    result = function(x, out=(first, {"sum": total, "twice": [twice]}))
    assert result[0] is first and result[1]["sum"] is total and result[1]["twice"][0] is twice
    expected = parts(lw.asarray(x))
    assert bits(first) == bits(expected[0]) and bits(total) == bits(expected[1]["sum"])
    assert bits(twice) == bits(expected[1]["twice"][0])
    result = function(x, out=(None, {"sum": None, "twice": [first]}))
    assert result[1]["twice"][0] is first and bits(first) == bits(twice)
    assert bits(result[0]) == bits(expected[0])
    with pytest.raises(ValueError, match="out: tuple of 1, but the result has 2"):
        function(x, out=(first,))
    with pytest.raises(TypeError, match="out: Array where the result is a tuple"):
        function(x, out=first)
    with pytest.raises(ValueError, match=r"out: keys \['sum'\], but the result has"):
        function(x, out=(first, {"sum": total}))


def test_an_object_needs_three_functions_of_the_c_library(seed_library):
    if shutil.which("nm") is None:
        pytest.skip("no nm")
    listing = subprocess.run(
        ["nm", "-u", seed_library.object], capture_output=True, text=True, check=True
    )
    assert set(listing.stdout.split()) <= {"U", "malloc", "free", "getenv"}
    if seed_library.shared is None:
        return
    needed = subprocess.run(
        ["readelf", "-d", seed_library.shared], capture_output=True, text=True, check=True
    )
    assert re.findall(r"NEEDED.*\[(.*)\]", needed.stdout) in (["libc.so.6"], [])


def test_a_library_that_was_compiled_again_is_loaded_anew(tmp_path):
    for factor in (2, 3, 4):
        made = lw.compile_aot({"f": lambda x, k=factor: x * k}, "f32[n]", tmp_path / "libf")
        file = made.shared or made.object
        x = random(5)
        assert bits(lw.load(file).f(x)) == bits(x * np.float32(factor))


def write_first_word(library, symbol, value):
    """Changes what a shared library has at a symbol."""
    listing = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True)
    address = int(re.search(rf"([0-9a-f]+) \w {symbol}\n", listing.stdout)[1], 16)
    data = bytearray(library.read_bytes())
    (headers,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for i in range(count):
        kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", data, headers + i * size)
        if kind == 1 and start <= address < start + length:
            struct.pack_into("<q", data, offset + address - start, value)
    library.write_bytes(data)


def test_a_library_of_another_version_is_refused(seed_library, tmp_path):
    if seed_library.shared is None or shutil.which("nm") is None:
        pytest.skip("no linker or no nm")
    copy = Path(shutil.copy(seed_library.shared, tmp_path))
    write_first_word(copy, "lanewise_library", 99)
    with pytest.raises(UnsupportedError, match=r"another interface \(99; this one has 1\)"):
        lw.load(copy)


def test_files_of_another_make_are_refused(tmp_path, seed_library):
    with pytest.raises(FileNotFoundError, match="no file .*missing.so or"):
        lw.load(tmp_path / "missing")
    text = tmp_path / "text.o"
    text.write_text("no object file")
    with pytest.raises(CompileError):
        lw.load(text)
    text.rename(tmp_path / "text.so")
    with pytest.raises(CompileError, match="text.so"):
        lw.load(tmp_path / "text.so")


# ---- C and C++ ------------------------------------------------------------------------------


def write_rows(path, x):
    lines = [f"{float(a)!r},{float(b)!r}\n" for a, b in x]
    path.write_text("".join(lines))


def run_alone(program, folder, *arguments, **environment):
    """Without environment, in a folder with nothing but the program and what it reads."""
    done = subprocess.run(
        [program, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    return done.returncode, done.stdout, done.stderr


def parse_bits(text):
    return np.array([float.fromhex(line) for line in text.split()], np.float32).tobytes()


@needs_compiler
@pytest.mark.parametrize("link", ["archive", "object", "shared"])
def test_c_program_with_nothing_but_the_artefact(seed_library, tmp_path, link):
    """The seed expression on rows of a CSV file, under env -i."""
    build, run = tmp_path / "build", tmp_path / "run"
    build.mkdir()
    run.mkdir()
    library = getattr(seed_library, link)
    shutil.copy(library, build)
    shutil.copy(seed_library.header, build)
    shutil.copy(EXAMPLES / "seed.c", build)
    command = [CC, "-Wall", "-Wextra", "-Werror", "-O1", "seed.c", "-I.", library.name]
    command += ["-Wl,-rpath,$ORIGIN", "-o", run / "seed"]
    subprocess.run(command, cwd=build, check=True)
    if link == "shared":
        shutil.move(build / library.name, run)
    shutil.rmtree(build)
    x = random(1000, 2)
    write_rows(run / "rows.csv", x)
    expected = bits(lw.jit(seed)(x))
    for environment in ({}, {"LANEWISE_TARGET": "x86-64-v3"}):
        code, output, _ = run_alone(run / "seed", run, "rows.csv", **environment)
        assert code == 0
        assert parse_bits(output) == expected
    code, _, message = run_alone(run / "seed", run, "rows.csv", LANEWISE_TARGET="x86-64")
    assert code == 1
    assert "this CPU lacks AVX2" in message


TWO_LIBRARIES = """
#include <first.h>
#include <second.h>
int main(void) {
  float values[] = {1, 2, 3}, results[3];
  int64_t shape = 3;
  const DLTensor x = {values, {1, 0}, 1, {2, 32, 1}, &shape, 0, 0};
  const DLTensor out = {results, {1, 0}, 1, {2, 32, 1}, &shape, 0, 0};
  if (twice(&x, &out) != 0 || results[2] != 6) return 1;
  if (thrice(&x, &out) != 0 || results[2] != 9) return 2;
  return first_message(0) == second_message(0) ? 3 : 0;
}
"""


@needs_compiler
@pytest.mark.parametrize("link", ["archive", "object"])
def test_two_libraries_in_one_program(tmp_path, link):
    first = lw.compile_aot({"twice": lambda x: x * 2}, "f32[n]", tmp_path / "libfirst")
    second = lw.compile_aot({"thrice": lambda x: x * 3}, "f32[n]", tmp_path / "libsecond")
    (tmp_path / "two.c").write_text(TWO_LIBRARIES)
    command = [CC, "-Wall", "-Werror", "two.c", "-I.", getattr(first, link), getattr(second, link)]
    subprocess.run([*command, "-o", "two"], cwd=tmp_path, check=True)
    assert run_alone(tmp_path / "two", tmp_path)[0] == 0


@needs_compiler
@pytest.mark.skipif(shutil.which("cmake") is None, reason="no CMake")
def test_cmake_package_with_c_and_cpp_programs(seed_library, tmp_path):
    package = tmp_path / "package"
    package.mkdir()
    for file in (seed_library.archive, seed_library.header, seed_library.cmake_config):
        shutil.copy(file, package)
    source = shutil.copytree(EXAMPLES, tmp_path / "source")
    build = tmp_path / "build"
    configure = ["cmake", "-S", source, "-B", build, f"-Dseed_DIR={package}"]
    for command in (configure, ["cmake", "--build", build]):
        subprocess.run(command, check=True, capture_output=True)
    x = random(5003, 2)
    write_rows(tmp_path / "rows.csv", x)
    expected = bits(lw.jit(seed)(x))
    for program in ("seed_c", "seed_cpp"):
        code, output, message = run_alone(build / program, tmp_path, "rows.csv")
        assert code == 0, message
        assert parse_bits(output) == expected


@needs_compiler
@pytest.mark.skipif(shutil.which("pkg-config") is None, reason="no pkg-config")
def test_pkg_config_file(seed_library):
    environment = {**os.environ, "PKG_CONFIG_PATH": str(seed_library.pkg_config.parent)}
    command = ["pkg-config", "--cflags", "--libs", "seed"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "-lseed" in done.stdout
    assert f"-I{seed_library.pkg_config.parent}" in done.stdout


def test_example_script(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(lw.__file__).parents[1])}
    command = [sys.executable, EXAMPLES / "compile_seed.py", tmp_path / "libseed"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "libseed.o" in done.stdout


# ---- signatures -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("signature", "message", "column"),
    [
        ("f32[n,2", "expected ']'", 7),
        ("f32[n 2]", "expected ',' or ']'", 6),
        ("f32[n,]", "expected a size", 6),
        ("f32[2n]", "a name cannot begin with a digit", 4),
        ("f32[-1]", "expected a size: a name or a number", 4),
        ("f16[n]", "'f16' is no dtype", 0),
        ("f32[n], ", "expected a dtype after ','", 8),
        ("f32[n] f64", "expected ',' or the end", 7),
        ("f32[99999999999999999999]", "this size does not fit 64 bits", 4),
    ],
)
def test_errors_of_signatures_point_at_the_place(tmp_path, signature, message, column):
    with pytest.raises(ValueError) as caught:
        lw.compile_aot(seed, signature, tmp_path / "libseed")
    first, text, caret = str(caught.value).split("\n")
    assert message in first
    assert text[2:] == signature
    assert caret.index("^") - 2 == column


def test_signature_and_function_must_fit(tmp_path):
    with pytest.raises(ValueError, match="2 parameters in 'f32.n., f64', but seed takes 1"):
        lw.compile_aot(seed, "f32[n], f64", tmp_path / "libseed")
    with pytest.raises(ValueError, match="no signature given"):
        lw.compile_aot(seed, None, tmp_path / "libseed")
    with pytest.raises(ValueError, match="gives no name for a library"):
        lw.compile_aot(seed, "f32[n,2]", tmp_path / "lib-seed")


def test_values_are_not_known_while_tracing(tmp_path):
    def branches(x):
        return x + 1 if x[0] > 0 else x

    with pytest.raises(TracingError):
        lw.compile_aot(branches, "f32[n]", tmp_path / "libbad")
