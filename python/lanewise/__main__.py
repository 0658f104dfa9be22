"""python -m lanewise: the command line."""

import sys

from lanewise.cli import main

if __name__ == "__main__":
    sys.exit(main())
