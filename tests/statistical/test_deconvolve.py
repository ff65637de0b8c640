"""Real ages, made private and read back: mean, spread, histogram, and honest intervals.

Noise is seeded, so every run sees the same answers and none raises a false alarm. With fresh noise
a check of three standard errors fails for 0.3 % of columns; the seeds were not picked for passing.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, wasserstein_distance

import inbounds as ib
from inbounds.data import load_anes96
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.deconvolve import Deconvolution, deconvolve
from inbounds.recovery.reader import UnbiasedReader, reader_of
from inbounds.sampling.entropy import SeededEntropy

AGES = load_anes96()["age"]
BOX, STEPPED = ib.Box(0, 120), ib.Box(0, 120, step=1)
ERRORS = 3.0


def local(kind: Any, box: ib.Box, epsilon: float) -> Mechanism:
    """Each person hides the whole range: the strongest demand, and the most noise."""
    mechanism: Mechanism = kind.calibrated(box, 120, epsilon=epsilon)
    return mechanism


def misread(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with a scale 30 % too large."""
    wrong: Mechanism = type(mechanism)(
        mechanism.domain,
        mechanism.sensitivity,
        1.3 * mechanism.scale,  # type: ignore[call-arg]
    )
    return wrong


def people(count: int, seed: int) -> Any:
    return np.random.default_rng(seed).choice(AGES, count)


def read(answers: Any, mechanism: Mechanism) -> Deconvolution:
    return deconvolve(answers, mechanism, bootstrap=60, rng=np.random.default_rng(0))


def errors_off(result: Deconvolution, values: Any) -> tuple[float, float]:
    """How many standard errors the recovered mean and variance are from the truth."""
    mean = (result.mean - np.mean(values)) / result.standard_error("mean")
    variance = (result.variance - np.var(values)) / result.standard_error("variance")
    return abs(mean), abs(variance)


@dataclass(frozen=True)
class Setting:
    kind: Any
    box: ib.Box
    epsilon: float
    told_by: str = "mean"  # what a wrong scale moves: that of clamped noise, only the spread

    @property
    def mechanism(self) -> Mechanism:
        return local(self.kind, self.box, self.epsilon)


SETTINGS = [
    Setting(ib.BoundedGaussian, BOX, 1.0),
    Setting(ib.BoundedGaussian, STEPPED, 4.0),
    Setting(ib.BoundedLaplace, BOX, 1.0),
    Setting(ib.BoundedLaplace, STEPPED, 4.0),
    Setting(ib.ClampedLaplace, BOX, 1.0, "variance"),
    Setting(ib.ClampedLaplace, STEPPED, 4.0, "variance"),
]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_mean_age_of_many_is_recovered_and_a_wrong_scale_is_seen(setting: Setting) -> None:
    mechanism, values = setting.mechanism, people(10**5, 1)
    answers = mechanism.release(values, entropy=SeededEntropy(1))
    right = errors_off(read(answers, mechanism), values)
    wrong = errors_off(read(answers, misread(mechanism)), values)
    told_by = ("mean", "variance").index(setting.told_by)
    assert right[0] < ERRORS
    assert right[told_by] < ERRORS < wrong[told_by]


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_mean_age_of_the_table_itself_is_recovered(setting: Setting) -> None:
    answers = setting.mechanism.release(AGES, entropy=SeededEntropy(2))
    assert errors_off(read(answers, setting.mechanism), AGES)[0] < ERRORS


@pytest.mark.parametrize(
    ("kind", "epsilon", "factor"),
    [
        (ib.BoundedGaussian, 1.0, 3.0),
        (ib.BoundedGaussian, 4.0, 3.0),
        (ib.BoundedLaplace, 1.0, 8.0),
        (ib.BoundedLaplace, 4.0, 8.0),
        (ib.ClampedLaplace, 1.0, 8.0),
        (ib.ClampedLaplace, 4.0, 8.0),
    ],
)
def test_a_million_answers_tell_the_histogram(kind: Any, epsilon: float, factor: float) -> None:
    """Closer to the true ages than the private ones by the factor; misread, it is not."""
    mechanism, values = local(kind, BOX, epsilon), people(10**6, 3)
    answers = mechanism.release(values, entropy=SeededEntropy(3))
    ages, times = np.unique(values, return_counts=True)
    raw = wasserstein_distance(ages, np.sort(answers)[50::100], times)
    distances = []
    for model in (mechanism, misread(mechanism)):
        result = deconvolve(answers, model, bootstrap=0)
        distances.append(wasserstein_distance(ages, result.values, times, result.weights))
    assert raw > factor * distances[0]
    assert raw < factor * distances[1]


