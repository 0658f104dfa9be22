"""Every generator in tools/math/ derives exactly the file that is in the tree."""

import subprocess
import sys
from pathlib import Path

import pytest

GENERATORS = Path(__file__).resolve().parents[2] / "tools" / "math"
FAMILIES = sorted(path.stem for path in GENERATORS.glob("*.py") if path.stem != "fit")


@pytest.mark.parametrize("family", FAMILIES)
def test_coefficients_are_derived(family):
    command = [sys.executable, GENERATORS / f"{family}.py", "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
