"""Intervals of quantiles and fractions hold the truth at least 93 % of the time, at 0.95.

Counts of outputs are drawn from their exact distribution. A test fails by chance with a probability
below 1e-6 if the coverage is 93 % or more. `INBOUNDS_COVERAGE_RUNS=200` runs the large sweep on
five mechanisms, five shapes, three sizes and two epsilons, which takes two hours; by default it
makes one run of each of a few.
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
from inbounds.recovery.compatible import fraction_intervals
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
KINDS: dict[str, Callable[[float], Mechanism]] = {
    "window": lambda e: ib.Window(WIDE, WIDTH, epsilon=e),
    "bounded laplace": lambda e: ib.BoundedLaplace.calibrated(WIDE, WIDTH, epsilon=e),
    "clamped laplace": lambda e: ib.ClampedLaplace.calibrated(WIDE, WIDTH, epsilon=e),
    "bounded gaussian": lambda e: ib.BoundedGaussian.calibrated(WIDE, WIDTH, epsilon=e),
    "clamped gaussian": lambda e: ib.ClampedGaussian.calibrated(WIDE, WIDTH, epsilon=e, delta=1e-6),
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
QS = (0.1, 0.5, 0.9)
EDGES = np.array([0.0, 18.0, 41.0, 65.0, WIDTH])
EPSILONS, SIZES = (1.0, 4.0), (300, 3000, 100_000)
PAIRS = [(kind, shape) for kind in KINDS for shape in COLUMNS]
FEW = [("window", "lumpy"), ("clamped laplace", "skewed"), ("bounded gaussian", "equal")]


def holds_quantile(found: Plausible, truth: float, q: float) -> bool:
    """Whether the interval of a quantile holds the truth, by one search for each of its ends."""
    points, rare, drop = found.places.points, found._rare(0.95), float(chi2.ppf(0.95, 1)) / 2
    last, beside = len(points) - 1, 0 if found.places.complete else 1
    reached = min(int(np.searchsorted(points, truth, side="right")) - 1 + beside, last)
    kept = max(int(np.searchsorted(points, truth)) - beside, 0)
    upto, above = np.arange(last + 1) <= reached, np.arange(last + 1) >= kept
    left = reached == last or found._reaches(upto.astype(float), q - rare, drop)
    return left and (kept == 0 or found._reaches(above.astype(float), 1 - q - rare, drop))


def missed(kind: str, shape: str, epsilon: float, people: int, runs: int) -> tuple[list[int], int]:
    """How often intervals of three quantiles, and of all fractions, missed the truth."""
    mechanism, generator = KINDS[kind](epsilon), np.random.default_rng([5, people])
    decoder, whole = Decoder(mechanism, 64), COLUMNS[shape](np.random.default_rng(1), 1_000_001)
    quantiles = np.quantile(whole, QS, method="lower")
    fractions = np.histogram(whole, EDGES)[0] / whole.size
    of_quantiles, of_fractions = [0] * len(QS), 0
    for _ in range(runs):
        tally = Tally(decoder)
        tally.add(mechanism.release(COLUMNS[shape](generator, people)))
        found = tally._compatible()
        assert isinstance(found, Plausible)
        for i, q in enumerate(QS):
            of_quantiles[i] += not holds_quantile(found, quantiles[i], q)
        low, high = fraction_intervals(found, EDGES, 0.95)
        of_fractions += int(((low > fractions) | (high < fractions)).sum())
    return of_quantiles, of_fractions


@pytest.mark.parametrize(("kind", "shape"), PAIRS if SWEEP > 1 else FEW)
def test_intervals_on_a_continuum_hold_the_truth(kind: str, shape: str) -> None:
    for people in SIZES if SWEEP > 1 else SIZES[1:2]:
        for epsilon in EPSILONS if SWEEP > 1 else (2.0,):
            of_quantiles, of_fractions = missed(kind, shape, epsilon, people, SWEEP)
            assert max(of_quantiles) <= allowed(SWEEP)
            assert of_fractions <= 4 * allowed(SWEEP)


def test_the_quick_test_of_an_interval_agrees_with_the_interval() -> None:
    mechanism, generator = KINDS["clamped laplace"](4.0), np.random.default_rng(3)
    values = COLUMNS["two humps"](generator, 3000)
    tally = Tally(Decoder(mechanism, 64))  # of the same outputs each time
    tally.add(np.clip(values + generator.laplace(0, mechanism.scale, values.size), 0, WIDTH))
    found = tally._compatible()
    assert isinstance(found, Plausible)
    low, high = found.quantile(0.5, 0.95)
    assert 0 < low < high < WIDTH
    near = np.array([low - 1e-6, low, (low + high) / 2, high, high + 1e-6])
    expected = [False, True, True, True, False]
    assert [holds_quantile(found, float(truth), 0.5) for truth in near] == expected
