"""The command line: `lanewise COMMAND`, or `python -m lanewise COMMAND`.

Exit codes: 0 success, 1 something the user gave does not work (the message on standard error says
what), 2 wrong usage of the command line, 130 interrupted.
"""

import argparse
import sys
import traceback

from lanewise.cli import cache, compiling, demo, dump, info, opt, run
from lanewise.cli.common import Failure

COMMANDS = [info, demo, run, dump, opt, compiling, cache]


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="lanewise",
        description="Array expressions compiled into one loop of machine code.",
        epilog="`lanewise COMMAND --help` shows examples. "
        "Exit codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted.",
    )
    top.add_argument("--traceback", action="store_true", help="show where an error was raised")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for module in COMMANDS:
        command = commands.add_parser(
            module.NAME,
            help=module.HELP,
            description=module.__doc__,
            epilog=f"examples:\n{module.EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_options(command)
        command.set_defaults(command=module.command, name=module.NAME)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Runs a command and returns the exit code."""
    options = parser().parse_args(arguments)
    try:
        options.command(options)
        sys.stdout.flush()
    except Failure as failure:
        print(f"lanewise {options.name}: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `lanewise dump ... | head`
        sys.stderr.close()
        return 0
    except Exception as error:  # of the user's function, or of lanewise about it
        if options.traceback:
            traceback.print_exc()
        print(f"lanewise {options.name}: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0
