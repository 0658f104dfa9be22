"""The developer's commands: set up .venv, build into build/, run, test, check.

Uses the standard library only, since it runs before anything is installed. It needs Python with
venv and headers and a C++20 compiler; all else comes from the Python package index, except
GoogleTest and MPFR, which only the tests need.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BENCH_VENV = ROOT / ".venv-bench"
PYTHON = VENV / "bin" / "python"

COMPILER_PROBE = """
#include <bit>
#include <concepts>
#include <span>
template <std::integral T> constexpr T f(std::span<T> s) { return std::bit_ceil(s[0]); }
int main() { unsigned x[]{3}; return f(std::span<unsigned>(x)) != 4; }
"""


class Failure(Exception):
    """Ends the command with this message, or silently where the failing program has spoken."""

    def __init__(self, message: str = "", code: int = 1):
        super().__init__(message)
        self.code = code


def run(*command, env: dict | None = None, **options) -> None:
    """Runs a program in the root of the tree; its failure ends the command."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT, env=env, **options)
    if done.returncode != 0:
        raise Failure(code=done.returncode)


def say(text: str) -> None:
    print(f"dev: {text}", flush=True)


# What the machine must have.


def check_python() -> None:
    try:
        import ensurepip  # noqa: F401  (Debian leaves it out of python3)
        import venv  # noqa: F401
    except ImportError:
        raise Failure("this Python has no venv (Debian: install python3-venv)") from None
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        raise Failure("this Python has no headers (Debian: install python3-dev)")


def check_compiler() -> None:
    compiler = os.environ.get("CXX", "c++")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "probe.cpp")
        source.write_text(COMPILER_PROBE)
        try:
            subprocess.run(
                [*compiler.split(), "-std=c++20", str(source), "-o", str(Path(folder, "probe"))],
                check=True,
                capture_output=True,
                text=True,
            )
        except FileNotFoundError:
            raise Failure(f"no C++ compiler {compiler} (Debian: install g++)") from None
        except subprocess.CalledProcessError as error:
            raise Failure(
                f"{compiler} does not compile C++20: GCC 12 or Clang 15 and newer do "
                f"(Debian: install g++)\n{error.stderr}"
            ) from None


def ensure_test_libraries() -> None:
    """Installs GoogleTest and MPFR, and valgrind, which is not necessary, where that needs no
    question."""
    headers = {"libgtest-dev": "gtest/gtest.h", "libmpfr-dev": "mpfr.h"}
    headers["valgrind"] = "valgrind/valgrind.h"
    missing = [
        package
        for package, header in headers.items()
        if not Path("/usr/include", header).exists()
        and not Path("/usr/local/include", header).exists()
    ]
    if not missing:
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        if missing == ["valgrind"]:
            return
        raise Failure(f"test libraries are missing (Debian: install {' '.join(missing)})")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *missing]
    if subprocess.run(install, env=env, stdout=subprocess.DEVNULL).returncode != 0:
        run("apt-get", "update", "-q", env=env)
        run(*install, env=env)


# The virtual environment.


def requirements(*groups: str, building: bool = True) -> list[str]:
    """What pyproject.toml asks for to build, to run and in these dependency groups."""
    code = (
        "import json\n"
        "try: import tomllib\n"
        "except ImportError: from pip._vendor import tomli as tomllib\n"
        "print(json.dumps(tomllib.load(open('pyproject.toml', 'rb'))))"
    )
    shown = subprocess.run([str(PYTHON), "-c", code], cwd=ROOT, check=True, capture_output=True)
    project = json.loads(shown.stdout)
    wanted = project["project"]["dependencies"]
    if building:
        wanted += project["build-system"]["requires"]
    return wanted + [item for group in groups for item in project["dependency-groups"][group]]


def ensure_venv(group: str = "dev", venv: Path = VENV) -> None:
    """Makes a venv hold the requirements; asks the package index only when they changed."""
    if not (venv / "bin" / "pip").exists():  # the last thing that venv installs
        check_python()
        say(f"making {venv.name}")
        run(sys.executable, "-m", "venv", "--clear", venv)
    digest = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    stamp = venv / f"lanewise-{group}.stamp"
    if stamp.exists() and stamp.read_text() == digest:
        return
    say(f"installing the requirements of {group} into {venv.name}")
    python = venv / "bin" / "python"
    wanted = requirements(group, building=venv == VENV)
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *wanted)
    # Makes `import lanewise` there mean the package in build/.
    site = next((venv / "lib").glob("python*/site-packages"))
    (site / "lanewise-build.pth").write_text(f"{ROOT / 'build' / 'python'}\n")
    stamp.write_text(digest)


def environment() -> dict:
    """The environment of everything run here: tools of .venv, portable ccache keys."""
    return {
        **os.environ,
        "PATH": os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", "")]),
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
    }


# Commands.


def build(preset: str = "ci", tests: bool = True) -> Path:
    """Configures where needed, builds, and returns the build folder."""
    folder = ROOT / ("build" if preset == "ci" else f"build-{preset}")
    ensure_venv()
    env = environment()
    cache = folder / "CMakeCache.txt"
    configured = (folder / "build.ninja").exists()
    if not configured or (tests and "LANEWISE_TESTS:BOOL=ON" not in cache.read_text()):
        check_compiler()
        if tests:
            ensure_test_libraries()
        options = {"Python_EXECUTABLE": PYTHON, "LANEWISE_TESTS": "ON" if tests else "OFF"}
        defines = [f"-D{name}={value}" for name, value in options.items()]
        run(VENV / "bin/cmake", "--preset", preset, *defines, env=env)
    target = [] if tests else ["--target", "lanewise_core"]
    run(VENV / "bin/cmake", "--build", folder, *target, env=env)
    return folder


