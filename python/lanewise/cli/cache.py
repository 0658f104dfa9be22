"""The cache of compiled kernels that processes share through the file system (docs/cache.md).

list shows its kernels, the most recently used first; stats says where it is and how large; clear
empties it."""

import time

from lanewise import _core
from lanewise.cli.common import add_json, print_json

NAME = "cache"
HELP = "list, clear or measure the cache of compiled kernels on disk"
EXAMPLES = """\
  lanewise cache stats
  lanewise cache list
  LANEWISE_CACHE_DIR=/tmp/kernels lanewise cache clear"""


def add_options(parser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=["stats", "list", "clear"], default="stats", help="or stats"
    )
    add_json(parser)


def command(options) -> None:
    {"stats": stats, "list": entries, "clear": clear}[options.action](options.json)


def stats(as_json: bool) -> None:
    configured = _core._disk_cache_stats()
    size = _core._disk_cache_size()
    if as_json:
        known = ("directory", "why_off", "untrusted", "byte_limit")
        print_json({**{name: configured[name] for name in known}, **size})
    elif configured["untrusted"]:
        print(f"not trusted: {configured['untrusted']}")
    elif configured["directory"]:
        print(f"folder   {configured['directory']}")
        print(f"kernels  {size['files']}")
        print(
            f"size     {mebibytes(size['bytes'])} of at most {mebibytes(configured['byte_limit'])}"
        )
    else:
        print(f"off: {configured['why_off']}")


def entries(as_json: bool) -> None:
    found = _core._disk_cache_entries()
    if as_json:
        print_json(found)
        return
    for entry in found:
        used = time.strftime("%Y-%m-%d %H:%M", time.localtime(entry["last_used"]))
        target = entry["identity"].splitlines()[-1].split()[0]
        print(f"{used}  {entry['bytes']:>8}  {target}  {entry['kernel']}")


def clear(as_json: bool) -> None:
    removed = _core._clear_disk_cache()
    if as_json:
        print_json(removed)
    else:
        print(f"removed {removed['files']} kernels, {mebibytes(removed['bytes'])}")


def mebibytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"
