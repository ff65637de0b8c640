"""Where speed is felt, in one run: one value, a thousand, the first call, and every other aim.

Times are judged on the machine as it is. Beside them is how many times as long as a fixed loop in
plain Python they take, so that readers can scale them to another machine. What other suites
measure is taken from them, and measured by them if they did not run before.

Run: python -m benchmarks felt. The size of the base install is what `python -m benchmarks install`
found when it was last run.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import opendp.prelude as dp
import polars as pl
from rich.table import Table

import inbounds as ib
from benchmarks import felt_release, install, suite
from benchmarks.machine import fixed_loop
from benchmarks.timing import Ratio, Timing, duration, factor, judged, new_table, race, run_json
from inbounds.frames import count, mean

_ROOT = Path(__file__).parents[1]
_MANY, _DISTINCT = 10**6, 10**5
_RNG = np.random.default_rng(0)
_BOX = ib.Box(0, 120)
_LOOP = "fixed loop"


def run() -> Iterator[Table]:
    table = new_table(
        "Where speed is felt",
        "×: speed, as a multiple of the rival's in the same run; against the fixed loop (10⁴ steps "
        "in plain Python), how many such loops fit into the time. Medians. "
        "✓ and ✗: the aim is reached or missed on this machine, as it is.",
        *("what", "now", "rival", "its time", "×", "aim"),
        labels=("what", "rival"),
    )
    table.columns[0].justify = table.columns[2].justify = "left"
    for fill in (_one_value, _first_release, _construction, _solvers, _readings, _suites, _sizes):
        fill(table)
        table.add_section()
    yield table
    yield from felt_release.run()


def _add(
    table: Table, what: str, ours: Timing, aim: float, rivals: dict[str, Timing] | None = None
) -> None:
    """Add a row for each rival of something that should take at most `aim` seconds."""
    for name, timing in (rivals or {}).items():
        now = judged(str(ours), ours.seconds <= aim)
        ratio = timing.over(ours)
        if name == _LOOP:  # how many loops, so that lower is better
            ratio = ours.over(timing, better="lower")
        table.add_row(what, now, name, str(timing), factor(ratio), f"≤ {duration(aim)}")


def _against_loop(
    table: Table, what: str, runner: Callable[[], object], aim: float, seconds: float = 0.5
) -> None:
    loop, ours = race(fixed_loop, runner, seconds=seconds)
    _add(table, what, ours, aim, {_LOOP: loop})


# --- releases ---


def _one_value(table: Table) -> None:
    release = ib.BoundedGaussian.calibrated(_BOX, 2.5, epsilon=1.0).release
    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    opendp = dp.m.make_gaussian(*space, scale=16.3)
    runners = {
        "numpy normal": lambda: _RNG.normal(41.3, 16.3),
        "OpenDP make_gaussian": lambda: opendp(41.3),
        _LOOP: fixed_loop,
    }
    ours, *theirs = race(lambda: release(41.3), *runners.values())
    rivals = dict(zip(runners, theirs, strict=True))
    python = _ROOT / ".venv-diffprivlib/bin/python"
    if python.exists():
        found = run_json([python, "-m", "benchmarks.diffprivlib_worker", "0.136"])["0.136"]
        # in a process of its own, so that the rounds are not paired
        rivals["diffprivlib LaplaceBoundedDomain"] = Timing((found["each"],))
        ours_once = {"diffprivlib LaplaceBoundedDomain": Timing((ours.seconds,))}
    else:
        ours_once = {}
    for name, timing in rivals.items():
        _add(table, "release, one value", ours_once.get(name, ours), 6e-6, {name: timing})


def _first_release(table: Table) -> None:
    """A fresh process whose numba has nothing in its cache, and one that has no numba."""
    with TemporaryDirectory() as cache:
        for without in ("", "numba"):
            what = f"first {_MANY:,} values, {'without numba' if without else 'numba, no cache'}"
            command = [sys.executable, "-m", "benchmarks.fresh", "first", str(_MANY)]
            options = {"NUMBA_CACHE_DIR": cache, "INBOUNDS_BENCH_WITHOUT": without}
            try:
                found = run_json(command, **options)
            except subprocess.CalledProcessError:
                table.add_row(what, judged("fails", False), "", "", "", "≤ 100 ms")
                continue
            first, second = (Timing((found[key],)) for key in ("first", "second"))
            _add(table, what, first, 0.1, {"its second release": second})


# --- before a release ---


def _construction(table: Table) -> None:
    calibrated = ib.BoundedGaussian.calibrated
    unit, approximate = ib.Box(0, 1), {"delta": 1e-6}
    cases: dict[str, tuple[Callable[[], object], float]] = {
        "Box(0, 120)": (lambda: ib.Box(0, 120), 2e-6),
        "calibrated, pure ε = 1": (lambda: calibrated(_BOX, 2.5, epsilon=1.0), 30e-6),
        "calibrated, δ = 1e-6, ε = 1, Δ/w = 0.02": (
            lambda: calibrated(_BOX, 2.5, epsilon=1.0, **approximate),
            0.7e-3,
        ),
        "calibrated, δ = 1e-6, ε = 0.03, Δ/w = 0.001": (
            lambda: calibrated(unit, 0.001, epsilon=0.03, **approximate),
            15e-3,
        ),
    }
    for what, (runner, aim) in cases.items():
        _against_loop(table, what, runner, aim)


def _solvers(table: Table) -> None:
    widths = _RNG.uniform(0.1, 10, _MANY)
    sensitivity = ib.L2(0.2 * float(np.linalg.norm(widths))) & ib.PerCoordinate(
        _RNG.uniform(0.05, 1, _MANY) * widths
    )
    box = ib.Box(np.zeros(_MANY), widths)
    solve = partial(ib.BoundedGaussian.calibrated, box, sensitivity, epsilon=_MANY / 10)
    _against_loop(table, f"calibrated, m = {_MANY:,}, l2 ∩ caps", solve, 1.0)
    worst = suite.ratios("calibration", "One dimension", "Algorithm 1 × sigma")
    _least(table, "interval_sigma, slowest of the settings", "Algorithm 1", worst, 5.0)


# --- analyses ---


def _readings(table: Table) -> None:
    words = ["compare", "--bounds", "0:120", "--sensitivity", "2.5", "--epsilon", "1"]
    commands = {
        "ours": [sys.executable, "-m", "inbounds", *words],
        "python -c 'import numpy'": [sys.executable, "-c", "import numpy"],
    }
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    ours, plain = race(*(partial(subprocess.run, x, **quiet) for x in commands.values()), seconds=6)
    _add(table, "inbounds compare", ours, 0.6, {"python -c 'import numpy'": plain})
    mechanism = ib.BoundedGaussian.calibrated(_BOX, 2.5, epsilon=1.0)
    outputs = mechanism.release(_RNG.uniform(0, 120, _MANY))
    _against_loop(table, f"denoise, {_MANY:,} outputs", lambda: mechanism.denoise(outputs), 0.3)
    _certificate(table)
    for delta, aim in ((0.0, 0.3), (1e-6, 1.0)):
        _against_loop(table, f"regimes, δ = {delta:g}", partial(ib.regimes, delta=delta), aim)


def _certificate(table: Table) -> None:
    """Check 10⁴ rows, and 10⁵ only if that is quick."""
    for rows in (_DISTINCT // 10, _DISTINCT):
        widths = _RNG.uniform(0.1, 10, rows)
        sensitivity = 0.2 * float(np.linalg.norm(widths))
        box = ib.Box(np.zeros(rows), widths)
        mechanism = ib.BoundedGaussian.calibrated(box, sensitivity, epsilon=rows / 10)
        certificate = mechanism.certificate()
        loop, ours = race(fixed_loop, certificate.check)
        if ours.seconds > 1.0 or rows == _DISTINCT:
            break
    aim = 5.0 * rows / _DISTINCT
    _add(table, f"certificate().check(), {rows:,} distinct rows", ours, aim, {_LOOP: loop})


# --- what other suites measured ---


def _suites(table: Table) -> None:
    arrays = suite.ratios("sampling", "BoundedGaussian.release", "uniform", "one core")
    _least(table, "release, 10⁶ uniform values, one core", "numpy normal", arrays, 1.0)
    engine = suite.ratios("frames", "DuckDB", "privatize")
    _least(table, "privatize, DuckDB", "no-op", engine, 0.7)
    files = suite.ratios("privatize", "privatize both", "plain copy")
    _least(table, "privatize, files, both columns", "plain copy", files, 0.6)
    ledger = suite.ratios("ledger", "Ledger.release")
    _least(table, "Ledger.release", "bare durable insert", ledger, 0.8)


def _least(table: Table, what: str, rival: str, ratios: dict[str, Ratio], aim: float) -> None:
    """Add the least of the ratios, which its own suite records."""
    least = float(min(ratios.values()))
    table.add_row(what, "", rival, "", judged(factor(least), least >= aim), f"≥ {aim:g}×")


# --- what is counted ---


def _sizes(table: Table) -> None:
    passes = _lazy_passes()
    shown = judged(f"{passes} passes" if passes != 1 else "1 pass", passes == 1)
    table.add_row("summarize, a lazy frame of Polars", shown, "", "", "", "1 pass")
    totals = install.saved_totals()
    if totals is None:
        table.add_row("base install", "not measured: python -m benchmarks install")
        return
    ours, rival = (size / 1e6 for size in totals)
    shown = judged(f"{ours:.0f} MB", totals[0] <= install.AIM)
    cells = "diffprivlib", f"{rival:.0f} MB", factor(rival / ours)
    table.add_row("base install", shown, *cells, f"≤ {install.AIM / 1e6:.0f} MB")


def _lazy_passes() -> int:
    """Count how often summarize runs the plan of a lazy frame."""
    passes = 0

    def counted(frame: pl.DataFrame) -> pl.DataFrame:
        nonlocal passes
        passes += 1
        return frame

    held: dict[str, Any] = {"age": np.linspace(0, 100, 999), "district": np.arange(999) % 3}
    frame = pl.LazyFrame(held).map_batches(counted)
    asked = [count(), mean("age", 0, 120)]
    ib.summarize(frame, asked, by="district", groups=range(3), epsilon=1.0)
    return passes
