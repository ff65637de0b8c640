"""Intervals of quantiles and fractions hold the truth at least 93 % of the time, at 0.95.

Counts of outputs are drawn from their exact distribution. A test fails by chance with a probability
below 1e-6 if the coverage is 93 % or more. `INBOUNDS_COVERAGE_RUNS=200` runs the large sweep on
five mechanisms, five shapes and three sizes, which takes hours; by default it makes one run of each
of a few.
"""

import os
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom, chi2

import inbounds as ib
from inbounds._types import Floats
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.cells import Cells
from inbounds.recovery.places import Places
from inbounds.recovery.plausible import Plausible
from inbounds.recovery.tally import Decoder, Tally

RUNS = 100
SWEEP = int(os.environ.get("INBOUNDS_COVERAGE_RUNS", "1"))
DAYS = ib.Box(0, 7, step=1)
SHAPES = {
    "skewed": [0.4, 0.25, 0.15, 0.08, 0.05, 0.04, 0.02, 0.01],
    "two humps": [0.05, 0.3, 0.1, 0.05, 0.05, 0.1, 0.3, 0.05],
    "lumpy": [0, 0, 0.6, 0, 0, 0.4, 0, 0],
    "at the bounds": [0.7, 0, 0, 0, 0, 0, 0, 0.3],
}
MECHANISMS: list[Mechanism] = [
    ib.Window(DAYS, 7, epsilon=2.0),
    ib.BoundedLaplace.calibrated(DAYS, 7, epsilon=2.0),
    ib.ClampedLaplace.calibrated(DAYS, 7, epsilon=2.0),
    ib.BoundedGaussian.calibrated(DAYS, 7, epsilon=2.0),
    ib.ClampedGaussian.calibrated(DAYS, 7, epsilon=2.0, delta=1e-6),
]


def allowed(runs: int) -> int:
    """The number of misses that 7 % exceed with a probability of 1e-6."""
    return int(binom.isf(1e-6, runs, 0.07))


def misses(mechanism: Mechanism, model: Mechanism, weights: list[float], people: int) -> int:
    """How often the interval of the fraction below 3 misses it.

    Whether the fraction is in the interval is settled sooner than where the interval ends.
    """
    drawn, read = (Places.of(m, Cells.of(m, 64)) for m in (mechanism, model))
    chances = np.array(weights) @ drawn.response
    below = (np.arange(8) < 3).astype(float)
    fraction, generator = float(below @ weights), np.random.default_rng(11)
    found = 0
    for counts in generator.multinomial(people, chances / chances.sum(), size=RUNS).astype(float):
        plausible, drop = Plausible(read, counts), float(chi2.ppf(0.95, 1)) / 2
        found += not (
            plausible._reaches(below, fraction, drop)
            and plausible._reaches(1 - below, 1 - fraction, drop)
        )
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_intervals_hold_the_truth(shape: str) -> None:
    for mechanism in MECHANISMS if shape == "skewed" else MECHANISMS[:1]:
        assert misses(mechanism, mechanism, SHAPES[shape], 400) <= allowed(RUNS)


def test_intervals_that_assume_less_noise_do_not() -> None:
    wrong = ib.Window(DAYS, 7, epsilon=3.0)
    assert misses(MECHANISMS[0], wrong, SHAPES["skewed"], 4000) > allowed(RUNS)


WIDE = ib.Box(0, 120)
WIDTH = 120.0
KINDS: dict[str, Callable[[], Mechanism]] = {
    "window": lambda: ib.Window(WIDE, WIDTH, epsilon=2.0),
    "bounded laplace": lambda: ib.BoundedLaplace.calibrated(WIDE, WIDTH, epsilon=2.0),
    "clamped laplace": lambda: ib.ClampedLaplace.calibrated(WIDE, WIDTH, epsilon=2.0),
    "bounded gaussian": lambda: ib.BoundedGaussian.calibrated(WIDE, WIDTH, epsilon=2.0),
    "clamped gaussian": lambda: ib.ClampedGaussian.calibrated(WIDE, WIDTH, epsilon=2.0, delta=1e-6),
}
COLUMNS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "skewed": lambda g, n: np.clip(g.gamma(2, 12, n), 0, WIDTH),
    "two humps": lambda g, n: np.clip(
        np.where(g.random(n) < 0.4, g.normal(25, 6, n), g.normal(85, 8, n)), 0, WIDTH
    ),
    "lumpy": lambda g, n: g.choice([12.3, 40.0, 40.7, 90.1], n, p=[0.2, 0.3, 0.25, 0.25]),
    "at the bounds": lambda g, n: g.choice([0.0, 55.0, WIDTH], n, p=[0.7, 0.1, 0.2]),
    "equal": lambda _, n: np.full(n, 41.3),
}
SIZES = (300, 3000, 100_000)
PAIRS = [(kind, shape) for kind in KINDS for shape in COLUMNS]
FEW = [("window", "lumpy"), ("clamped laplace", "skewed"), ("bounded gaussian", "equal")]


@pytest.mark.parametrize(("kind", "shape"), PAIRS if SWEEP > 1 else FEW)
def test_intervals_on_a_continuum_hold_the_truth(kind: str, shape: str) -> None:
    mechanism, generator = KINDS[kind](), np.random.default_rng(5)
    decoder = Decoder(mechanism, 64)
    truth = np.quantile(COLUMNS[shape](generator, 1_000_001), [0.1, 0.5, 0.9], method="lower")
    for people in SIZES if SWEEP > 1 else SIZES[1:2]:
        missed = 0
        for run in range(SWEEP):
            tally = Tally(decoder)
            tally.add(mechanism.release(COLUMNS[shape](generator, people)))
            low, high = tally._compatible().quantile((0.1, 0.5, 0.9)[run % 3], 0.95)
            missed += not low <= truth[run % 3] <= high
        assert missed <= allowed(SWEEP)
