"""Compiles the function of the C and C++ examples: python compile_seed.py build/libseed"""

import sys

import lanewise as lw


def seed(x):
    """The sum of the square of the first column and the cube of the second."""
    return x[:, 0] ** 2 + x[:, 1] ** 3


if __name__ == "__main__":
    print(lw.compile_aot(seed, "f32[n,2]", sys.argv[1]))
