"""The cache of compiled kernels on disk, between processes."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

# What a process prints about itself after it has evaluated an expression.
PROGRAM = """
import json, sys, warnings
import numpy as np
import lanewise as lw
caught = []
warnings.showwarning = lambda message, category, *rest: caught.append(
    f"{category.__name__}: {message}")
x = lw.asarray(np.arange(20, dtype=np.float64).reshape(10, 2))
y = lw.exp(x[:, 0] / 8) + x[:, 1] ** 3
print(json.dumps({
    "values": np.asarray(y).tolist(), "warnings": caught,
    "compilations": lw.cache_stats()["compilations"], **lw._core._disk_cache_stats()}))
"""


def environment(folder, **more: str) -> dict:
    return {**os.environ, "LANEWISE_CACHE_DIR": str(folder), **more}


def run(folder, program: str = PROGRAM, **more: str) -> dict:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(folder, **more),
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> list[float]:
    found = run("0")
    assert found["compilations"] >= 1
    assert found["directory"] == ""
    assert found["why_off"] == "LANEWISE_CACHE_DIR=0"
    return found["values"]


def kernels(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.kernel"))


def test_tests_do_not_use_the_cache():
    assert os.environ["LANEWISE_CACHE_DIR"] == "0"


def test_second_process_compiles_nothing(tmp_path, expected):
    first = run(tmp_path / "new" / "cache")
    assert first["compilations"] == first["misses"] == first["stored"] >= 1
    second = run(tmp_path / "new" / "cache")
    assert second["compilations"] == 0
    assert second["hits"] == first["stored"]
    assert first["values"] == second["values"] == expected
    assert first["warnings"] == second["warnings"] == []


def test_default_folder(tmp_path, expected):
    env = {"XDG_CACHE_HOME": str(tmp_path / "xdg"), "HOME": str(tmp_path / "home")}
    assert run("", **env)["directory"] == str(tmp_path / "xdg" / "lanewise")
    assert run("", **{**env, "XDG_CACHE_HOME": "relative"})["directory"] == str(
        tmp_path / "home" / ".cache" / "lanewise"
    )
    off = run("", XDG_CACHE_HOME="", HOME="")
    assert off["directory"] == "" and "HOME" in off["why_off"] and off["values"] == expected


def test_targets_share_nothing(tmp_path, expected):
    first = run(tmp_path, LANEWISE_TARGET="x86-64-v3")
    second = run(tmp_path, LANEWISE_TARGET="host")
    if second["hits"]:
        pytest.skip("this CPU has one target")
    assert second["hits"] == 0 and first["values"] == second["values"] == expected
    assert len(kernels(tmp_path)) == first["stored"] + second["stored"]


def test_two_processes_at_once(tmp_path, expected):
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=environment(tmp_path),
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    for process in processes:
        found = json.loads(process.communicate(timeout=100)[0])
        assert found["values"] == expected
        assert found["rejected"] == found["failures"] == 0
    assert run(tmp_path)["compilations"] == 0


MANY = """
import numpy as np
import lanewise as lw
x = lw.asarray(np.arange(10.0))
for i in range(10**6):
    for dtype in (lw.float64, lw.float32, lw.int32):
        lw.eval(lw.where(lw.astype(x, dtype) > 0, lw.full(10, i % 2, dtype=dtype) * 0, x**(i + 2)))
    print(i, flush=True)
