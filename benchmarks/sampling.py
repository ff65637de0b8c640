"""How long a release takes, against numpy's plain normal noise and against other samplers.

Aims: numpy's speed for arrays of distinct values with compiled code, and 0.7 of it for constants;
one value in 6 µs; nothing compiled for a first call; memory of the output and a few MiB.
"""

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import opendp.prelude as dp
from numpy.typing import NDArray
from rich.table import Table
from scipy.special import ndtr, ndtri
from scipy.stats import truncnorm

import inbounds as ib
from benchmarks.fresh import SIGMA
from benchmarks.timing import (
    Timing,
    code,
    duration,
    factor,
    judged,
    new_table,
    one_core,
    race,
    run_json,
    worded,
)
from inbounds.numerics.laplace import LAPLACE
from inbounds.sampling.entropy import SYSTEM
from inbounds.sampling.sampler import Sampler

ARRAY_AIM, CONSTANT_AIM, GOAL = 1.0, 0.7, 1.0
ONE_VALUE_SECONDS = 6e-6
SPARE_BYTES = 16 * 2**20

Floats = NDArray[np.float64]
_MANY, _FEW, _VERY_MANY = 10**6, 10**3, 10**8
_ROOT = Path(__file__).parents[1]
_RNG = np.random.default_rng(0)


def run() -> Iterator[Table]:
    with code(compiled=True):
        _load_kernels()
        yield _against_numpy("compiled")
        yield _against_rivals()
    with code(compiled=False):
        yield _against_numpy("without numba")
    yield _one_value()
    yield _first_calls()
    yield _very_many_values()


def _load_kernels() -> None:
    """Compile for both laws and both kinds of windows, so that no race waits for it."""
    for scale in (0.1, 100.0):
        _gaussian(scale).release(np.zeros(_MANY))
        _draw_laplace(np.zeros(_MANY), scale)


def _draw_laplace(values: Floats, scale: float) -> object:
    sampler = Sampler(LAPLACE, np.zeros(1), np.ones(1), np.array([scale]), steps=(None,))
    return sampler.draw(values, SYSTEM)


def _gaussian(sigma: float) -> ib.BoundedGaussian:
    return ib.BoundedGaussian(ib.Box(0, 1), ib.L2(0.1), sigma)


# --- against numpy ---


def _against_numpy(code: str) -> Table:
    table = new_table(
        f"[0, 1], {_MANY:,} values, {code}: BoundedGaussian.release",
        "×: speed, as a multiple of numpy's Generator.normal(values, sigma) on the same array in "
        f"the same run. Aims for the default: {ARRAY_AIM} for an array of values, {CONSTANT_AIM} "
        f"for constants; ★: {GOAL:g} or more. numpy has one thread, also against all cores.",
        *("σ/w", "values", "numpy", "one core", "×", "equal_time=False", "×"),
        *("all cores", "×", "equal_time=False", "×"),
        labels=("σ/w", "values"),
    )
    inputs = {
        "uniform": (_RNG.uniform(size=_MANY), ARRAY_AIM),
        "all ½": (np.full(_MANY, 0.5), CONSTANT_AIM),
        "all 0": (np.zeros(_MANY), CONSTANT_AIM),
    }
    for sigma in (0.01, 0.1, 1.0, 10.0):
        for name, (values, aim) in inputs.items():
            with one_core():
                plain, *alone = _race_numpy(values, sigma)
            beside, *together = _race_numpy(values, sigma)
            cells = _speeds(plain, alone, aim) + _speeds(beside, together, aim)
            table.add_row(f"{sigma:g}", name, str(plain), *cells)
        table.add_section()
    return table


def _race_numpy(values: Floats, sigma: float) -> tuple[Timing, ...]:
    release = _gaussian(sigma).release
    return race(
        lambda: _RNG.normal(values, sigma),
        lambda: release(values),
        lambda: release(values, equal_time=False),
    )


