"""Print the tables of every suite, or of those named on the command line.

A suite is a module of this package whose ``run()`` yields rich tables. Aims are marked as reached
or missed in the tables; nothing here fails.
"""

import argparse
import importlib
import os
import platform
from time import perf_counter

from rich.console import Console

SUITES = (
    *("calibration", "sampling", "frames", "summaries", "quantiles", "ledger", "privatize"),
    *("limits", "job"),
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("suites", nargs="*", metavar="suite", help=f"of: {', '.join(SUITES)}")
    chosen = parser.parse_args().suites or SUITES
    if unknown := set(chosen) - set(SUITES):
        parser.error(f"unknown suite {', '.join(sorted(unknown))}; choose of: {', '.join(SUITES)}")
    # a table is as wide as it needs to be, also in a pipe
    console = Console(width=None if os.isatty(1) else 160)
    console.print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {_load()}")
    started = perf_counter()
    for name in chosen:
        for table in importlib.import_module(f"benchmarks.{name}").run():
            console.print()
            console.print(table)
    console.print(f"\n{perf_counter() - started:.0f} s, {_load()}")


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "load unknown"


if __name__ == "__main__":
    main()