"""


def test_kill_in_the_middle_of_writing(tmp_path, expected):
    for round_ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", MANY], env=environment(tmp_path), stdout=subprocess.PIPE
        )
        process.stdout.readline()
        time.sleep(0.003 * (round_ + 1))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert kernels(tmp_path)
    assert run(tmp_path)["values"] == expected
    again = run(tmp_path)
    assert again["values"] == expected
    assert again["compilations"] == again["rejected"] == 0


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "swapped", "foreign"])
def test_damaged_files(tmp_path, expected, damage):
    run(tmp_path, PROGRAM.replace("/ 8", "* 8"))
    run(tmp_path)
    files = kernels(tmp_path)
    contents = [file.read_bytes() for file in files]
    for i, file in enumerate(files):
        good = contents[i]
        changed = {
            "truncated": good[: len(good) // 2],
            "empty": b"",
            "flipped": good[:-40] + bytes([good[-40] ^ 4]) + good[-39:],
            "swapped": contents[(i + 1) % len(files)],
            "foreign": b"\x7fELF" + good[4:],
        }
        file.write_bytes(changed[damage])
    found = run(tmp_path)
    assert found["values"] == expected
    assert found["rejected"] >= 1
    (warning,) = found["warnings"]
    assert warning.startswith(f"RuntimeWarning: cache of compiled kernels: {tmp_path}")
    assert warning.endswith("; compiling instead")
    assert run(tmp_path)["warnings"] == []


def test_warning_as_error_is_raised_once(tmp_path, expected):
    run(tmp_path)
    for file in kernels(tmp_path):
        file.write_bytes(b"rubbish")
    program = PROGRAM.replace("caught = []", "caught = []; warnings.simplefilter('error')").replace(
        "print(json",
        "\ntry: lw.eval(y)\nexcept RuntimeWarning: caught.append('raised')\nprint(json",
    )
    found = run(tmp_path, program)
    assert found["warnings"] == ["raised"]
    assert found["values"] == expected


def test_folder_that_others_may_write(tmp_path, expected):
    run(tmp_path)
    tmp_path.chmod(0o777)
    found = run(tmp_path)
    assert "others may write to it" in found["untrusted"]
    assert found["values"] == expected and found["hits"] == 0
    assert "others may write to it" in found["warnings"][0] and len(found["warnings"]) == 1
    tmp_path.chmod(0o700)
    assert run(tmp_path)["compilations"] == 0


def test_folder_of_another_user(tmp_path, expected):
    if os.geteuid() == 0:
        os.chown(tmp_path, 65534, 65534)
        folder = tmp_path
    else:
        folder = Path("/usr")
    found = run(folder)
    assert found["values"] == expected and found["stored"] == 0
    assert "belongs to another user" in found["warnings"][0]


def test_folder_that_cannot_be_made(tmp_path, expected):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file" / "cache", Path("/proc/lanewise")):
        found = run(folder)
        assert found["values"] == expected
        assert found["warnings"] == [] and found["failures"] >= 1
        assert str(folder) in found["last_failure"]


# Limits what one file may hold: writing fails as on a full disk.
LIMITED = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))" + PROGRAM


def test_full_disk(tmp_path, expected):
    found = run(tmp_path, LIMITED)
    assert found["values"] == expected
    assert found["warnings"] == [] and found["failures"] >= 1 and found["stored"] == 0
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []
    assert run(tmp_path)["stored"] >= 1  # there is room again


# Root may write everywhere, so it becomes another user once all is imported.
PLAIN_USER = 65534
AS_PLAIN_USER = PROGRAM.replace(
    "caught = []", f"import os\nif os.geteuid() == 0: os.seteuid({PLAIN_USER})\ncaught = []"
)


def test_read_only_folder(expected):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if os.geteuid() == 0:
            os.chown(folder, PLAIN_USER, PLAIN_USER)
        assert run(folder, AS_PLAIN_USER)["stored"] >= 1
        folders = [folder, folder / "v1", *{file.parent for file in kernels(folder)}]
        for each in folders:
            each.chmod(0o500)
        found = run(folder, AS_PLAIN_USER)
        assert found["compilations"] == found["failures"] == 0 and found["values"] == expected
        other = run(folder, AS_PLAIN_USER.replace("/ 8", "/ x[:, 1]"))
        assert other["compilations"] >= 1 and other["stored"] == 0
        assert other["failures"] >= 1 and "Permission denied" in other["last_failure"]
        assert other["warnings"] == []
        for each in folders:
            each.chmod(0o700)


def test_limit(tmp_path):
    program = MANY.replace("10**6", "12")
    subprocess.run(
        [sys.executable, "-c", program],
        env=environment(tmp_path, LANEWISE_CACHE_BYTES=str(64 * 5000)),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    assert kernels(tmp_path)
    by_folder: dict[Path, int] = {}
    for file in kernels(tmp_path):
        by_folder[file.parent] = by_folder.get(file.parent, 0) + file.stat().st_size
    assert max(by_folder.values()) <= 5000
    found = run(tmp_path, LANEWISE_CACHE_BYTES="much")
    assert found["directory"] == ""
    assert "'much' is not a number of bytes" in found["warnings"][0]


def test_forked_child(tmp_path, expected):
    program = PROGRAM.replace(
        "print(json",
        "import os\npid = os.fork()\nif pid: os.waitpid(pid, 0); sys.exit()\nprint(json",
    )
    assert run(tmp_path, program)["values"] == expected
    assert run(tmp_path)["compilations"] == 0


def test_shown_in_configuration(tmp_path):
    show = "import lanewise as lw; lw.show_config()"
    for folder, text in [(tmp_path, str(tmp_path)), ("0", "off: LANEWISE_CACHE_DIR=0")]:
        done = subprocess.run(
            [sys.executable, "-c", show], env=environment(folder), capture_output=True, text=True
        )
        assert text in done.stdout
