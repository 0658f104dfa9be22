"""Checks that the extension exports its entry point and GDB's two hooks, and nothing else."""

import subprocess
import sys

EXPECTED = {"PyInit__core", "__jit_debug_register_code", "__jit_debug_descriptor"}


def main() -> int:
    listing = subprocess.run(
        ["nm", "-D", "--defined-only", "--format=posix", sys.argv[1]],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    exported = {line.split()[0] for line in listing.splitlines()}
    for name in sorted(exported - EXPECTED):
        print(f"exported, but should be hidden: {name}")
    for name in sorted(EXPECTED - exported):
        print(f"hidden, but should be exported: {name}")
    return 0 if exported == EXPECTED else 1


if __name__ == "__main__":
    sys.exit(main())
