"""Intervals hold the truth as often as they say, and values stay in their ranges.

Each case is 4000 independent summaries of one table, drawn by the mechanism that `summarize` would
use. At a coverage of 0.95 the number of hits is binomial; 5 standard deviations are 0.0172, a false
alarm rate below 1e-6 each. A coverage of 0.9 is 7 of its standard deviations below that: it is
missed once in 10¹¹ runs.
"""

import math
import os
from dataclasses import dataclass

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

from inbounds._types import Floats
from inbounds.frames.central import estimate, summarize
from inbounds.frames.central.aggregate import sums
from inbounds.frames.central.change import Neighbours, box
from inbounds.frames.central.choice import best_noise
from inbounds.frames.central.estimate import Estimate, Released
from inbounds.frames.central.moment import moments
from inbounds.frames.central.request import check_request
from inbounds.frames.central.split import importances
from inbounds.frames.central.statistic import Statistic, count, histogram, mean, total, variance
from inbounds.guarantee import Guarantee
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian

SUMMARIES = 4_000
MARGIN = 5 * math.sqrt(0.05 * 0.95 / SUMMARIES)
EDGES = [0, 20, 50, 100]
AGES = np.concatenate([np.full(30, 5.0), np.linspace(18, 90, 250), np.full(20, 130.0)])
INSIDE = np.clip(AGES, 0, 100)
ASKED = [
    count(),
    mean("age", 0, 100),
    total("age", 0, 100),
    variance("age", 0, 100),
    histogram("age", EDGES),
]
TRUTH: dict[str, list[float]] = {
    "count": [AGES.size],
    "mean": [INSIDE.mean()],
    "total": [INSIDE.sum()],
    "variance": [INSIDE.var()],
    "histogram": np.histogram(INSIDE, EDGES)[0].tolist(),
}
SIZE = 400
RANGES = {
    "count": (0.0, SIZE),
    "mean": (0.0, 100.0),
    "total": (0.0, 100.0 * SIZE),
    "variance": (0.0, 2500.0),
    "histogram": (0.0, SIZE),
}


@dataclass(frozen=True)
class Case:
    asked: list[Statistic]
    public: bool
    epsilon: float
    delta: float

    def released(self) -> Released:
        request = check_request(
            statistics=self.asked,
            by=None,
            groups=None,
            adjacency="replace" if self.public else "add-remove",
            rows=1,
            person=None,
            size=None if self.public else SIZE,
            nulls="error",
        )
        found = moments(self.asked, sizes_public=self.public)
        size = AGES.size if self.public else SIZE
        (exact,) = sums(nw.from_native(pd.DataFrame({"age": AGES})), found)
        guarantee = Guarantee(self.epsilon, self.delta)
        importance = importances(found, self.asked, [1.0] * len(self.asked))
        neighbours = summarize._neighbours(request, size)
        noise = best_noise(found, importance, neighbours, guarantee)
        values = np.tile(noise.values([exact], size), (SUMMARIES, 1))
        return Released(noise, noise.mechanism.release(values), found, size)


CASES = [
    Case(asked, public, epsilon, delta)
    for asked in (ASKED, ASKED[2:3])
    for public in (False, True)
    for epsilon, delta in ((0.5, 0.0), (8.0, 0.0), (1.0, 1e-6))
]


