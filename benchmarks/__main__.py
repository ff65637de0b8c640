"""Print the tables of every suite, or of those named on the command line.

A suite is a module of this package whose ``run()`` yields rich tables. Aims are marked as reached
or missed in the tables; nothing here fails. Every measured ratio goes to a JSON file, and
``python -m benchmarks compare BEFORE.json AFTER.json`` says which of them became worse.
"""

import argparse
import os
import platform
import shutil
import sys
from pathlib import Path
from time import perf_counter

from rich.console import Console

from benchmarks import compare, machine, suite
from benchmarks.recorded import RecordedTable
from benchmarks.results import FOLDER, LATEST, Results
from benchmarks.timing import duration

SUITES = (
    *("calibration", "sampling", "frames", "summaries", "quantiles", "ledger", "privatize"),
    *("limits", "analysis", "explore", "job", "felt"),
)
ALONE = ("growth", "install", "page")  # they compare nothing from run to run


def main() -> int:
    if sys.argv[1:2] == ["compare"]:
        return compare.main(sys.argv[2:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    known = (*SUITES, *ALONE)
    listed = f"of: {', '.join(SUITES)}; and, only if they are named: {', '.join(ALONE)}"
    parser.add_argument("suites", nargs="*", metavar="suite", help=listed)
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help=f"results; the default is a file in {FOLDER}/"
    )
    options = parser.parse_args()
    if unknown := set(options.suites) - set(known):
        parser.error(f"unknown suite {', '.join(sorted(unknown))}; choose {listed}")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # commands start as a user's do, not compiling
    _run(options.suites or SUITES, options.json)
    return 0


def _run(suites: tuple[str, ...], path: Path | None) -> None:
    # a table is as wide as it needs to be, also in a pipe
    console = Console(width=None if os.isatty(1) else 160)
    results = Results.started()
    facts = results.facts["machine"]
    console.print(
        f"Python {platform.python_version()}, {facts['cpu']}, {facts['cores']} cores, "
        f"{_state(results, 'before')}"
    )
    saved = path or FOLDER / results.name
    whole = perf_counter()
    for name in suites:
        started, used = perf_counter(), machine.cpu_seconds()
        for table in suite.tables(name):
            console.print()
            console.print(table)
            if isinstance(table, RecordedTable):
                results.add(name, table.ratios)
        results.finish(name, perf_counter() - started, machine.cpu_seconds() - used)
        results.save(saved)  # what is measured is kept if a later suite fails
    if path is None:
        shutil.copyfile(saved, LATEST)
    suites_took = results.facts["suites"].items()
    took = ", ".join(f"{name} {x['seconds']:.0f} s" for name, x in suites_took)
    cpu = sum(x["cpu_seconds"] for _, x in suites_took)
    console.print(
        f"\n{perf_counter() - whole:.0f} s, {cpu:.0f} s of the processor ({took}), "
        f"{_state(results, 'after')}"
    )
    console.print(f"{len(results.ratios)} ratios are in {saved}.")


def _state(results: Results, when: str) -> str:
    load, loop = results.facts[when].values()
    shown = "unknown" if load is None else f"{load:.1f}"
    return f"load {shown}, {duration(loop)} for a loop of 10⁴ steps in plain Python"


if __name__ == "__main__":
    sys.exit(main())
