"""The command line: output, JSON, exit codes, messages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import lanewise as lw
import numpy as np
import pytest
from lanewise import cli

MODULE = """
import lanewise as lw

def f(x, c=2.0):
    return c * x[:, 0] ** 2 + x[:, 1]

@lw.jit
def g(x):
    return {"sum": lw.sum(x), "twice": x * 2}

def bad(x):
    raise KeyError("mine")

class Namespace:
    @staticmethod
    def inner(x):
        return x + 1

number = 3
"""

GRAPH = """\
// a comment
func @f(%x: f32[n,2], $0: f32) -> f32[n] {
  %0 = window %x {offset = 0, strides = [2]} : f32[n]
  %1 = scalar $0 : f32[n]
  %2 = multiply %0, %1 : f32[n]
  %3 = multiply %0, %1 : f32[n]
  %4 = add %2, %3 : f32[n]
  return %4
}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "graph.ir").write_text(GRAPH)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    sys.modules.pop("mine", None)


@pytest.fixture
def call(folder, capsys):
    """Runs a command: exit code, standard output, standard error."""

    def run(*arguments: str) -> tuple[int, str, str]:
        try:
            code = cli.main(list(arguments))
        except SystemExit as ended:
            code = ended.code
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def succeed(result: tuple[int, str, str]) -> str:
    code, out, err = result
    assert code == 0 and err == "", err
    return out


def fail(result: tuple[int, str, str]) -> str:
    code, out, err = result
    assert code == 1 and out == ""
    return err


# The program as users start it.


def test_module_and_exit_codes(folder):
    def run(*arguments: str):
        command = [sys.executable, "-m", "lanewise", *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    done = run("run", "mine:f", "--args", "ones((3, 2))")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[3. 3. 3.]\n", "")
    done = run("run", "mine:nothing")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == "lanewise run: mine has no 'nothing'\n"
    assert run("unknown").returncode == run().returncode == 2
    assert run("--help").returncode == 0


def test_pipe_that_closes(folder):
    command = f"{sys.executable} -m lanewise dump mine:f --signature 'f32[9,2]' --stage llvm"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f"{command} | head -1"], capture_output=True, text=True
    )
    assert done.stdout.count("\n") == 1 and done.stderr == ""


@pytest.mark.parametrize("command", [module.NAME for module in cli.COMMANDS])
def test_help_has_examples(call, command):
    out = succeed(call(command, "--help"))
    assert "examples:" in out and f"lanewise {command}" in out


# info, demo


def test_info(call):
    assert f"lanewise  {lw.__version__}" in succeed(call("info"))
    found = json.loads(succeed(call("info", "--json")))
    assert found["version"] == lw.__version__
    assert found["disk_cache"]["why_off"] == "LANEWISE_CACHE_DIR=0"
    assert {"cpu", "target", "llvm", "threads", "kernels", "memory"} <= found.keys()


def test_demo(call, monkeypatch):
    monkeypatch.setenv("LANEWISE_CACHE_DIR", "0")
    out = succeed(call("demo"))
    assert "X[:, 0]**2 + X[:, 1]**3" in out and "times faster" in out


# run


def test_run_module_file_and_method(call):
    assert succeed(call("run", "mine:f", "--args", "ones((2, 2))", "5")) == "[6. 6.]\n"
    assert succeed(call("run", "mine.py:f", "--args", "np.ones((2, 2))")) == "[3. 3.]\n"
    assert succeed(call("run", "mine:Namespace.inner", "--args", "arange(3)")) == "[1 2 3]\n"


def test_run_json_and_several_results(call):
    found = json.loads(succeed(call("run", "mine:g", "--args", "arange(3)", "--json", "--time")))
    total, twice = found["results"]
    assert total == {"dtype": "int64", "shape": [], "values": 3}
    assert twice == {"dtype": "int64", "shape": [3], "values": [0, 2, 4]}
    assert 0 < found["seconds"]["best_call"] <= found["seconds"]["first_call"]


def test_run_seed_and_files(call, folder):
    first = succeed(call("run", "mine:f", "--args", "randn(100, 2)", "-o", "a.npy", "--seed", "7"))
    lw.manual_seed(7)
    x = lw.randn(100, 2)
    np.testing.assert_array_equal(np.load("a.npy"), np.asarray(2.0 * x[:, 0] ** 2 + x[:, 1]))
    np.save("x.npy", np.asarray(x))
    assert succeed(call("run", "mine:f", "--args", "x.npy")) == first
    assert "two.npy" in fail(call("run", "mine:f", "--args", "two.npy"))
    assert "2 arrays" in fail(call("run", "mine:g", "--args", "arange(3)", "-o", "b.npy"))


