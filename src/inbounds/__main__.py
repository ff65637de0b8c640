"""Run the command line as ``python -m inbounds``."""

import sys

from inbounds.cli import main

if __name__ == "__main__":
    sys.exit(main())