def _speeds(plain: Timing, ours: list[Timing], aim: float) -> list[str]:
    even, uneven = ours
    return [str(even), _speed(plain.over(even), aim), str(uneven), f"{plain.over(uneven):.2f}"]


def _speed(ratio: float, aim: float) -> str:
    text = f"{ratio:.2f}{' ★' if ratio >= GOAL else ''}"
    return judged(worded(text, ratio), ratio >= aim)


# --- against others ---

_OURS, _PLAIN = "BoundedGaussian.release", "numpy, unbounded normal"
_EXPECTED = {
    "scipy truncnorm.rvs": 10,
    "ndtr, ndtri inversion": 2,
    "OpenDP make_gaussian": 500,
    "diffprivlib LaplaceBoundedDomain": 1000,
}
Contender = tuple[Callable[[], object], int]
"""What to call, and how many values that answers."""


def _against_rivals() -> Table:
    table = new_table(
        "[0, 1], uniform values, one core: what else one could use",
        "× ours: how many times longer a value takes than with release; diffprivlib's is by way "
        f"of numpy, timed in both processes. {_MANY:,} values, OpenDP {_FEW:,}, diffprivlib "
        "10,000. numpy's and scipy's leak through their low-order bits; numpy's and OpenDP's do "
        "not truncate.",
        *("σ/w", "sampler", "each value", "× numpy", "× ours", "expected"),
        labels=("σ/w", "sampler"),
    )
    table.columns[1].justify = "left"
    values = _RNG.uniform(size=_MANY)
    sigmas = (0.1, 1.0)
    with one_core():
        theirs = _diffprivlib(sigmas)
        for sigma in sigmas:
            _add_rivals(table, values, sigma, theirs)
            table.add_section()
    return table


def _add_rivals(table: Table, values: Floats, sigma: float, theirs: dict[str, Any] | str) -> None:
    contenders = _contenders(values, sigma)
    timings = race(*(call for call, _ in contenders.values()), seconds=5.0)
    counts = [count for _, count in contenders.values()]
    each = [Timing(tuple(t / n for t in x.rounds)) for x, n in zip(timings, counts, strict=True)]
    named = dict(zip(contenders, each, strict=True))
    ours, plain = named[_OURS], named[_PLAIN]
    # how the others compare with numpy says nothing about us, so that it is not recorded
    rows = {name: (x.seconds, float(x.over(plain)), x.over(ours)) for name, x in named.items()}
    label, name = f"{sigma:g}", "diffprivlib LaplaceBoundedDomain"
    if not isinstance(theirs, str):
        over_numpy = theirs[str(sigma)]["over_numpy"]
        rows[name] = theirs[str(sigma)]["each"], over_numpy, over_numpy * plain.over(ours)
    for rival, (seconds, over_plain, over_ours) in rows.items():
        expected = f"about {_EXPECTED[rival]:,}×" if rival in _EXPECTED else ""
        cells = _nanoseconds(seconds), factor(over_plain), factor(over_ours), expected
        table.add_row(label, rival, *cells)
    if isinstance(theirs, str):
        table.add_row(label, f"{name}: {theirs}")


def _contenders(values: Floats, sigma: float) -> dict[str, Contender]:
    release = _gaussian(sigma).release
    fine, few = math.floor(math.log2(min(sigma, 1.0))) - 22, values[:_FEW]
    calls: dict[str, Callable[[], object]] = {
        _OURS: lambda: release(values),
        "the same with the Laplace law": lambda: _draw_laplace(values, sigma),
        _PLAIN: lambda: _RNG.normal(values, sigma),
        "numpy, clipped normal": lambda: np.clip(_RNG.normal(values, sigma), 0.0, 1.0),
        "ndtr, ndtri inversion": partial(_invert, values, sigma),
        "scipy truncnorm.rvs": lambda: truncnorm.rvs(
            -values / sigma, (1 - values) / sigma, values, sigma, random_state=_RNG
        ),
    }
    default, coarse = _opendp(sigma, None), _opendp(sigma, fine)
    return {
        **{name: (call, values.size) for name, call in calls.items()},
        "OpenDP make_gaussian": (lambda: default(few), few.size),
        f"OpenDP make_gaussian, k={fine}, as fine as ours": (lambda: coarse(few), few.size),
    }


