import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

from inbounds.domain import Box
from inbounds.frames.central.change import Neighbours
from inbounds.frames.central.choice import best_noise
from inbounds.frames.central.estimate import Released
from inbounds.frames.central.moment import BinCounts, LevelCounts, RowCount
from inbounds.frames.central.noise import Noise
from inbounds.frames.central.pooled import half_length, inverse_variance
from inbounds.frames.central.statistic import count, histogram
from inbounds.frames.central.summarize import summarize
from inbounds.guarantee import Guarantee
from inbounds.mechanisms.bounded_gaussian import BoundedGaussian
from inbounds.numerics.laplace import LAPLACE
from inbounds.numerics.normal import NORMAL

BINS = BinCounts("age", (0.0, 1.0, 2.0, 3.0, 4.0))
ADDED = Neighbours(groups=1, adjacency="add-remove", sizes_public=False, rows=1, size=1000)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99, 0.9999])
def test_the_sum_of_two_equal_laplace_noises_has_a_closed_form(level: float) -> None:
    t = half_length(LAPLACE, np.full(2, math.sqrt(2)), level)
    assert math.exp(-t) * (1 + t / 2) == pytest.approx(1 - level, abs=2e-7)


@pytest.mark.parametrize("small", [1e-12, 1e-3, 0.05, 0.3])
def test_unequal_noises_are_bounded_by_their_convolution(small: float) -> None:
    """P(|X + Y| > t) = (a² e^(-t/a) - b² e^(-t/b))/(a² - b²) for Laplace noise of scales a, b."""
    t = half_length(LAPLACE, np.array([math.sqrt(2), small * math.sqrt(2)]), 0.95)
    beyond = (math.exp(-t) - small**2 * math.exp(-t / small)) / (1 - small**2)
    assert 0.05 - 3e-7 < beyond <= 0.05


def test_many_noises_are_nearly_normal_and_normal_ones_are() -> None:
    normal = 10 * float(norm.isf(0.025))
    assert half_length(NORMAL, np.full(100, 1.0), 0.95) == pytest.approx(normal)
    assert half_length(LAPLACE, np.full(100, 1.0), 0.95) == pytest.approx(normal, rel=0.01)
    most = math.sqrt(10.0**6) * float(norm.isf(0.025))  # as many bins need no more memory
    assert half_length(LAPLACE, np.full(10**6, 1.0), 0.95) == pytest.approx(most, rel=1e-4)


def test_the_weights_have_the_least_variance() -> None:
    errors, parts = np.array([3.0, 1.0, 1.0, 2.0]), [slice(0, 1), slice(1, 3), slice(3, 4)]
    best = inverse_variance(errors, parts)
    generator = np.random.default_rng(3)
    for shares in generator.dirichlet([1.0, 1.0, 1.0], 200):
        other = np.concatenate(
            [np.full(part.stop - part.start, x) for part, x in zip(parts, shares, strict=True)]
        )
        assert best @ (best * errors**2) <= other @ (other * errors**2) + 1e-12


def test_rows_are_read_from_bins_too_if_noise_is_plain() -> None:
    moments = [RowCount(), BINS]
    noise = best_noise(moments, np.array([1.0, 4.0]), ADDED, Guarantee(epsilon=1.0))
    outputs = np.array([[0.5, 0.1, 0.1, 0.1, 0.1]]) * noise.factors
    (rows,) = Released(noise, outputs, moments, 1000).sums(RowCount(), jointly=False)
    assert 0.4 < rows.value[0] < 0.5
    assert rows.error[0] < noise.deviations[0]
    levels = [RowCount(), LevelCounts("age", levels=(0, 1, 2, 3))]  # a row may be at no level
    (alone,) = Released(noise, outputs, levels, 1000).sums(RowCount(), jointly=False)
    assert alone.value[0] == pytest.approx(0.5)
    unit = Box(np.zeros(5), np.ones(5))
    bounded = Noise(BoundedGaussian(unit, 0.1, 0.05), unit, np.ones(5))
    (biased,) = Released(bounded, outputs, moments, 1000).sums(RowCount(), jointly=False)
    assert biased.value[0] == outputs[0, 0]


@pytest.mark.parametrize("guarantee", [{"epsilon": 1.0}, {"rho": 0.05}], ids=str)
def test_bins_add_up_to_a_count_that_is_as_exact_as_stated(guarantee: dict[str, float]) -> None:
    """Fails by chance with a probability below 1e-5; the error of the count alone is noticed."""
    groups = 400
    table = pd.DataFrame(
        {"town": np.repeat(np.arange(groups), 50), "x": np.tile(np.arange(50), groups)}
    )
    asked = [count(), histogram("x", [0, 10, 20, 30, 40, 50])]
    where = {"by": "town", "groups": range(groups), "adjacency": "add-remove", "size": 1000}
    result = summarize(table, asked, **where, **guarantee)
    counts = result[result["statistic"] == "count"].set_index("town")
    bins = result[result["statistic"] == "histogram"].groupby("town")["value"].sum()
    assert (counts["value"] == bins).all()
    missed = int(((counts["lower"] > 50) | (counts["upper"] < 50)).sum())
    assert missed <= binom.isf(1e-6, groups, 0.05)
    alone = summarize(table, asked[:1], **where, **guarantee)["standard_error"].iloc[0]
    stated = float(counts["standard_error"].iloc[0])
    off = math.sqrt(((counts["value"] - 50) ** 2).mean())
    spread = stated * math.sqrt(5 / groups)  # of the root mean square; the kurtosis is below 6
    assert abs(off - stated) < 5 * spread / 2 + 0.1
    assert alone < stated  # it has all of the privacy