def coverage(found: Estimate, truth: float) -> float:
    return float(np.mean((found.lower <= truth) & (truth <= found.upper)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_intervals_hold_the_truth_and_values_stay_in_range(case: Case) -> None:
    released = case.released()
    for statistic in case.asked:
        low, high = RANGES[statistic.kind]
        found = statistic.estimate(released)
        assert len(found) == len(TRUTH[statistic.kind])
        for one, truth in zip(found, TRUTH[statistic.kind], strict=True):
            assert coverage(one, truth) >= 0.95 - MARGIN, statistic
            assert (one.lower <= one.value).all()
            assert (one.value <= one.upper).all()
            assert one.lower.min() >= low
            assert one.upper.max() <= high
            assert one.value.min() >= low
            assert one.value.max() <= high


@pytest.mark.parametrize("sigma", [0.02, 0.3, 3.0])
@pytest.mark.parametrize("value", [0.0, 0.03, 0.5, 0.9])
def test_the_interval_of_one_sum_holds_it_exactly_as_often_as_stated(
    sigma: float, value: float
) -> None:
    """And intervals at 0.9 are told from intervals at 0.95."""
    m = BoundedGaussian(box(moments([count()], sizes_public=False), 1), 1, sigma)
    answers = m.release(np.full((SUMMARIES, 1), value))
    for level in (0.95, 0.9):
        low, high = m.confidence(answers, level)
        hits = float(np.mean((low <= value) & (value <= high)))
        assert abs(hits - level) <= 5 * math.sqrt(level * (1 - level) / SUMMARIES)
        assert (abs(hits - 0.95) <= MARGIN) == (level == 0.95)


def test_a_level_that_is_too_low_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "LEVEL", 0.9)
    released = Case(ASKED[2:3], public=True, epsilon=1.0, delta=1e-6).released()
    (found,) = ASKED[2].estimate(released)
    assert coverage(found, TRUTH["total"][0]) < 0.95 - MARGIN


@pytest.mark.parametrize("public", [False, True])
def test_standard_errors_are_those_of_the_values_where_noise_is_small(public: bool) -> None:
    """Within 10 %: the error of a standard deviation of 4000 values is 1.1 %, 5 of these 5.6 %.

    Where counts of bins add up to a public size, rounding them by the largest remainders takes away
    a little more than is stated: within 20 %.
    """
    released = Case(ASKED, public, epsilon=8.0, delta=1e-3).released()
    for statistic in ASKED[1:]:
        for one, truth in zip(statistic.estimate(released), TRUTH[statistic.kind], strict=True):
            actual = float(np.sqrt(np.mean((one.value - truth) ** 2)))
            close = 0.2 if public and statistic.kind == "histogram" else 0.1
            assert float(np.median(one.error)) == pytest.approx(actual, rel=close), statistic


def tables() -> dict[str, Floats]:
    """Groups of nobody, of one, of few and of many: skewed, lumpy, and all at a bound."""
    skewed = np.zeros(100)
    skewed[0] = 100.0
    return {
        "nobody": np.empty(0),
        "one": np.full(1, 100.0),
        "5 lumpy": np.array([19.0, 61.0, 19.0, 61.0, 61.0]),
        "5 at a bound": np.zeros(5),
        "100 skewed": skewed,
        "100 lumpy": np.where(np.arange(100) % 2, 19.0, 61.0),
    }


@pytest.mark.parametrize("guarantee", [{"epsilon": 1.0}, {"rho": 0.1}], ids=str)
def test_intervals_of_small_and_odd_groups_hold_the_truth(guarantee: dict[str, float]) -> None:
    """All tables in one release, since the noise does not depend on them; 5 deviations each.

    INBOUNDS_SMALL_GROUPS says how many summaries of each there are (1000 unless told). A coverage
    of 0.87 is 4 of its deviations below what is asked of 1000.
    """
    found, size = moments(ASKED, sizes_public=False), 120
    how = Neighbours(groups=1, adjacency="add-remove", sizes_public=False, rows=1, size=size)
    importance = importances(found, ASKED, [1.0] * len(ASKED))
    noise = best_noise(found, importance, how, Guarantee(**guarantee))
    named = tables()
    exact = [sums(nw.from_native(pd.DataFrame({"age": t})), found)[0] for t in named.values()]
    values = np.array([noise.values([numbers], size) for numbers in exact])
    runs = int(os.environ.get("INBOUNDS_SMALL_GROUPS", "1000"))
    outputs = noise.mechanism.release(np.repeat(values, runs, axis=0))
    released, margin = Released(noise, outputs, found, size), 5 * math.sqrt(0.05 * 0.95 / runs)
    for statistic in ASKED:
        for i, one in enumerate(statistic.estimate(released)):
            assert (one.lower <= one.value).all()
            assert (one.value <= one.upper).all()
            held = np.zeros(len(named))
            for j, ages in enumerate(named.values()):
                part = slice(j * runs, (j + 1) * runs)
                truth = truths(ages)[statistic.kind]
                inside = (one.lower[part] <= truth[i]) & (truth[i] <= one.upper[part])
                held[j] = 1.0 if math.isnan(truth[i]) else float(np.mean(inside))
            assert held.min() >= 0.95 - margin, (statistic, dict(zip(named, held, strict=True)))


def truths(ages: Floats) -> dict[str, list[float]]:
    """The statistics of a table; of nobody there is no mean and no variance."""
    nobody = not ages.size
    return {
        "count": [ages.size],
        "mean": [math.nan if nobody else float(ages.mean())],
        "total": [float(ages.sum())],
        "variance": [math.nan if nobody else float(ages.var())],
        "histogram": np.histogram(ages, EDGES)[0].tolist(),
    }


def test_counts_of_small_groups_are_biased_by_no_more_than_their_range() -> None:
    """A count is moved up to 0 where noise takes it below: b e^(-n/b)/2 on average."""
    found, size = moments([count()], sizes_public=False), 120
    how = Neighbours(groups=1, adjacency="add-remove", sizes_public=False, rows=1, size=size)
    noise = best_noise(found, np.ones(1), how, Guarantee(epsilon=1.0))
    for rows in (5, 50):
        outputs = noise.mechanism.release(np.full((SUMMARIES, 1), rows / size))
        (estimate,) = count().estimate(Released(noise, outputs, found, size))
        bias = float(np.mean(estimate.value)) - rows
        assert abs(bias - math.exp(-rows) / 2) <= 5 * math.sqrt(2.1 / SUMMARIES)