SHAPES: dict[str, Any] = {
    "ages": lambda rng, size: rng.choice(AGES, size),
    "85 % at 0": lambda rng, size: rng.uniform(0, 120, size) * (rng.random(size) > 0.85),
    "85 % at 120": lambda rng, size: 120 - rng.uniform(0, 120, size) * (rng.random(size) > 0.85),
    "exponential": lambda rng, size: np.minimum(rng.exponential(12, size), 120),
    "lognormal": lambda rng, size: np.minimum(np.exp(rng.normal(1.5, 1.2, size)), 120),
    "four values": lambda rng, size: rng.choice([7, 20, 65, 118], size, p=[0.5, 0.3, 0.15, 0.05]),
    "two humps": lambda rng, size: np.clip(rng.normal(rng.choice([25, 95], size), 6), 0, 120),
    "uniform": lambda rng, size: rng.uniform(0, 120, size),
}
COLUMNS, PEOPLE = 60, 100


@pytest.mark.parametrize("kind", [ib.Window, ib.ClampedLaplace, ib.BoundedGaussian])
def test_intervals_of_the_mean_hold_the_truth_whatever_the_shape(kind: Any) -> None:
    """Coverage below 93 % in none of eight shapes; false alarm below 1e-6 for all of them.

    100 people each, which is where skewness hurts; the inner quarters of the intervals are refused.
    """
    mechanism: Any = local(kind, BOX, 2.0)
    fewest = int(binom.ppf(1e-6 / 24, COLUMNS, 0.93))
    chosen = deconvolve([60.0], mechanism, counts=[PEOPLE], bootstrap=0)._readings
    assert chosen is not None
    for seed, (shape, draw) in enumerate(SHAPES.items()):
        rng = np.random.default_rng(seed)
        truth, held, inner = float(np.mean(draw(rng, 1_000_000))), 0, 0
        for column in range(COLUMNS):
            entropy = SeededEntropy(1000 * seed + column)
            reader: Any = reader_of(mechanism)
            reader.add(np.asarray(mechanism.release(draw(rng, PEOPLE), entropy=entropy)), None)
            low, high = replace(chosen, moments=reader._moments).interval(0.95)
            off = abs(truth - (low + high) / 2)
            held += off < (high - low) / 2
            inner += off < (high - low) / 8
        assert inner < fewest <= held, shape


RARE = [(fraction, lump) for fraction in (0.01, 0.05, 0.2) for lump in (0.0, 120.0)]
RUNS = 400
KINDS = (ib.Window, ib.ClampedLaplace, ib.BoundedLaplace, ib.BoundedGaussian)


@pytest.mark.parametrize("people", [30, 100])
@pytest.mark.parametrize("epsilon", [1.0, 20.0, 100.0])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::inbounds.errors.WeakGuaranteeWarning")
def test_intervals_of_the_mean_hold_the_truth_of_rare_values(
    kind: Any, epsilon: float, people: int
) -> None:
    """Coverage below 93 % for no fraction of people at the other bound; false alarm below 1e-6.

    Without room for values that were not seen, 5 % were held 80 % of the time at epsilon 20.
    """
    mechanism = local(kind, BOX, epsilon)
    chosen = deconvolve([60.0], mechanism, counts=[people], bootstrap=0)._readings
    assert chosen is not None
    reader: Any = reader_of(mechanism)
    fewest = int(binom.ppf(1e-6 / 144, RUNS, 0.93))
    for seed, (fraction, lump) in enumerate(RARE):
        rng = np.random.default_rng(seed)
        values = np.where(rng.random((RUNS, people)) < fraction, 120 - lump, lump)
        truth = fraction * (120 - lump) + (1 - fraction) * lump
        outputs = np.asarray(mechanism.release(values, entropy=SeededEntropy(seed)))
        held = 0
        for column in outputs:
            reader._moments = np.zeros_like(reader._moments)
            reader.add(column, None)
            low, high = replace(chosen, moments=reader._moments).interval(0.95)
            held += low <= truth <= high
        assert held >= fewest, (fraction, lump)


def test_the_interval_is_the_one_that_deconvolve_gives() -> None:
    mechanism = local(ib.ClampedLaplace, BOX, 2.0)
    answers = mechanism.release(people(PEOPLE, 5), entropy=SeededEntropy(5))
    reader = reader_of(mechanism)
    reader.add(answers, None)
    result = deconvolve(answers, mechanism, bootstrap=0)
    assert result.interval("mean", 0.95) == reader.read().interval(0.95)