def test_run_graph(call):
    text = succeed(
        call("run", "graph.ir", "--args", "arange(6, dtype='f4').reshape(3, 2)", "np.float32(3)")
    )
    assert text == "[ 0. 12. 24.]\n"


def test_run_graph_errors(call):
    message = fail(call("run", "graph.ir", "--args", "ones((3, 2))", "1"))
    assert message == ("lanewise run: DTypeError: f: argument x is f32, but f64 given\n")
    message = fail(call("run", "graph.ir", "--args", "ones((3, 2), dtype='f4')"))
    assert "takes 2 arrays and 1 numbers" in message or "takes 1 arrays and 1 numbers" in message
    message = fail(call("run", "graph.ir", "--args", "ones((3, 4), dtype='f4')", "np.float32(1)"))
    assert message.startswith("lanewise run: ShapeError: ")
    assert "no.ir" in fail(call("run", "no.ir"))


def test_errors_of_users_functions(call):
    assert fail(call("run", "mine:bad", "--args", "1")) == "lanewise run: KeyError: 'mine'\n"
    assert "in bad" in fail(call("--traceback", "run", "mine:bad", "--args", "1"))
    message = fail(call("run", "mine:f", "--args", "ones(3)"))
    assert message.startswith("lanewise run: IndexError: ")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("mine", "'mine' is not of the form module:function or file.py:function"),
        ("mine:", "'mine:' is not of the form module:function or file.py:function"),
        ("nowhere:f", "no module 'nowhere' here or on Python's path"),
        ("nowhere.deep:f", "no module 'nowhere.deep' here or on Python's path"),
        ("nowhere.py:f", "nowhere.py: no such file"),
        ("mine:number", "mine:number is no function but of type int"),
        ("mine:f.x", "mine has no 'f.x'"),
    ],
)
def test_bad_targets(call, target, message):
    assert fail(call("run", target)) == f"lanewise run: {message}\n"


def test_bad_argument(call):
    message = fail(call("run", "mine:f", "--args", "ones((3, 2)"))
    assert message.startswith("lanewise run: argument 'ones((3, 2)': SyntaxError: ")
    message = fail(call("run", "mine:f", "--args", "one"))
    assert message == "lanewise run: argument 'one': NameError: name 'one' is not defined\n"


# dump


@pytest.mark.parametrize(
    ("stage", "shown"),
    [("graph", "func @"), ("optimized", "program @"), ("llvm", "define "), ("asm", "vmulps")],
)
def test_dump_stages(call, stage, shown):
    out = succeed(call("dump", "mine:f", "--signature", "f32[100,2], f64", "--stage", stage))
    assert shown in out
    found = json.loads(
        succeed(call("dump", "mine.py:f", "--args", "ones((9, 2))", "--stage", stage, "--json"))
    )
    assert found["stage"] == stage and found["function"] == "mine.py:f" and found["text"]


def test_dump_needs_one_of_signature_and_args(call):
    assert "one of --signature and --args" in fail(call("dump", "mine:f"))
    assert "one of --signature and --args" in fail(
        call("dump", "mine:f", "--signature", "f32[2,2]", "--args", "1")
    )


def test_dump_needs_numbers_for_sizes(call):
    message = fail(call("dump", "mine:f", "--signature", "f32[9,2], f23"))
    assert message.startswith("lanewise dump: ValueError: signature") and message.endswith("^\n")
    assert fail(call("dump", "mine:f", "--signature", "f64, f32[n,2]")) == (
        "lanewise dump: signature: 'n' in 'f64, f32[n,2]' must be a number here\n"
    )


# opt


def test_opt_round_trip(call):
    text = succeed(call("opt", "graph.ir"))
    assert text == GRAPH.partition("\n")[2]


def test_opt_passes(call, folder):
    text = succeed(call("opt", "--passes=common_subexpressions,dead_code", "graph.ir"))
    assert text.count("multiply") == 1
    program = succeed(call("opt", "--passes=all, fuse, schedule", "graph.ir", "-o", "out.ir"))
    assert program == ""
    program = (folder / "out.ir").read_text()
    assert program.startswith("program @f(")
    assert succeed(call("opt", "out.ir")) == program
    assert succeed(call("opt", "--passes", "schedule", "out.ir")) == program


def test_opt_json_and_print_after(call):
    found = json.loads(succeed(call("opt", "--passes=all,fuse", "graph.ir", "--json")))
    assert [step["pass"] for step in found["after"]][-2:] == ["dead_code", "fuse"]
    assert found["text"] == found["after"][-1]["text"]
    out = succeed(call("opt", "--passes=all", "graph.ir", "--print-after", "dead_code"))
    assert out.count("// after dead_code") == 1 and out.count("func @f") == 2