def command_build(options) -> None:
    build(options.preset, tests=options.preset != "release")


def command_demo(options) -> None:
    build(tests=False)
    run(PYTHON, "-m", "lanewise", "demo", env=environment())


def command_test(options) -> None:
    folder = build(options.preset)
    ctest = [VENV / "bin/ctest", "--preset", options.preset, "-j", os.cpu_count()]
    run(*ctest, env=environment())
    if options.preset in ("ci", "debug"):  # a sanitizer would have to be loaded before Python
        env = {**environment(), "PYTHONPATH": str(folder / "python")}
        # A file stays in one process: its fixtures compile libraries.
        split = ["-n", os.cpu_count(), "--dist", "loadfile"]
        run(PYTHON, "-m", "pytest", *split, *options.pytest, env=env)


def bench_python(given: str | None) -> Path:
    """A Python that has the peers: the one given, else that of an environment of our own."""
    if given:
        return Path(given)
    ensure_venv("bench", BENCH_VENV)
    return BENCH_VENV / "bin" / "python"


def command_bench(options) -> None:
    folder = build(tests=False)
    python = bench_python(options.python or os.environ.get("LANEWISE_BENCH_PYTHON"))
    env = {**os.environ, "PYTHONPATH": str(folder / "python")}
    run(python, "-m", "bench", *options.rest, env=env)


def command_stub(options) -> None:
    folder = build(tests=False)
    run(PYTHON, "tools/stub.py", env={**environment(), "PYTHONPATH": str(folder / "python")})


def command_accuracy(options) -> None:
    folder = build()
    program = [folder / "tests" / "lanewise_accuracy"]
    if "--help" in options.options:
        return run(*program, "--help")
    command = [*program, "--hardest", ROOT / "tests" / "accuracy" / "hardest.txt"]
    if "--stride" not in options.options and "--points" not in options.options:
        # What a sample finds says too little to be kept.
        page = ROOT / "docs" / "accuracy.md"
        command += ["--grow", "--results", folder / "accuracy", "--page", page]
    run(*command, *options.options, env=environment())


def sources(*patterns: str) -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return [name for name in listed.stdout.splitlines() if (ROOT / name).exists()]


def command_format(options) -> None:
    ensure_venv("lint")
    run(VENV / "bin/clang-format", "-i", *sources("*.cpp", "*.h"))
    run(VENV / "bin/ruff", "format", "--quiet", *sources("*.py"))


def command_lint(options) -> None:
    build()
    ensure_venv("lint")
    env = environment()
    run(PYTHON, "tools/check_layers.py")
    run(VENV / "bin/clang-format", "--dry-run", "-Werror", *sources("*.cpp", "*.h"))
    run(VENV / "bin/ruff", "check", "--quiet", *sources("*.py"))
    run(VENV / "bin/ruff", "format", "--quiet", "--check", *sources("*.py"))
    tidy = f"xargs -P {os.cpu_count()} -n 1 .venv/bin/clang-tidy -p build --quiet".split()
    run(*tidy, env=env, text=True, input="\n".join(options.files or sources("*.cpp")))


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev", description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, function, text: str):
        command = commands.add_parser(name, help=text, description=text)
        command.set_defaults(function=function)
        return command

    presets = ["ci", "release", "debug", "asan", "ubsan", "tsan"]
    add("demo", command_demo, "build, then show the example with its kernel and timing")
    test = add("test", command_test, "build, then run the C++ and the Python tests")
    test.add_argument("--preset", default="ci", choices=[p for p in presets if p != "release"])
    test.add_argument("pytest", nargs="*", help="passed on to pytest, after --")
    accuracy = add(
        "accuracy",
        command_accuracy,
        "measure the error of all functions (minutes to an hour) and write docs/accuracy.md",
    )
    accuracy.add_argument(
        "options", nargs=argparse.REMAINDER, help="--function NAME, --threads N, ...; see --help"
    )
    add("build", command_build, "build the extension and the tests").add_argument(
        "preset", nargs="?", default="ci", choices=presets
    )
    add("stub", command_stub, "write python/lanewise/_core.pyi, the types of the compiled part")
    lint = add(
        "lint", command_lint, "check layers, formatting, and what clang-tidy and ruff report"
    )
    lint.add_argument("files", nargs="*", help="give clang-tidy these sources instead of all")
    add("format", command_format, "format the C++ and Python sources")
    bench = commands.add_parser(
        "bench", help="build, then measure beside the peers; --help lists options", add_help=False
    )
    bench.set_defaults(function=command_bench)
    bench.add_argument("--python", help="a Python with the peers, in place of .venv-bench's")
    options, options.rest = parser.parse_known_args()
    if options.rest and options.function is not command_bench:
        parser.error(f"unrecognized arguments: {' '.join(options.rest)}")
    try:
        options.function(options)
    except Failure as failure:
        if str(failure):
            print(f"dev: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
