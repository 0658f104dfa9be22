"""Checks that each folder includes only what the architecture in docs/design.md allows."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Folder -> what its files may include with quotes: folders of ours, or single headers.
ALLOWED = {
    "support": {"support"},
    "ir": {"ir", "support"},
    "runtime": {"runtime", "support"},
    "jit": {"jit", "ir", "runtime", "support"},
    "frontend": {
        *("frontend", "ir", "runtime", "support"),
        *("jit/compiler.h", "jit/disk_cache.h", "jit/aot.h", "jit/aot/artefact.h"),
    },
    "python": {"python", "frontend", "support"},
}
# Headers of others that only one folder may see.
RESERVED = {
    "llvm": "jit",
    "llvm-c": "jit",
    "pybind11": "python",
    "tbb": "runtime",
    "oneapi": "runtime",
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


def complaint(folder: str, opening: str, header: str) -> str | None:
    """Why a file of `folder` may not include `header`, or None where it may."""
    first = header.split("/")[0]
    if first in RESERVED and RESERVED[first] != folder:
        return f"only {RESERVED[first]}/ may include {first}/"
    if opening == "<" and first not in ALLOWED:
        return None
    if {first, header} & ALLOWED[folder]:
        return None
    allowed = ", ".join(sorted(ALLOWED[folder]))
    return f"{folder}/ may include only {allowed}; paths start at the root of the tree"


def source_files() -> Iterator[tuple[Path, str]]:
    """Every C++ file and the folder it belongs to."""
    for folder in ALLOWED:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".h", ".cpp", ".def", ".inc"}:
                yield path, folder


def main() -> int:
    failures = []
    for path, folder in source_files():
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            why = complaint(folder, *match.groups()) if match else None
            if why:
                failures.append(f"{path.relative_to(ROOT)}:{number}: {match[2]}: {why}")
    print("\n".join(failures) or "layers: every include is allowed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