def test_opt_golden_file(call, folder):
    (folder / "golden.ir").write_text(GRAPH + "----\nunchanged\n")
    assert succeed(call("opt", "golden.ir")) == GRAPH.partition("\n")[2]


def test_opt_errors(call, folder):
    (folder / "bad.ir").write_text(GRAPH.replace("add %2", "add %9"))
    message = fail(call("opt", "bad.ir"))
    assert message.startswith("lanewise opt: ValueError: IR text, line 7, column 12: ")
    assert message.endswith("  %4 = add %9, %3 : f32[n]\n           ^\n")
    message = fail(call("opt", "--passes=nothing", "graph.ir"))
    assert "no pass 'nothing': there are canonicalize, fold_constants" in message
    assert "fuse makes of a graph" in fail(call("opt", "--passes=schedule", "graph.ir"))
    assert "this is a program" in fail(call("opt", "--passes=fuse,dead_code", "graph.ir"))
    assert "nowhere.ir" in fail(call("opt", "nowhere.ir"))


# compile


def test_compile(call, folder):
    arguments = ("compile", "mine:f", "mine.py:g", "-o", "build/libmine")
    signatures = ("--signature", "f32[n,2], f64", "--signature", "f64[n,2], f64")
    out = succeed(call("compile", "mine:f", *signatures, "-o", "build/libmine"))
    assert "build/libmine.o" in out and "build/mine.h" in out
    x = np.arange(12, dtype=np.float32).reshape(6, 2)
    loaded = lw.load("build/libmine").f
    for dtype in (np.float32, np.float64):
        expected = lw.asarray(x.astype(dtype))
        expected = 3.0 * expected[:, 0] ** 2 + expected[:, 1]
        np.testing.assert_array_equal(
            np.asarray(loaded(x.astype(dtype), 3.0)), np.asarray(expected)
        )
    message = fail(call(*arguments, "--signature", "f32[n,2], f64"))
    assert "2 parameters" in message  # g has one


def test_compile_json_and_errors(call, folder):
    common = ("compile", "mine:g", "-o", "libg")
    found = json.loads(succeed(call(*common, "--signature", "f32[n,2]", "--json")))
    assert found["name"] == "g" and Path(found["object"]).is_file()
    message = fail(call(*common, "--signature", "f32[n"))
    assert message.startswith("lanewise compile: ValueError: ") and message.endswith("^\n")
    message = fail(call("compile", "mine:bad", "-o", "libbad", "--signature", "f32[n]"))
    assert message == "lanewise compile: KeyError: 'mine'\n"
    assert call("compile", "mine:f", "--signature", "f32[n]")[0] == 2
    assert "two functions are called 'g'" in fail(
        call("compile", "mine:g", "mine.py:g", "-o", "libg", "--signature", "f32")
    )


def test_progress_on_a_terminal(folder):
    import pty

    (folder / "slow.py").write_text(
        "import time\n\ndef f(x):\n    time.sleep(1)\n    return x + 1\n"
    )
    command = ["compile", "slow.py:f", "--signature", "f32[n]", "-o", "libslow"]
    main, terminal = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "lanewise", *command], stdout=subprocess.PIPE, stderr=terminal
    )
    os.close(terminal)
    shown = os.read(main, 100000).decode()
    os.close(main)
    assert done.returncode == 0
    assert "] 0/1 functions, tracing, 0." in shown and shown.endswith("\r\x1b[K")


# cache


def test_cache(folder):
    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "lanewise", *arguments]
        env = {**os.environ, "LANEWISE_CACHE_DIR": str(folder / "cache")}
        return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout

    assert json.loads(run("cache", "stats", "--json"))["files"] == 0
    assert run("cache", "list") == ""
    run("run", "mine:f", "--args", "ones((3, 2))")
    found = json.loads(run("cache", "--json"))
    assert found["files"] >= 1 and found["directory"] == str(folder / "cache")
    entries = json.loads(run("cache", "list", "--json"))
    assert sum(entry["bytes"] for entry in entries) == found["bytes"]
    shown = run("cache", "list")
    for entry in entries:
        assert f"lanewise {lw.__version__}" in entry["identity"] and entry["kernel"] in shown
    assert f"kernels  {len(entries)}\n" in run("cache", "stats")
    assert run("cache", "clear").startswith(f"removed {len(entries)} kernels")
    assert json.loads(run("cache", "clear", "--json")) == {"files": 0, "bytes": 0}


def test_cache_off(call):
    assert succeed(call("cache")) == "off: LANEWISE_CACHE_DIR=0\n"
    assert json.loads(succeed(call("cache", "stats", "--json")))["directory"] == ""
