"""Finds oneTBB for the extension where the dynamic linker does not.

The extension looks for libtbb.so in the prefix that its site-packages folder lies in, where pip
puts it. Where the two packages lie in different prefixes (a user or target install, a virtual
environment with access to the system's packages), the package's own list of files tells where it
is. `__init__` asks for it only after the first import of the extension has failed, since reading
package metadata takes longer than that import.
"""

import ctypes
from importlib import metadata


def preload_tbb() -> None:
    """Loads oneTBB by path, so that a later load of it by name is already satisfied."""
    try:
        files = metadata.files("tbb") or []
    except metadata.PackageNotFoundError:
        return
    for file in files:
        if file.name == "libtbb.so.12":
            ctypes.CDLL(str(file.locate()))
            return
