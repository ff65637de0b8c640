"""What it takes to calibrate with a delta, to read outputs back, and to compare mechanisms.

Aims: calibration with a delta in 0.7 ms usually and in 15 ms at worst, a million outputs denoised
in 0.3 s, the map of `regimes` in 0.3 s (δ = 0) and 1 s (δ = 1e-6), `inbounds compare` in 0.6 s.
"""

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
from rich.table import Table

import inbounds as ib
from benchmarks.timing import duration, factor, judged, new_table, race
from inbounds.calibration.gaussian import gaussian_mu

USUAL_SECONDS, WORST_SECONDS = 0.7e-3, 15e-3
DENOISE_SECONDS, PURE_MAP_SECONDS, MAP_SECONDS, COMMAND_SECONDS = 0.3, 0.3, 1.0, 0.6

_BOX = ib.Box(0, 120)


def run() -> Iterator[Table]:
    yield _calibrated()
    yield _denoised()
    yield _maps()
    yield _command()


_GUARANTEES = [  # sensitivity / width, epsilon, delta, aim in seconds
    (2.5 / 120, 1.0, 1e-6, USUAL_SECONDS),
    (1e-4, 0.003, 1e-6, USUAL_SECONDS),
    (1e-3, 0.03, 1e-6, WORST_SECONDS),
    (0.01, 0.1, 1e-6, WORST_SECONDS),
    (0.1, 1.0, 1e-6, WORST_SECONDS),
    (1.0, 1.0, 1e-6, WORST_SECONDS),
    (0.1, 1.0, 1e-3, WORST_SECONDS),
    (0.1, 5.6, 1e-12, WORST_SECONDS),  # the slowest of a sweep of 1040 settings
]


def _calibrated() -> Table:
    table = new_table(
        "BoundedGaussian.calibrated with a delta, on an interval",
        "×: how many times longer than the analytic Gaussian alone, whose sigma is proved too. "
        f"Aims: {duration(USUAL_SECONDS)} where that sigma is the smallest, else "
        f"{duration(WORST_SECONDS)}.",
        *("Δ/w", "ε", "δ", "analytic", "calibrated", "×", "σ below analytic"),
    )
    for fraction, epsilon, delta, aim in _GUARANTEES:
        change = 120 * fraction

        def calibrated(change=change, epsilon=epsilon, delta=delta) -> ib.BoundedGaussian:  # type: ignore[no-untyped-def]
            return ib.BoundedGaussian.calibrated(_BOX, change, epsilon=epsilon, delta=delta)

        plain, ours = race(lambda e=epsilon, d=delta: gaussian_mu(e, d), calibrated)  # type: ignore[misc]
        below = 1 - float(calibrated().sigma) * gaussian_mu(epsilon, delta) / change
        table.add_row(
            *(f"{fraction:.3g}", f"{epsilon:g}", f"{delta:g}", str(plain)),
            judged(str(ours), ours.seconds <= aim),
            factor(ours.over(plain)),
            f"{below:.2%}",
        )
    return table


def _denoised() -> Table:
    table = new_table(
        "denoise of 10⁶ outputs",
        f"×: how many times longer than drawing 10⁶ normal numbers. Aim: {DENOISE_SECONDS} s.",
        *("mechanism", "step", "numpy normal", "denoise", "×"),
    )
    rng = np.random.default_rng(16)
    outputs = rng.uniform(0, 120, 10**6)
    for step in (None, 1.0):
        box = ib.Box(0, 120, step=step)
        mechanisms = [
            ib.BoundedGaussian(box, 30, sigma=40.0),
            ib.BoundedLaplace(box, 30, scale=30.0),
            ib.ClampedGaussian(box, 30, sigma=40.0),
            ib.ClampedLaplace(box, 30, scale=30.0),
            ib.ClampedStaircase(box, 30, 1.0),
            ib.Window(box, 30, 1.0),
            ib.Optimal(box, 30, 1.0),
        ]
        for m in mechanisms:
            normal, ours = race(lambda: rng.normal(size=10**6), lambda m=m: m.denoise(outputs))  # type: ignore[misc]
            table.add_row(
                *(type(m).__name__, str(step), str(normal)),
                judged(str(ours), ours.seconds <= DENOISE_SECONDS),
                factor(ours.over(normal)),
            )
    return table


def _maps() -> Table:
    table = new_table(
        "The map of regimes",
        "The grid by default is known for the pure mechanisms; Gaussian noise is calibrated if "
        "there is a delta. The last row has no known numbers.",
        *("δ", "cells", "time", "aim"),
    )
    (pure,) = race(lambda: ib.regimes(delta=0.0))
    (relaxed,) = race(lambda: ib.regimes(delta=1e-6), seconds=5.0)
    (other,) = race(lambda: ib.regimes(delta=0.0, fractions=[0.09, 0.9], epsilons=[0.3, 3.0]))
    table.add_row(
        *("0", "208", judged(str(pure), pure.seconds <= PURE_MAP_SECONDS), f"{PURE_MAP_SECONDS} s")
    )
    table.add_row(
        *("1e-06", "208", judged(str(relaxed), relaxed.seconds <= MAP_SECONDS), f"{MAP_SECONDS} s")
    )
    table.add_row("0", "4", str(other), "")
    return table


def _command() -> Table:
    table = new_table(
        "inbounds compare on the command line",
        "×: how many times longer than only importing what it needs from others: numpy, "
        f"scipy.special, scipy.optimize, flint and typer. Aim: {COMMAND_SECONDS} s.",
        *("imports of others", "compare", "×"),
    )
    others = "import numpy, scipy.special, scipy.optimize, flint, typer"
    arguments = ("compare", "--bounds", "0:120", "--sensitivity", "120", "--epsilon", "1")

    def process(*words: str) -> None:
        subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)

    floor, ours = race(
        lambda: process("-c", others), lambda: process("-m", "inbounds", *arguments), seconds=15.0
    )
    table.add_row(
        str(floor),
        judged(str(ours), ours.seconds <= COMMAND_SECONDS),
        factor(ours.over(floor)),
    )
    return table
