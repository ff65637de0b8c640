#!/usr/bin/env python3
"""Plant known defects one by one, and show that the tests notice each.

    .venv/bin/python scripts/mutate.py                  every defect, by the tests listed for it
    .venv/bin/python scripts/mutate.py --only NAME      one of them (may be repeated)
    .venv/bin/python scripts/mutate.py --all-tests      by the whole suite: hours
    .venv/bin/python scripts/mutate.py --list           what there is

The defects are in tests/mutation/defects.toml. Each is planted in a fresh copy of the repository,
never in the repository itself. A defect counts as caught only if a test *fails*: an error while
collecting tests, or a crash, does not count. The exit code is 0 if every defect was caught.
"""
# ruff: noqa: T201 - its output is its purpose

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DEFECTS = ROOT / "tests" / "mutation" / "defects.toml"
PATIENCE = 300  # seconds for the tests listed for a defect, which might make a search endless
_LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "demo-output", "benchmarks"
)
_OF_THE_LIST = "tests/unit/test_mutation_list.py"
_COMPILED = {
    f"src/inbounds/sampling/{name}.py"
    for name in (
        *("atoms", "compiled", "exponential", "grid", "plan", "strips", "trial"),
        *("staircase_kernel", "table_kernel", "trial_kernel", "window_kernel"),
    )
}


@dataclass(frozen=True, slots=True)
class Defect:
    """One mistake: `original` occurs once in `file`, and `planted` takes its place."""

    name: str
    what: str
    file: str
    original: str
    planted: str
    tests: tuple[str, ...]


def read(path: Path = DEFECTS) -> list[Defect]:
    """Return the defects of a list."""
    fields = tomllib.loads(path.read_text(encoding="utf-8"))["defect"]
    return [Defect(**{**one, "tests": tuple(one["tests"])}) for one in fields]


def plant(defect: Defect, root: Path) -> None:
    """Put the defect into the repository at `root`."""
    file = root / defect.file
    text = file.read_text(encoding="utf-8")
    if text.count(defect.original) != 1:
        raise SystemExit(f"{defect.name}: its original text must occur once in {defect.file}.")
    file.write_text(text.replace(defect.original, defect.planted), encoding="utf-8")


class Workshop:
    """A folder with a copy of the repository, which is made anew for every run.

    The copy always has the same path, so that the compiler's cache serves every run, except those
    that change what is compiled: they get a cache of their own.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._copy = folder, folder / "copy"
        self.imported = Path()  # where the last run's `inbounds` was

    def run(self, tests: Sequence[str], defect: Defect | None = None) -> tuple[int, str]:
        """Run tests on a copy, with a defect if there is one; return exit code and output."""
        shutil.rmtree(self._copy, ignore_errors=True)
        shutil.copytree(ROOT, self._copy, ignore=_LEFT_OUT)  # keeps times: the cache reads them
        cache = self._folder / "numba"
        if defect is not None:
            plant(defect, self._copy)
            cache = self._folder / f"numba-{defect.name}" if defect.file in _COMPILED else cache
        paths = {"PYTHONPATH": str(self._copy / "src"), "NUMBA_CACHE_DIR": str(cache)}
        environment = {**os.environ, **paths}
        environment.pop("PYTEST_ADDOPTS", None)
        self._check_import(environment)
        # The test of the list itself would notice any defect, by its text.
        options = ["-q", "--tb=short", "-p", "no:cacheprovider", f"--ignore={_OF_THE_LIST}"]
        options += [] if defect is None else ["-x"]
        command = [sys.executable, "-m", "pytest", *options, *tests]
        try:
            done = subprocess.run(
                command,
                cwd=self._copy,
                env=environment,
                timeout=PATIENCE if defect is not None and tests else None,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return -1, f"no end after {PATIENCE} seconds"
        return done.returncode, done.stdout

    def _check_import(self, environment: dict[str, str]) -> None:
        """Make sure that tests see the copy, not an installed package."""
        command = [sys.executable, "-c", "import inbounds; print(inbounds.__file__)"]
        found = subprocess.run(
            command, cwd=self._copy, env=environment, capture_output=True, text=True, check=True
        )
        self.imported = Path(found.stdout.strip())
        if not self.imported.is_relative_to(self._copy):
            raise SystemExit(f"the tests would import {self.imported}, not the copy.")


def failed_test(code: int, output: str) -> str | None:
    """Return the first test that failed, None if none did."""
    found = re.search(r"^FAILED (.+?)(?: - .*)?$", output, re.MULTILINE)
    return found[1] if code == 1 and found else None


def check(defects: Sequence[Defect], folder: Path, *, all_tests: bool) -> int:
    """Print a line for each defect; return how many were not caught."""
    workshop = Workshop(folder)
    tests = [] if all_tests else sorted({test for one in defects for test in one.tests})
    start = time.monotonic()
    code, output = workshop.run(tests)
    if code != 0:
        print(output[-4000:])
        raise SystemExit("the tests do not pass without any defect.")
    counted = output.strip().splitlines()[-1].strip("= ")
    print(f"without any defect, in {workshop.imported}: {counted}", flush=True)
    survivors = 0
    width = max(len(one.name) for one in defects)
    print(f"{'defect':{width}}  {'file':42}  {'s':>4}  caught by")
    for one in defects:
        began = time.monotonic()
        code, output = workshop.run(() if all_tests else one.tests, one)
        by = failed_test(code, output)
        survivors += by is None
        last = [line for line in output.splitlines() if line.strip()][-1:]
        verdict = by or f"NOTHING: exit code {code} {last}"
        seconds = time.monotonic() - began
        print(f"{one.name:{width}}  {one.file:42}  {seconds:4.0f}  {verdict}", flush=True)
    caught = len(defects) - survivors
    print(f"{caught} of {len(defects)} defects caught in {time.monotonic() - start:.0f} s")
    return survivors


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description="Show that the tests notice planted defects.")
    parser.add_argument("--only", action="append", metavar="NAME", help="one defect; repeatable")
    parser.add_argument("--all-tests", action="store_true", help="run the whole suite each time")
    parser.add_argument("--list", action="store_true", help="print the defects and stop")
    options = parser.parse_args()
    defects = read()
    if options.only:
        unknown = set(options.only) - {one.name for one in defects}
        if unknown:
            parser.error(f"no defect is called {', '.join(sorted(unknown))}")
        defects = [one for one in defects if one.name in options.only]
    if options.list:
        for one in defects:
            print(f"{one.name}: {one.what}")
        return 0
    os.nice(10)
    with tempfile.TemporaryDirectory(prefix="inbounds-mutation-") as folder:
        return 1 if check(defects, Path(folder).resolve(), all_tests=options.all_tests) else 0


if __name__ == "__main__":
    sys.exit(main())
