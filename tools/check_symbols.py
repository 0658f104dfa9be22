"""Checks the symbols of the extension, and of the libraries it is made of where they are given.

The extension exports its entry point and GDB's two hooks, and nothing else. Our libraries use no
function of libm but those that are exact or correctly rounded, so that results do not depend on
the system's libm (LLVM, which is linked in, has uses of its own).
"""

import ctypes
import subprocess
import sys

EXPORTED = {"PyInit__core", "__jit_debug_register_code", "__jit_debug_descriptor"}
ROUNDED = (
    "ceil copysign fabs floor fma fmod frexp ilogb ldexp logb modf nearbyint nextafter "
    "remainder rint round scalbln scalbn sqrt trunc"
)


def symbols(path: str, *options: str) -> set[str]:
    command = ["nm", *options, "--format=posix", path]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    words = (line.split() for line in listing.splitlines())
    return {line[0].split("@")[0] for line in words if len(line) > 1}


def functions_of_libm() -> set[str]:
    ctypes.CDLL("libm.so.6")
    with open("/proc/self/maps") as maps:
        path = next(line.split()[-1] for line in maps if "/libm.so.6" in line)
    return symbols(path, "-D", "--defined-only")


def main() -> int:
    extension, *libraries = sys.argv[1:]
    exported = symbols(extension, "-D", "--defined-only")
    problems = [f"exported, but should be hidden: {name}" for name in exported - EXPORTED]
    problems += [f"hidden, but should be exported: {name}" for name in EXPORTED - exported]
    if libraries:
        rounded = {name + suffix for name in ROUNDED.split() for suffix in ("", "f")}
        inexact = functions_of_libm() - rounded
        for library in libraries:
            used = symbols(library, "--undefined-only") & inexact
            problems += [f"{library} uses {name} of libm" for name in used]
    print("\n".join(sorted(problems)), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
