"""Reads IR text, runs passes, verifies, and prints what came out.

Without --passes it is only read, verified and printed. "all" stands for the passes on graphs; fuse
makes kernels of a graph and schedule orders them. A line ---- ends the text, as in golden files."""

import sys
from pathlib import Path

from lanewise import _core
from lanewise.cli.common import Failure, add_json, print_json

NAME = "opt"
HELP = "run compiler passes on IR text"
EXAMPLES = f"""\
  lanewise opt --passes=simplify_algebra,dead_code file.ir
  lanewise opt --passes=all,fuse,schedule file.ir
  lanewise dump f.py:f --signature "f32[9]" --stage graph | lanewise opt --passes=all -

passes:
  {", ".join(_core._pass_names())}"""


def add_options(parser) -> None:
    parser.add_argument("file", help="IR text; - is standard input")
    parser.add_argument("--passes", default="", help="names with commas between them, or all")
    parser.add_argument(
        "--print-after",
        default="",
        metavar="PASS",
        help="print the text after it too, or after all",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="instead of standard output")
    add_json(parser)


def command(options) -> None:
    passes = pass_list(options.passes)
    text, steps = _core._optimize_text(read(options.file), passes)
    if options.json:
        after = [{"pass": name, "text": shown} for name, shown in steps]
        print_json({"text": text, "after": after})
        return
    for name, shown in steps:
        if options.print_after in (name, "all"):
            print(f"// after {name}\n{shown}")
    if options.output:
        try:
            Path(options.output).write_text(text)
        except OSError as error:
            raise Failure(f"{options.output}: {error}") from None
    else:
        sys.stdout.write(text)


def pass_list(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    on_graphs = [name for name in _core._pass_names() if name not in ("fuse", "schedule")]
    return [each for name in names for each in (on_graphs if name == "all" else [name])]


def read(file: str) -> str:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"{file}: {error}") from None
    return f"\n{text}".split("\n----\n")[0][1:]
