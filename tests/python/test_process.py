"""The package as part of a process: its symbols, its commands, its neighbours."""

import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import lanewise as lw
import pytest
from lanewise import _core
from subprocesses import run

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.mark.skipif(not shutil.which("nm"), reason="needs nm")
def test_exported_symbols():
    command = [sys.executable, TOOLS / "check_symbols.py", _core.__file__]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_demo():
    done = subprocess.run(
        [sys.executable, "-m", "lanewise", "demo"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert "[-0.26274" in done.stdout  # the program's result
    assert "kernel" in done.stdout  # optimized
    assert "mulps" in done.stdout  # machine code
    assert lw._config.configuration().splitlines()[2] in done.stdout  # target
    assert "times faster" in done.stdout


def test_configuration(capsys):
    lw.show_config()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["lanewise"] == lw.__version__
    assert lines["target"] in ("x86-64-v3", "x86-64-v4")
    assert lines["threads"] == str(lw.get_num_threads())
    assert {"CPU", "LLVM", "kernels", "memory"} <= set(lines)


def test_environment_is_left_alone():
    run(
        """
        import os
        before = dict(os.environ)
        import lanewise as lw
        lw.eval(lw.arange(1_000_000) * 2)
        assert dict(os.environ) == before
        """
    )


NEIGHBOURS = {
    "numba": """
        import numba
        @numba.njit(fastmath=True)
        def by_numba(x):
            return (x[:, 0] ** 2 + x[:, 1] ** 3).sum()
        checks.append(lambda: abs(by_numba(x) - total) < 1e-6)
    """,
    "torch": """
        import torch
        @torch.compile
        def by_torch(x):
            return (x[:, 0] ** 2 + x[:, 1] ** 3).sum()
        checks.append(lambda: abs(by_torch(torch.from_numpy(x)).item() - total) < 1e-6)
        checks.append(lambda: lw.from_dlpack(torch.from_numpy(x)).tolist() == x.tolist())
    """,
    "jax": """
        import jax
        jax.config.update("jax_enable_x64", True)
        @jax.jit
        def by_jax(x):
            return (x[:, 0] ** 2 + x[:, 1] ** 3).sum()
        checks.append(lambda: abs(float(by_jax(x)) - total) < 1e-6)
    """,
}


@pytest.mark.parametrize("before", list(itertools.product([False, True], repeat=3)))
def test_other_compilers_in_one_process(before):
    missing = [name for name in NEIGHBOURS if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    first = [code for code, early in zip(NEIGHBOURS.values(), before, strict=True) if early]
    last = [code for code, early in zip(NEIGHBOURS.values(), before, strict=True) if not early]
    ours = """
        import lanewise as lw
        by_lanewise = lw.jit(lambda x: (x[:, 0] ** 2 + x[:, 1] ** 3).sum())
        checks.append(lambda: abs(by_lanewise(x).item() - total) < 1e-6)
    """
    start = """
        import numpy as np
        x = np.random.default_rng(0).normal(size=(1000, 2))
        total = (x[:, 0] ** 2 + x[:, 1] ** 3).sum()
        checks = []
    """
    end = """
        for turn in range(2):
            for check in checks + checks[::-1]:
                assert check()
    """
    program = "".join(map(textwrap.dedent, [start, *first, ours, *last, end]))
    run(program, env={**os.environ, "JAX_PLATFORMS": "cpu"}, timeout=300)