def _invert(values: Floats, sigma: float) -> Floats:
    drawn = _RNG.uniform(ndtr(-values / sigma), ndtr((1 - values) / sigma))
    answers: Floats = values + sigma * ndtri(drawn)
    return answers


def _opendp(sigma: float, k: int | None) -> dp.Measurement:
    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False), size=_FEW)
    return dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale=sigma, k=k)


def _diffprivlib(sigmas: tuple[float, ...]) -> dict[str, Any] | str:
    """Return its timings by scale, or why there are none."""
    python = _ROOT / ".venv-diffprivlib/bin/python"
    if not python.exists():
        return "not installed, run: make .venv-diffprivlib/.ready"
    try:
        return run_json([python, "-m", "benchmarks.diffprivlib_worker", *map(str, sigmas)])
    except subprocess.CalledProcessError:
        return "failed, see its message"


def _nanoseconds(seconds: float) -> str:
    return f"{float(f'{seconds * 1e9:.3g}'):,.15g} ns"


# --- one value ---


def _one_value() -> Table:
    aim = duration(ONE_VALUE_SECONDS)
    sigmas = (0.01, 0.1, 1.0, 10.0)
    table = new_table(
        "[0, 1], one value: BoundedGaussian.release",
        f"Aim: at most {aim}.",
        *("value", *(f"σ/w = {sigma:g}" for sigma in sigmas)),
    )
    for value in (0.3, 0.5, 0.0):
        timings = [race(partial(_gaussian(sigma).release, value))[0] for sigma in sigmas]
        cells = [judged(str(timing), timing.seconds <= ONE_VALUE_SECONDS) for timing in timings]
        table.add_row(f"{value:g}", *cells)
    return table


# --- in a fresh process ---


def _first_calls() -> Table:
    table = new_table(
        f"A fresh process, σ/w = {SIGMA:g}: the first release after the import",
        "Import: until a mechanism is made. Compiled: functions that numba compiled instead of "
        "reading its cache; aim: none for one value, nor with a warm cache. Medians of 3 runs; "
        "one run without a cache.",
        *("values", "numba's cache", "import", "first release", "second", "compiled"),
    )
    with TemporaryDirectory() as cache:
        for count, state, repeats in ((_MANY, "empty", 1), (_MANY, "warm", 3), (1, "warm", 3)):
            command = [sys.executable, "-m", "benchmarks.fresh", "first", str(count)]
            runs = [run_json(command, NUMBA_CACHE_DIR=cache) for _ in range(repeats)]
            times = [median(x[key] for x in runs) for key in ("imported", "first", "second")]
            compiled = max(x["compiled"] for x in runs)
            text = judged(str(compiled), not compiled) if state == "warm" else str(compiled)
            table.add_row(f"{count:,}", state, *map(duration, times), text)
    return table


def _very_many_values() -> Table:
    table = new_table(
        f"[0, 1], σ/w = {SIGMA:g}: very many values on all cores",
        "Memory: by how much the process grew at most, of which the output. "
        f"Aim: {SPARE_BYTES >> 20} MiB beside it.",
        *("values", "release", "numpy", "×", "memory", "output", "beside it"),
    )
    found = run_json([sys.executable, "-m", "benchmarks.fresh", "large", str(_VERY_MANY)])
    beside = found["extra"] - found["output"]
    table.add_row(
        *(f"{_VERY_MANY:,}", duration(found["seconds"]), duration(found["normal"])),
        _speed(found["normal"] / found["seconds"], ARRAY_AIM),
        *(_mebibytes(found["extra"]), _mebibytes(found["output"])),
        judged(_mebibytes(beside), beside <= SPARE_BYTES),
    )
    return table


def _mebibytes(size: float) -> str:
    return f"{size / 2**20:,.1f} MiB"
