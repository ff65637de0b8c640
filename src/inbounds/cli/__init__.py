"""The ``inbounds`` command.

>>> main(["--version"])
inbounds ...
0
"""

import sys
from collections.abc import Sequence

from inbounds._extra import optional
from inbounds.errors import MissingPackageError


def main(args: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 success, 1 failure, 2 wrong usage.

    Examples
    --------
    >>> main(["calibrate", "--bounds", "0:1", "--sensitivity", "1", "--epsilon", "1", "--json"])
    {...
      "pure_epsilon": 1.0...
    ...}
    0
    """
    if sys.stdout is None:  # nothing may be drawn or charged that nobody would see
        if sys.stderr is not None:
            sys.stderr.write("Error: standard output must be open, but it is closed.\n")
        return 1
    try:
        with optional():
            from inbounds.cli.app import run  # noqa: PLC0415 - needs the optional typer and rich
    except MissingPackageError as missing:
        sys.stderr.write(f"Error: {' '.join(str(missing).split())}\n")
        return 1
    return run(args)
