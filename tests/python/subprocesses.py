"""Programs that tests run in a process of their own, since they fork, are interrupted or hang."""

import os
import subprocess
import sys
import textwrap


def run(program: str, *arguments: str, env: dict | None = None, timeout: int = 120) -> str:
    """Output of a program that must succeed; a hanging one fails."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        env={**os.environ, **(env or {})},
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
