"""Shows what lanewise runs on: versions, CPU, instruction set, threads, caches, memory."""

import lanewise as lw
from lanewise import _core
from lanewise.cli.common import add_json, print_json

NAME = "info"
HELP = "versions, CPU, instruction set, threads, caches"
EXAMPLES = """\
  lanewise info
  lanewise info --json"""


def add_options(parser) -> None:
    add_json(parser)


def command(options) -> None:
    if not options.json:
        lw.show_config()
        return
    print_json(
        {
            "version": lw.__version__,
            **_core._configuration(),
            "kernels": lw.cache_stats(),
            "disk_cache": _core._disk_cache_stats(),
            "memory": lw.memory_stats(),
        }
    )
