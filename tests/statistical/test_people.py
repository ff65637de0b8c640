"""The error that `compare(people=…)` states, against columns that were really released and read.

Noise is seeded, so that every run sees the same outputs. With fresh noise the root mean square of
60 errors is within a factor of 1.45 of its expectation but for one run in 3000 (chi-square, 60
degrees of freedom), if the statement is right; one that is off by a factor of two is caught.
"""

import math

import numpy as np
import pytest
from scipy.stats import chi2

import inbounds as ib
from inbounds.mechanisms.mechanism import Mechanism
from inbounds.recovery.deconvolve import deconvolve
from inbounds.recovery.mean_error import mean_rmse
from inbounds.sampling.entropy import SeededEntropy

BOX, PEOPLE, COLUMNS = ib.Box(0, 200_000), 4096, 60
VALUES = (np.arange(PEOPLE) + 0.5) / PEOPLE * 200_000
FURTHEST = 1.45


def measured(mechanism: Mechanism, seed: int) -> float:
    """The root mean square error of the recovered mean, over some columns."""
    errors = []
    for column in range(COLUMNS):
        outputs = mechanism.release(VALUES, entropy=SeededEntropy(1000 * seed + column))
        read = deconvolve(outputs, mechanism, bootstrap=0, smooth=1.0)
        errors.append(read.mean - VALUES.mean())
    return math.sqrt(np.mean(np.square(errors)))


def mechanisms() -> dict[str, Mechanism]:
    named = ib.compare(BOX, 200_000, epsilon=1.0, people=PEOPLE).contenders
    others = ("Optimal", "BoundedGaussian (paper)", "BoundedGaussian (Liu)")  # not for means
    return {c.name: c.mechanism for c in named if c.name not in others}


@pytest.fixture(scope="module")
def errors() -> dict[str, tuple[float, float]]:
    return {
        name: (measured(mechanism, seed), mean_rmse(mechanism, PEOPLE))
        for seed, (name, mechanism) in enumerate(sorted(mechanisms().items()))
    }


@pytest.mark.parametrize("name", sorted(mechanisms()))
def test_the_stated_error_is_the_one_that_deconvolve_has(errors, name):
    found, stated = errors[name]
    assert 1 / FURTHEST < found / stated < FURTHEST


@pytest.mark.parametrize("name", sorted(mechanisms()))
@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_an_error_that_is_off_by_a_factor_of_two_is_noticed(errors, name, factor):
    found, stated = errors[name]
    assert not 1 / FURTHEST < found / (factor * stated) < FURTHEST


def test_the_ranking_is_the_measured_one_as_far_as_chance_allows(errors):
    """The first two are 3 % apart, and the bounded mechanisms 60 % and more from the best."""
    ranked = ib.compare(BOX, 200_000, epsilon=1.0, people=PEOPLE).contenders
    best, second, *_ = [c.name for c in ranked]
    by_measure = sorted(errors, key=lambda name: errors[name][0])
    assert (best, second) == ("Optimal (unbiased)", "Window")
    assert {best, second} <= set(by_measure[:4])
    assert set(by_measure[-2:]) == {"BoundedGaussian", "BoundedLaplace"}


def test_the_false_alarm_rate_is_the_one_stated():
    low, high = (chi2(COLUMNS).cdf(COLUMNS * limit**2) for limit in (1 / FURTHEST, FURTHEST))
    assert low + 1 - high < 1 / 3000