def intervals(mechanism: Any, outputs: Any, **changes: float) -> Any:
    """The 95 % intervals of the means of columns, one in each row, by unbiased readings."""
    readings = UnbiasedReader(mechanism)
    readings.add(outputs[0], None)
    off = mechanism.unbiased(outputs) - 60
    moments = np.stack([(off**power).sum(axis=1) for power in range(4)], axis=1)
    chosen = replace(readings.read(), **changes)
    return np.array([replace(chosen, moments=row[:, None]).interval(0.95) for row in moments])


UNBIASED = {
    "window": lambda epsilon: ib.Window.calibrated(BOX, 120, epsilon=epsilon),
    "optimal": lambda epsilon: ib.Optimal.calibrated(
        BOX, 120, epsilon=epsilon, objective="unbiased"
    ),
}
FEW_RUNS = 300
LUMPS = {
    "all at 0": lambda rng, size: np.zeros(size),
    "all at 36": lambda rng, size: np.full(size, 36.0),
    "1 % at 120": lambda rng, size: 120.0 * (rng.random(size) < 0.01),
    "half at 120": lambda rng, size: 120.0 * (rng.random(size) < 0.5),
}


@pytest.mark.parametrize("people", [2, 5, 30])
@pytest.mark.parametrize("epsilon", [0.5, 3.0])
@pytest.mark.parametrize("kind", list(UNBIASED))
def test_intervals_of_few_unbiased_readings_hold_the_truth(
    kind: str, epsilon: float, people: int
) -> None:
    """Coverage below 93 % for no skewed or lumpy shape; false alarm below 1e-6 for all of them.

    Intervals a quarter as long are refused for 30 people at epsilon 3, unless nobody differs.
    """
    mechanism = UNBIASED[kind](epsilon)
    fewest = int(binom.ppf(1e-6 / 144, FEW_RUNS, 0.93))
    for seed, (shape, draw) in enumerate((SHAPES | LUMPS).items()):
        rng = np.random.default_rng(seed)
        truth = float(np.mean(draw(rng, 1_000_000)))
        values = np.reshape(draw(rng, FEW_RUNS * people), (FEW_RUNS, people))
        outputs = np.asarray(mechanism.release(values, entropy=SeededEntropy(seed)))
        low, high = intervals(mechanism, outputs).T
        assert np.sum((low <= truth) & (truth <= high)) >= fewest, shape
        if people == 30 and epsilon == 3.0:
            off = np.abs(truth - (low + high) / 2)
            assert np.sum(off <= (high - low) / 8) < fewest, shape


def test_two_outputs_that_are_alike_are_not_taken_for_certain() -> None:
    """Without the noise's own deviation, 90 % of these intervals held the truth, not 95 %.

    4000 columns; a coverage of 93 % would be refused with a probability below 1e-6.
    """
    mechanism, rng = UNBIASED["optimal"](0.5), np.random.default_rng(0)
    values = 120.0 * (rng.random((4000, 2)) < 0.2)
    outputs = np.asarray(mechanism.release(values, entropy=SeededEntropy(0)))
    fewest = int(binom.ppf(1e-6, 4000, 0.93))
    held = []
    for changes in ({}, {"least": 0.0}):
        low, high = intervals(mechanism, outputs, **changes).T
        held.append(int(np.sum((low <= 24) & (high >= 24))))
    assert held[1] < fewest <= held[0]


@pytest.mark.parametrize("kind", [ib.ClampedLaplace, ib.BoundedGaussian])
@pytest.mark.parametrize("count", [3_000, 100_000])
def test_the_mean_of_a_column_that_is_mostly_zeros_is_recovered(kind: Any, count: int) -> None:
    """False alarm below 1e-5 a column; smoothing put the mean of these columns 5 to 15 off."""
    mechanism, rng = local(kind, BOX, 2.0), np.random.default_rng(7)
    values = SHAPES["85 % at 0"](rng, count)
    result = deconvolve(mechanism.release(values, entropy=SeededEntropy(7)), mechanism, bootstrap=0)
    low, high = result.interval("mean", 0.99999)
    assert low < values.mean() < high
    assert abs(result.mean - values.mean()) < 5 * result.standard_error("mean") + 1
    assert result.atoms[0] > 0.5
