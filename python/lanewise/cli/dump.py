"""Shows what a function becomes for arguments of these dtypes and shapes.

The signature names a dtype and shape for each parameter: bool, i8 to i64, u8 to u64, f32, f64;
without brackets it is a number. Nothing is computed."""

import lanewise as lw
from lanewise.cli.common import (
    add_arguments,
    add_json,
    example_arguments,
    jitted,
    load_function,
    print_json,
)

NAME = "dump"
HELP = "the graph, kernels, LLVM IR or assembly of a function"
EXAMPLES = """\
  lanewise dump module:function --signature "f32[10000,2], f64"
  lanewise dump file.py:function --signature "f32[10000,2]" --stage asm
  lanewise dump numpy.py:f --args "randn(100, 2)" x.npy --stage graph"""

STAGES = ["graph", "optimized", "llvm", "asm"]


def add_options(parser) -> None:
    parser.add_argument("function", metavar="module:function", help="or file.py:function")
    parser.add_argument("--signature", help='of the arguments: "f32[10000,2], f64"')
    add_arguments(parser)
    parser.add_argument("--stage", choices=STAGES, default="optimized", help="default: optimized")
    add_json(parser)


def command(options) -> None:
    arguments = example_arguments(options)
    text = lw.dump(jitted(load_function(options.function)), *arguments, stage=options.stage)
    if options.json:
        print_json({"function": options.function, "stage": options.stage, "text": text})
    else:
        print(text, end="" if text.endswith("\n") else "\n")
